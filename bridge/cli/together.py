# SPDX-License-Identifier: GPL-3.0-or-later
"""Several jobs at once, on a cluster: one worker has them done, with a line of progress for all of them."""

import contextlib
import sys
from collections.abc import Sequence
from dataclasses import replace

from ...core import jobs
from ...core.interrupts import finish_first, raise_on_interrupt
from ..setup import preferences
from .progress import ProgressLine

_PERIOD_S = 0.2


def run_together(wanted: Sequence[jobs.Job], where: jobs.Where) -> None:
    """Have jobs done at once that are not done yet, until each has ended. Ctrl-C cancels all of them."""
    left = [job for job in wanted if not job.has_result()]
    if not left:
        return
    line = ProgressLine(sys.stderr)
    with raise_on_interrupt():
        try:
            with finish_first():  # or a worker might be left that nobody waits for
                for job in left:
                    job.go_on()
                started = [job for job in left if not job.status().alive]
                process = jobs.launch_together(started, preferences.preferred_python(), where) if started else None
            _wait(left, line)
        except KeyboardInterrupt:
            for job in left:
                job.cancel()
            line.say("cancelling …")
            _wait(left, None)
        finally:
            line.end()
    if process is not None:
        with contextlib.suppress(Exception):
            process.wait(10.0)


def _wait(left: Sequence[jobs.Job], line: ProgressLine | None) -> None:
    last = left[-1]
    for job in left:
        jobs.wait(job, on_status=lambda _: _show(left, last, line), poll_s=_PERIOD_S)


def _show(left: Sequence[jobs.Job], last: jobs.Job, line: ProgressLine | None) -> None:
    if line is None:
        return
    all_of_them = [job.status() for job in left]
    ended = sum(status.finished for status in all_of_them)
    fraction = sum(1.0 if status.finished else status.fraction for status in all_of_them) / len(left)
    messages = {status.message for status in all_of_them if status.alive and status.message.startswith("Waiting")}
    doing = f"{ended} of {len(left)} takes" + (f"; {messages.pop()}" if len(messages) == 1 and not ended else "")
    shown = next((status for status in all_of_them if status.alive), None)
    if shown is not None:
        line.show(replace(shown, fraction=fraction, eta_s=None, measurements={"doing": doing}))
