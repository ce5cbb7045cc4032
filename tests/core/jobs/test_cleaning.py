# SPDX-License-Identifier: GPL-3.0-or-later
"""Old jobs go, living and uncollected ones stay."""

import os
import time

import pytest

from sinew.core import jobs
from sinew.core.errors import JobError


def age(job: jobs.Job, days: float) -> None:
    """Make the job look as if nothing had happened on it for so long."""
    then = time.time() - days * 86400
    for path in [*job.folder.iterdir(), job.folder]:
        os.utime(path, (then, then))


def test_old_jobs_go_and_the_others_stay(make, run_worker, jobs_folder):
    names = ("collected", "uncollected", "failed", "created", "lost", "young")
    made = {name: make() for name in names}
    for name in ("collected", "uncollected", "young"):
        run_worker(made[name])
    run_worker(made["failed"], "Passthrough.run = lambda *_: [][1]")
    run_worker(made["lost"], "Passthrough.run = lambda *_: die()")
    made["collected"].mark_collected({})
    made["young"].mark_collected({})
    for name in names[:-1]:
        age(made[name], days=40)
    stranger = jobs_folder / "notes"
    stranger.mkdir()
    newer = make()
    (newer.folder / "spec.json").write_text('{"schema": 99}')
    age(newer, days=40)

    gone = jobs.clean_jobs(older_than_days=30)
    assert sorted(gone) == sorted(made[name].folder.name for name in ("collected", "failed", "created", "lost"))
    left = {made["uncollected"].folder, made["young"].folder, stranger, newer.folder}
    assert set(jobs_folder.iterdir()) == left
    assert jobs.clean_jobs(older_than_days=30, keep_uncollected=False) == [made["uncollected"].folder.name]
    assert jobs.clean_jobs(older_than_days=0, keep_uncollected=False) == [made["young"].folder.name]


def test_a_living_job_stays_however_old_it_looks(make):
    job = make(chunk_frames=1, pause_s=0.1)
    process = jobs.launch(job)
    age(job, days=400)
    assert jobs.clean_jobs(older_than_days=0, keep_uncollected=False) == []
    while job.status().state == "starting":
        time.sleep(0.01)
    age(job, days=400)
    assert jobs.clean_jobs(older_than_days=0, keep_uncollected=False) == []
    with pytest.raises(JobError, match="still at work"):
        jobs.remove_job(job.folder)
    job.cancel()
    assert jobs.wait(job, process).state == "cancelled"
    assert jobs.clean_jobs(older_than_days=0) == [job.folder.name]


def test_one_job_is_removed_with_all_that_is_in_it_and_no_other(make, run_worker):
    job, other = make(), make()
    run_worker(job)
    jobs.remove_job(job.folder)
    assert not job.folder.exists() and [one.spec.id for one in jobs.all_jobs()] == [other.spec.id]
    with pytest.raises(JobError):
        jobs.remove_job(job.folder)


def test_what_an_interrupted_removal_or_creation_left_is_swept(make, jobs_folder):
    half_removed, half_made = make(), make()
    half_removed.folder.rename(jobs_folder / f".trash-{half_removed.folder.name}")
    (half_made.folder / "spec.json").unlink()
    age(half_made, days=40)
    assert jobs.all_jobs() == []
    assert jobs.clean_jobs(older_than_days=30) == [half_made.folder.name]
    assert list(jobs_folder.iterdir()) == []


def test_no_jobs_at_all():
    assert jobs.clean_jobs(older_than_days=1) == []
