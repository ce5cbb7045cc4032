# SPDX-License-Identifier: GPL-3.0-or-later
"""Killed at any moment: nothing half-written is read as whole, the state shown is right, resume works."""

import os
import shutil
import signal
import time

import numpy as np
import pytest

from sinew.core import jobs
from sinew.core.errors import JobError
from sinew.core.jobs import checkpoints

pytestmark = pytest.mark.skipif(os.name == "nt", reason="SIGKILL is POSIX")


def parts(job: jobs.Job) -> list[str]:
    return [path.name for path in job.folder.rglob("*.part")]


def watch(job: jobs.Job, seconds: float, allowed: set[str]) -> None:
    """Look at the job as the panel and a second Blender would, all the while; believe no result before its time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for handle in (job, jobs.open_job(job.folder)):
            status = handle.status()
            assert status.state in allowed, status
            if status.state != "done":
                try:
                    handle.result()
                except JobError:
                    pass
                else:
                    assert handle.status().state == "done"  # it came just now
        time.sleep(0.02)


def test_fifty_kills_at_random_moments(make, clip, same):
    rng = np.random.default_rng(2)
    kills = jobs_done = 0
    lost_steps = set()
    job = make(chunk_frames=1, pause_s=0.01)
    while kills < 50:
        process = jobs.launch(job)
        if rng.random() < 0.7:  # somewhere in the work, however long the start takes here
            while job.status().state == "starting":
                time.sleep(0.005)
        watch(job, rng.uniform(0.0, 0.35), {"starting", "running", "done"})
        process.send_signal(signal.SIGKILL)
        process.wait()
        kills += 1
        # A program that the worker was just starting (platform.platform() asks one) holds the lock until it runs.
        end = time.monotonic() + 2.0
        while job.status().alive and time.monotonic() < end:
            time.sleep(0.005)
        for handle in (job, jobs.open_job(job.folder)):
            status = handle.status()
            if status.state == "done":
                same(handle.result().take.motion, clip)
            else:
                assert status.state == "lost", status
                assert "SIGKILL" in status.message
                assert "Resume" in status.hint
                with pytest.raises(JobError, match="it is lost"):
                    handle.result()
        lost_steps.add(status.step)
        if status.state == "done":
            jobs_done += 1
            job = make(chunk_frames=1, pause_s=0.01)
    if job.status().state == "lost":
        assert jobs.wait(job, jobs.launch(job)).state == "done"
        assert parts(job) == []
        same(job.result().take.motion, clip)
    # The kills were spread over the work, and the jobs came to their end all the same.
    assert jobs_done >= 2
    assert len(lost_steps) > 10


FAULTS = {
    "while the take is written": """
replace = os.replace
os.replace = lambda a, b: die() if str(b).endswith("take.npz") else replace(a, b)
""",
    "between take and report": "worker.write_json = lambda *_: die()",
    "while the report is written": """
replace = os.replace
os.replace = lambda a, b: die() if str(b).endswith("report.json") else replace(a, b)
""",
    "before the last event": "worker._write_end = lambda *_: die()",
    "in the middle of the last event": """
def half(path, kind, run, **fields):
    if kind != "done":
        return whole(path, kind, run, **fields)
    with open(path, "ab") as stream:
        stream.write(b'{"time": 1.0, "run": 1, "kind": "done", "sha')
    die()
whole, worker.append_event = worker.append_event, half
""",
    "while a checkpoint is written": """
replace = os.replace
os.replace = lambda a, b: die() if str(b).endswith("00000020.npz") else replace(a, b)
""",
    "before the first event": "worker.append_event = lambda *_, **__: die()",
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_kill_at_the_worst_moment(make, clip, same, run_worker, fault):
    job = make(chunk_frames=10)
    killed = run_worker(job, fault)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert job.status().state in (("lost",) if job.events.exists() else ("created",))
    with pytest.raises(JobError, match="has no result"):
        job.result()
    assert jobs.wait(job, jobs.launch(job)).state == "done"
    assert parts(job) == []
    same(job.result().take.motion, clip)
    same(jobs.open_job(job.folder).result().take.motion, clip)
    kinds = [event["kind"] for event in jobs.history.EventReader(job.events).poll()]
    assert kinds.count("done") == 1
    assert len(kinds) == len(job.events.read_bytes().splitlines()), "a torn line was left in the events"


WALK = """
import numpy as np
from sinew.core.motion import Clip, Take

