# SPDX-License-Identifier: GPL-3.0-or-later
"""On a real Ray cluster: the same bits as here, whatever is killed meanwhile, and a word for all that is wrong.

Ray takes seconds to start a cluster, so two of them serve all of this: one that works, and one that does not.
"""

import os
import signal
import time
from dataclasses import replace

import numpy as np
import pytest

from directed_walks import make_stored_walks
from little_improvisers import make_improviser
from ray_cluster import needs_ray
from sinew.bench.local_cluster import local_cluster
from sinew.bench.run import Case
from sinew.bench.simulate.again import simulate_as_first
from sinew.core import jobs
from sinew.core.control.improvise.rollouts import RolloutConfig
from sinew.core.control.improvise.task_training import TaskTraining, TaskTrainingConfig
from sinew.core.control.improvise.training import LatentTraining, LatentTrainingConfig
from sinew.core.control.matching.directing import Directing
from sinew.core.control.tasks.point_goal import PointGoal
from sinew.core.control.tracking_policy.matching_streams import make_clip_streams
from sinew.core.control.tracking_policy.training import PPO, TrackingTraining, TrackingTrainingConfig
from sinew.core.jobs.cluster.calls import spread_calls
from sinew.core.jobs.cluster.connection import ROOMS, Cluster
from sinew.core.jobs.cluster.ray_shards import RayShards
from sinew.core.jobs.cluster.take_relay import RelayedJob
from sinew.core.jobs.events import EventReader
from sinew.core.jobs.where import parse_where
from sinew.core.learn.conditional_vae import VAESettings
from sinew.core.motion.io import stock
from sinew.core.sim import engines

pytestmark = [needs_ray, pytest.mark.timeout(600), pytest.mark.skipif(os.name == "nt", reason="SIGKILL is POSIX")]

SLOW = {"pause_s": 0.15, "chunk_frames": 2}
TRAINED = {"millions": 0.003, "warm": False, "worlds": 24, "shards": 2, "seconds": 1.0, "stop": False, "device": "cpu"}
# What a node is told to lack, as another machine might.
_LACKS = """
import importlib.metadata as metadata
there = metadata.version
def version(name):
    if name == "mujoco-core":
        raise metadata.PackageNotFoundError(name)
    return "2.59.0" if name == "ray" and {old!r} else there(name)
metadata.version = version
"""


def wait_until(job, test, seconds=150.0):
    """Look at the job until the test holds; gives its status then."""
    stop = time.monotonic() + seconds
    while not test(status := job.status()):
        assert time.monotonic() < stop, status
        time.sleep(0.05)
    return status


def events(job):
    """All that was written of it."""
    return EventReader(job.events).poll()


def kinds(job):
    """The kinds of its events, without reports of progress."""
    return [event["kind"] for event in events(job) if event["kind"] not in ("progress", "waiting")]


def training(folder):
    return jobs.create(
        stock.load_stock("walk"), method="bounds_train", settings=TRAINED, engine="mujoco", seed=4, folder=folder
    )


def trained(job):
    """What was learned, without what is only told of it."""
    arrays, _ = job.product("controller")
    return {name: array.tobytes() for name, array in arrays.items()}


def test_takes_and_training_are_the_same_here_and_there_with_nodes_killed(make, same, tmp_path):
    here = [make(tmp_path / "here"), training(tmp_path / "here-trained")]
    for job in here:
        assert jobs.wait(job, jobs.launch(job)).state == "done", job.status()
    with local_cluster("one", "two", "three") as cluster:
        where = parse_where(cluster.where)
        takes = [make(tmp_path / f"take-{number}", **SLOW) for number in range(4)]
        process = jobs.launch_together(takes, None, where)
        wait_until(takes[0], lambda status: status.step >= 6)
        cluster.kill("one")
        for job in takes:
            assert jobs.wait(job, process).state == "done", job.status()
            same(job.result().take.motion, here[0].result().take.motion)
            assert kinds(job)[:2] == ["launched", "started"] and kinds(job).count("done") == 1
        assert any("is lost" in event.get("message", "") for job in takes for event in events(job))

        driven = make(tmp_path / "driver-killed", **SLOW)
        process = jobs.launch(driven, where=where)
        wait_until(driven, lambda status: status.step >= 6)
        os.kill(process.pid, signal.SIGKILL)
        assert jobs.wait(driven, process).state == "lost"
        assert f"on a cluster ({where}) that may be gone" in driven.status().message
        assert jobs.wait(driven, jobs.launch(driven)).state == "done"  # resumed, and here
        same(driven.result().take.motion, here[0].result().take.motion)
        assert "resumed" in kinds(driven)

        trains = training(tmp_path / "trained")
        process = jobs.launch(trains, where=where)
        wait_until(trains, lambda status: 0.2 < status.fraction)
        cluster.kill("two")
        assert jobs.wait(trains, process).state == "done", trains.status()
        assert trained(trains) == trained(here[1])
        about = trains.report()["cluster"]
        assert about["shards"] == 2 and about["lost"] >= 1 and about["bytes"]["weights"] > 0
        assert trains.report()["bounds"]["samples"] == here[1].report()["bounds"]["samples"]

        cluster.add("four")
        improvising_in_shards_is_the_same(make(tmp_path / "improvises"), cluster)


