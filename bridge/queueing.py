# SPDX-License-Identifier: GPL-3.0-or-later
"""Which jobs of a batch wait for their turn, and in which order.

The queue lives in the jobs' folders alone. A job that was made and not started yet waits; the file that asks a worker
to stop, left in its folder, takes it out. So all of it outlives Blender.
"""

from collections.abc import Iterable

from ..core.jobs import Job


def batch_of(job: Job) -> str:
    """The id of the job's batch, '' if it has none."""
    return str(job.spec.target.get("batch") or "")


def number_of(job: Job) -> int:
    """Which one of its batch it is, from 1 on; 0 without a batch."""
    number = job.spec.target.get("variation")
    return number if isinstance(number, int) else 0


def is_queued(job: Job, state: str) -> bool:
    """Whether the job waits for its turn."""
    return state == "created" and bool(batch_of(job)) and not job.cancel_file.exists()


def in_order(waiting: Iterable[Job]) -> list[Job]:
    """Older batches first, each by its numbers."""
    return sorted(waiting, key=lambda job: (batch_of(job), number_of(job)))


def cancel(job: Job) -> None:
    """Ask the job's worker to stop, or take it out of the queue."""
    if is_queued(job, job.status().state):
        job.ask_to_stop()
    else:
        job.cancel()
