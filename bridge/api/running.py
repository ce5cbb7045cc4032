# SPDX-License-Identifier: GPL-3.0-or-later
"""Running a job to its end from a script or the command line."""

from collections.abc import Callable
from dataclasses import replace

from ...core import jobs
from ...core.interrupts import finish_first, raise_on_interrupt
from ..setup import preferences

Progress = Callable[[jobs.JobStatus], None]


def complete_job(
    job: jobs.Job,
    where: jobs.Where = jobs.HERE,
    progress: Progress | None = None,
    cancelling: Callable[[], None] = lambda: None,
) -> jobs.JobStatus:
    """Run a job to its end, going on from what it has; Ctrl-C cancels it and waits until it has stopped.

    progress: is told how it stands. cancelling: is told that it is being stopped.
    """
    if job.has_result():
        return job.status()
    process = None
    with raise_on_interrupt():
        try:
            with finish_first():  # or a worker might be left that nobody waits for
                job.go_on()
                if not job.status().alive:
                    process = jobs.launch(job, preferences.preferred_python(), where)
            return jobs.wait(job, process, on_status=progress or (lambda _: None))
        except KeyboardInterrupt:
            job.cancel()
            cancelling()
            status = jobs.wait(job, process)
            # A worker that was still on its way has no last words, and is cancelled all the same.
            ended = status.state in ("done", "failed", "cancelled")
            return status if ended else replace(status, state="cancelled")
