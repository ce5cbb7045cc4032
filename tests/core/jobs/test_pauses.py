# SPDX-License-Identifier: GPL-3.0-or-later
"""A pause costs nothing but time: the worker waits without working, and what comes out is the same to the bit."""

import os
import signal
import time
from pathlib import Path

import pytest

from sinew.core import jobs
from sinew.core.jobs.history import History

PATIENCE_S = 30.0


def until(job: jobs.Job, *states: str) -> jobs.JobStatus:
    """Look at the job until it is in one of those states."""
    end = time.monotonic() + PATIENCE_S
    while (status := job.status()).state not in states:
        assert time.monotonic() < end, status
        time.sleep(0.02)
    return status


def worked_s(pid: int) -> float:
    """Seconds of processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_paused_run_ends_as_any_other(make, clip, same):
    job = make(chunk_frames=1, pause_s=0.02)
    process = jobs.launch(job)
    until(job, "running")
    for _ in range(2):
        job.pause()
        still = until(job, "paused", "done")
        assert still.state == "paused" and still.alive and not still.finished
        time.sleep(0.5)
        assert job.status().step == still.step, "it worked during its pause"
        assert jobs.open_job(job.folder).status().state == "paused", "another Blender sees it otherwise"
        job.go_on()
        until(job, "running", "done")
    assert jobs.wait(job, process).state == "done"
    same(job.result().take.motion, clip)
    kinds = [event["kind"] for event in jobs.history.EventReader(job.events).poll()]
    assert kinds.count("paused") == kinds.count("continued") == 2


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads what processes used from /proc")
def test_who_is_paused_uses_no_processor(make):
    job = make(chunk_frames=1, pause_s=0.02)
    process = jobs.launch(job)
    job.pause()  # it may be asked for before the worker has come to its first line
    until(job, "paused")
    before = worked_s(process.pid)
    time.sleep(1.5)
    assert worked_s(process.pid) - before < 0.1
    job.cancel()
    assert jobs.wait(job, process).state == "cancelled"
    assert process.returncode is not None, "nothing is left of who was cancelled in its pause"


def test_a_worker_killed_in_its_pause_goes_on_from_its_checkpoint(make, clip, same):
    job = make(chunk_frames=4, pause_s=0.05)
    process = jobs.launch(job)
    until(job, "running")
    job.pause()
    step = until(job, "paused").step
    process.send_signal(signal.SIGTERM if os.name == "nt" else signal.SIGKILL)
    process.wait()
    assert until(job, "lost").step == step
    again = jobs.launch(job)  # which takes the pause back
    assert jobs.wait(job, again).state == "done"
    same(job.result().take.motion, clip)


def test_who_is_to_finish_does_not_stay_paused(make):
    job = make(chunk_frames=1, pause_s=0.05)
    process = jobs.launch(job)
    job.pause()
    until(job, "paused")
    job.finish()
    assert jobs.wait(job, process).state == "done"


def test_a_job_that_has_ended_is_not_paused(make):
    job = make()
    assert jobs.wait(job, jobs.launch(job)).state == "done"
    job.pause()
    assert not job.pause_file.exists()


def test_neither_the_time_left_nor_the_time_it_took_counts_a_pause(tmp_path):
    began, events = time.time() - 1000.0, tmp_path / "events.jsonl"
    lines = [
        (0.0, "started", '"pid": 1, "host": "here"'),
        (1.0, "progress", '"step": 1, "total": 10, "measurements": {}'),
        (2.0, "progress", '"step": 2, "total": 10, "measurements": {}'),
        (2.5, "paused", '"x": 0'),
        (902.5, "continued", '"x": 0'),
        (903.0, "progress", '"step": 3, "total": 10, "measurements": {}'),
        (903.0, "done", '"message": ""'),
    ]
    history = History(events)
    written = ""
    for at_s, kind, rest in lines:
        written += f'{{"time": {began + at_s}, "run": 1, "kind": "{kind}", {rest}}}\n'
        events.write_text(written)
        history.refresh()
        if kind == "paused":
            assert history.wall_s(alive=True) == pytest.approx(2.5, abs=0.01)
            assert history.eta_s() == pytest.approx(7.5, abs=0.1)
    assert history.wall_s(alive=False) == pytest.approx(3.0, abs=0.01)
    assert history.eta_s() == pytest.approx(0.0)  # 97 s have passed since
    assert history._recent_s / history._recent_steps == pytest.approx(1.0, abs=0.01)