def walk(self, clip, settings, run):
    steps, values = 0, np.zeros((len(clip), 3))
    if checkpoint := run.load_checkpoint():
        steps, arrays = checkpoint
        values[:steps] = arrays["values"]
    while steps < len(clip):
        values[steps] = run.rng.normal(size=3)
        steps += 1
        with open({counter!r}, "a") as stream:
            stream.write("step\\n")
        if steps % 10 == 0:
            run.save_checkpoint(steps, values=values[:steps])
        if steps == {die_at}:
            die()
        run.progress(steps, len(clip))
    pos = clip.local_pos.copy()
    pos[:, 0] = values
    return Take(Clip(clip.skeleton, clip.fps, pos, clip.local_quat_wxyz, clip.name, clip.tags))

Passthrough.run = walk
"""


def test_resuming_repeats_no_more_than_since_the_checkpoint_and_keeps_the_randomness(make, same, run_worker, tmp_path):
    counter = tmp_path / "steps"
    whole, broken = make(), make()
    assert run_worker(whole, WALK.format(counter=str(tmp_path / "other"), die_at=-1)).returncode == 0
    assert run_worker(broken, WALK.format(counter=str(counter), die_at=27)).returncode == -signal.SIGKILL
    assert broken.status().state == "lost"
    assert run_worker(broken, WALK.format(counter=str(counter), die_at=-1)).returncode == 0
    assert len(counter.read_text().split()) == 27 + (40 - 20)
    same(broken.result().take.motion, whole.result().take.motion)
    assert broken.result().report["runs"] == 2


def test_a_broken_checkpoint_is_skipped_for_the_one_before(make, run_worker, tmp_path):
    counter = tmp_path / "steps"
    job = make()
    run_worker(job, WALK.format(counter=str(counter), die_at=27))
    newest = job.checkpoints / "00000020.npz"
    newest.write_bytes(newest.read_bytes()[:100])
    assert run_worker(job, WALK.format(counter=str(counter), die_at=-1)).returncode == 0
    assert len(counter.read_text().split()) == 27 + (40 - 10)


@pytest.mark.parametrize("planted", [{}, {"values": np.zeros((7, 2))}, {"values": np.array("text")}])
def test_a_checkpoint_that_somebody_else_wrote_is_a_message(make, run_worker, tmp_path, planted):
    """Whole, and of nothing that the method knows: no bug of its own."""
    counter = tmp_path / "steps"
    job = make()
    run_worker(job, WALK.format(counter=str(counter), die_at=27))
    checkpoints.write_checkpoint(job.checkpoints, 20, planted, np.random.default_rng(0))
    assert run_worker(job, WALK.format(counter=str(counter), die_at=-1)).returncode == 1
    status = job.status()
    assert status.state == "failed" and "The checkpoint of step 20 in" in status.message
    assert "bug" not in status.message and "begins anew" in status.hint
    shutil.rmtree(job.checkpoints)
    assert run_worker(job, WALK.format(counter=str(counter), die_at=-1)).returncode == 0


def test_a_bug_after_the_checkpoint_is_one(make, run_worker, tmp_path):
    counter, job = tmp_path / "steps", make()
    run_worker(job, WALK.format(counter=str(counter), die_at=27))
    broken = WALK.format(counter=str(counter), die_at=29).replace("            die()", '            {}["gone"]')
    assert run_worker(job, broken).returncode == 1
    assert "Sinew met a bug: KeyError: 'gone'" in job.status().message


def test_only_the_newest_three_checkpoints_are_kept(make, run_worker):
    job = make(chunk_frames=1)
    run_worker(job)
    assert sorted(path.name for path in job.checkpoints.iterdir()) == ["00000038.npz", "00000039.npz", "00000040.npz"]


def test_a_child_of_a_killed_worker_does_not_make_it_look_alive(make, run_worker, tmp_path):
    """A pool of rollouts that was forked by the worker may live on for a while."""
    fork = f"""
def run(self, clip, settings, run):
    child = os.fork()
    if child == 0:
        os.close(1), os.close(2)
        time.sleep(60)
        os._exit(0)
    open({str(tmp_path / "child")!r}, "w").write(str(child))
    die()
Passthrough.run = run
"""
    job = make()
    run_worker(job, fork)
    child = int((tmp_path / "child").read_text())
    try:
        os.kill(child, 0)
        assert job.status().state == "lost"
        assert jobs.wait(job, jobs.launch(job)).state == "done"
    finally:
        os.kill(child, signal.SIGKILL)