def improvising_in_shards_is_the_same(job, nodes):
    """Bodies, tasks and calls that know nothing of jobs: here, and there with a node killed in between."""
    engine, walks = engines.get_engine("mujoco"), make_stored_walks(("stand",))
    streams = make_clip_streams(Directing(walks.body, walks.library), walks.body, np.arange(1))
    improviser = make_improviser(walks.body, walks.library.clip(0))
    small = TrackingTrainingConfig(worlds=2, ppo=replace(PPO, width=16, critic_width=16))
    with TrackingTraining(streams, streams, engine, small, 0) as training:
        controller = training.controller(training.trainer.policy)
    vae = VAESettings(latent=4, encoder_widths=(16,), prior_widths=(16,), decoder_widths=(16,))
    steps = RolloutConfig(steps=4)
    latent = LatentTrainingConfig(8, 100, 32, 32, 10_000, minibatch=32, rollouts=steps, shards=2, threads=1)
    tasks = TaskTrainingConfig(4, 1000, 10_000, 0.2, replace(PPO, width=16, critic_width=16, threads=1, horizon=4))

    def learn_a_task(spreader=None):
        with TaskTraining(improviser, PointGoal, engine, tasks, 1, spreader) as training:
            training.advance()
            return training.state()

    def improvise(spreader=None):
        with LatentTraining(controller, streams, engine, latent, vae, 3, spreader) as training:
            for update in range(4):
                if spreader is not None and update == 2:
                    nodes.kill("four")
                training.advance()
            return training.state()

    with Cluster(parse_where(nodes.where), (*ROOMS, "bench")) as cluster:
        shards = RayShards(cluster, RelayedJob(job, 1))
        for train in (learn_a_task, improvise):
            here, there = train(), train(shards)
            assert here.keys() == there.keys()
            assert all(np.array_equal(here[name], there[name]) for name in here), train
        assert shards.lost == 1 and shards.describe()["bytes"]["rollouts"] > 0
        shards.close()
        cases = [Case("stock", name, stock.load_stock(name).frames(0, 13)) for name in ("walk", "run", "kick")]
        calls = [(case, "sampling", {"quality": "draft"}, False) for case in cases]
        rows = dict(spread_calls(cluster, simulate_as_first, calls))
    assert len(rows) == 3
    for number, call in enumerate(calls):
        assert rows[number][0]["sha256"] == simulate_as_first(*call)[0]["sha256"]


def test_what_is_wrong_with_a_cluster_is_said(make, same, tmp_path, mount):
    full = mount("size=64k")
    lacking, older = tmp_path / "lacking", tmp_path / "older"
    for folder, old in ((lacking, False), (older, True)):
        folder.mkdir()
        (folder / "sitecustomize.py").write_text(_LACKS.format(old=old))
    with local_cluster() as cluster:
        where = parse_where(cluster.where)
        waits = make(tmp_path / "waits", **SLOW)
        process = jobs.launch(waits, where=where)
        status = wait_until(waits, lambda status: status.message.startswith("Waiting for a free core"))
        assert status.state == "running"
        waits.cancel()
        assert jobs.wait(waits, process).state == "cancelled"

        for name, variables, message, hint in (
            ("no engine", {"PYTHONPATH": str(lacking)}, "has no mujoco-core", "pip install mujoco-core=="),
            ("another Ray", {"PYTHONPATH": str(older)}, "has ray 2.59.0, and this computer has", "pip install ray=="),
            (
                "no share",
                {"SINEW_SCRATCH": str(tmp_path / "share")},
                "which its SINEW_SCRATCH names",
                "Mount the share",
            ),
            ("full disk", {"SINEW_SCRATCH": str(full)}, "No space left on device", "Free space there"),
        ):
            cluster.add(name, **variables)
            job = make(tmp_path / name)
            assert jobs.wait(job, jobs.launch(job, where=where)).state == "failed", name
            assert message in job.status().message and hint in job.status().hint, job.status()
            assert not job.take_file.exists()
            cluster.kill(name)

        cluster.add("good")
        gone = make(tmp_path / "gone", **(SLOW | {"pause_s": 2.0}))
        process = jobs.launch(gone, where=where)
        wait_until(gone, lambda status: status.step >= 2)
        cluster.kill("head")
        assert jobs.wait(gone, process).state == "failed"
        assert "does not answer any more" in gone.status().message and "Resume the job here" in gone.status().hint
    plain = make(tmp_path / "plain")
    for job in (plain, gone):
        assert jobs.wait(job, jobs.launch(job)).state == "done"
    same(gone.result().take.motion, plain.result().take.motion)
