# SPDX-License-Identifier: GPL-3.0-or-later
"""Which jobs wait for their turn, and in which order.

The queue lives in the jobs' folders alone. A job of a batch that was made and not started yet waits, and so does any
other one that has the file ``queue``; the files that ask a worker to stop or to pause, left in its folder, take it out.
So all of it outlives Blender.
"""

from collections.abc import Iterable

from ...core.jobs import Job
from ...core.paths import is_there

_MARK = "queue"


def batch_of(job: Job) -> str:
    """The id of the job's batch, '' if it has none."""
    return job.spec.target.batch


def number_of(job: Job) -> int:
    """Which one of its batch it is, from 1 on; 0 without a batch."""
    return job.spec.target.variation


def enqueue(job: Job) -> None:
    """Let a job wait for its turn that is no part of a batch."""
    job.touch(job.folder / _MARK)


def has_place(job: Job) -> bool:
    """Whether it is to be started by itself at all, however it stands."""
    return bool(batch_of(job)) or is_there(job.folder / _MARK)


def is_queued(job: Job, state: str) -> bool:
    """Whether the job waits for its turn."""
    return state == "created" and has_place(job) and not (is_there(job.cancel_file) or is_there(job.pause_file))


def is_held_back(job: Job, state: str) -> bool:
    """Whether the job would wait for its turn if it were not paused."""
    return state == "created" and has_place(job) and is_there(job.pause_file) and not is_there(job.cancel_file)


def in_order(waiting: Iterable[Job]) -> list[Job]:
    """What was asked for first comes first, a batch as a whole and by its numbers."""
    rows = [(batch_of(job) or job.spec.id, job.spec.created, number_of(job), job) for job in waiting]
    asked: dict[str, str] = {}
    for group, created, _, _ in rows:
        asked[group] = min(asked.get(group, created), created)
    return [job for *_, job in sorted(rows, key=lambda row: (asked[row[0]], row[0], row[2]))]


def cancel_waiting(job: Job) -> None:
    """Ask the job's worker to stop, or take it out of the queue."""
    state = job.status().state
    if is_queued(job, state) or is_held_back(job, state):
        job.ask_to_stop()
    else:
        job.cancel()
