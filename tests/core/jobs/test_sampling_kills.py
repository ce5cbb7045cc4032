# SPDX-License-Identifier: GPL-3.0-or-later
"""A simulation that is killed or cancelled goes on at its last finished fragment, and nobody sees it in the take."""

import os
import signal
import time

import pytest

from sinew.core import jobs
from sinew.core.motion.io import stock

pytestmark = pytest.mark.skipif(os.name == "nt", reason="SIGKILL is POSIX")

# A checkpoint after every fragment, and an end at the n-th one of the run.
AT = """
from sinew.core.control.sampling import checkpoint
checkpoint._PAUSE_S, checkpoint._SHARE = -1.0, 1e9
save, count = checkpoints.write_checkpoint, []
def saved(folder, *rest):
    save(folder, *rest)
    count.append(1)
    if len(count) == {n}:
        {end}
checkpoints.write_checkpoint = saved
"""
DIE, CANCEL = "die()", "(folder.parent / 'cancel').touch()"


def simulation(folder) -> jobs.Job:
    clip = stock.load_stock("walk").frames(0, 13)  # four fragments
    return jobs.create(clip, method="sampling", settings={"quality": "normal"}, engine="mujoco", seed=3, folder=folder)


def paused(job: jobs.Job) -> jobs.Job:
    """Simulate with a pause somewhere in the middle."""
    process, end = jobs.launch(job), time.monotonic() + 60.0
    while not job.status().fraction > 0.2:
        assert time.monotonic() < end, job.status()
        time.sleep(0.02)
    job.pause()
    while job.status().state != "paused":
        assert job.status().alive and time.monotonic() < end, job.status()
        time.sleep(0.02)
    job.go_on()
    assert jobs.wait(job, process).state == "done"
    return job


def test_killed_twice_and_cancelled_once_it_is_the_same_take(run_worker, same, tmp_path):
    whole, broken = simulation(tmp_path / "whole"), simulation(tmp_path / "broken")
    assert run_worker(whole).returncode == 0
    assert run_worker(broken, AT.format(n=3, end=DIE)).returncode == -signal.SIGKILL  # in the first pass
    assert broken.status().state == "lost"
    assert run_worker(broken, AT.format(n=2, end=CANCEL)).returncode == 2  # in the second
    assert broken.status().state == "cancelled"
    broken.cancel_file.unlink()
    assert run_worker(broken, AT.format(n=1, end=DIE)).returncode == -signal.SIGKILL
    assert jobs.wait(broken, jobs.launch(broken)).state == "done"
    one, other = whole.result(), broken.result()
    same(one.take.motion, other.take.motion)
    assert one.take.contacts.tobytes() == other.take.contacts.tobytes()
    assert one.report["measurements"] == other.report["measurements"] and other.report["runs"] == 4

    same(one.take.motion, paused(simulation(tmp_path / "paused")).result().take.motion)

    reader = jobs.history.EventReader(broken.events)
    steps: dict[int, list[int]] = {}
    for event in reader.poll():
        if event["kind"] in ("resumed", "progress") and event.get("total") != 1:
            steps.setdefault(event["run"], []).append(event["step"])
    # Every run went on from a later step than the one before, and none reported less than it had resumed with.
    assert 0 < steps[2][0] < steps[3][0] < steps[4][0]
    assert all(min(steps[run]) == steps[run][0] for run in (2, 3, 4))
    assert steps[4][-1] == broken.status().total
    assert not [path.name for path in broken.folder.rglob("*.part")]
