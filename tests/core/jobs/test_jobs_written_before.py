# SPDX-License-Identifier: GPL-3.0-or-later
"""Job folders that an older Sinew left behind, finished or killed, are read and taken to their end."""

import json

import pytest

import written_before
from sinew.core import jobs


@pytest.fixture
def job(tmp_path):
    """Opens one of the kept jobs by what it is."""
    folder = written_before.unpack_jobs(tmp_path)
    return lambda which: jobs.open_job(folder / written_before.job_id(which))


def resumed_at(job: jobs.Job) -> int:
    """The step that the newest run went on from."""
    lines = [json.loads(line) for line in job.events.read_text(encoding="utf-8").splitlines()]
    return next(line["step"] for line in reversed(lines) if line["kind"] == "resumed")


def test_a_finished_simulation_is_read(job):
    done = job("simulate_done")
    assert done.status().state == "done"
    assert (done.spec.method, done.spec.engine, done.spec.seed) == ("sampling", "mujoco", 3)
    assert done.spec.settings["quality"] == "draft"
    assert (done.spec.target.armature, done.spec.target.action) == ("Mannequin", "walk")
    found = done.result()
    assert len(found.take.motion) == 13 and found.report["status"] == "done" and not found.report["fell"]
    found = written_before.arrays_sha256(done.folder / "result" / "take.npz")
    assert found == written_before.EXPECTED["sha256"]["simulate"]


def test_a_killed_simulation_goes_on_and_is_nearly_the_same_take(job):
    broken = job("simulate_broken")
    assert broken.status().state == "lost" and broken.status().fraction == 0.5
    assert jobs.wait(broken, jobs.launch(broken)).state == "done", broken.status()
    assert resumed_at(broken) == 3
    assert broken.result().report["runs"] == 2
    written_before.check_take(broken.folder / "result" / "take.npz", "simulate", same_method=False)


def test_a_finished_graph_is_read(job):
    done = job("graph_learn_done")
    assert done.status().state == "done" and done.spec.settings == {"quality": "draft", "symmetric": True}
    arrays, meta = done.product("graph")
    assert arrays["policies_gains"].ndim == 3 and meta


def test_a_killed_training_goes_on_to_its_end(job):
    broken = job("bounds_train_broken")
    assert broken.status().state == "lost"
    assert jobs.wait(broken, jobs.launch(broken)).state == "done", broken.status()
    assert resumed_at(broken) == 256
    report = broken.result().report
    assert report["runs"] == 2 and [each for each in report["findings"] if each["kind"] == "checkpoint"] == []
    arrays, _ = broken.product("controller")
    assert arrays["policy.weights0"].ndim == 2
    if written_before.EXPECTED["arithmetic"] == written_before.arithmetic():
        found = written_before.arrays_sha256(broken.folder / "result" / "controller.npz")
        assert found == written_before.EXPECTED["sha256"]["controller"]
