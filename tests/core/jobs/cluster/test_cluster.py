# SPDX-License-Identifier: GPL-3.0-or-later
"""On a real Ray cluster: the same bits as here, whatever is killed meanwhile, and a word for all that is wrong.

Ray takes seconds to start a cluster, so one of them serves all of this, in one test: first it has no nodes, then some
that are of no use, then good ones, and in the end it goes away.
"""

import os
import signal
import sys
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
from sinew.core.body import build_body
from sinew.core.control.improvise.rollouts import RolloutConfig
from sinew.core.control.improvise.task_training import TaskTraining, TaskTrainingConfig
from sinew.core.control.improvise.training import LatentTraining, LatentTrainingConfig
from sinew.core.control.matching.directing import Directing
from sinew.core.control.tasks.point_goal import PointGoal
from sinew.core.control.tracking.library_building import prepare_new_clip
from sinew.core.control.tracking_policy.matching_streams import make_clip_streams
from sinew.core.control.tracking_policy.training import PPO, TrackingTraining, TrackingTrainingConfig
from sinew.core.errors import ClusterError, SinewError
from sinew.core.jobs.cluster.calls import spread_calls
from sinew.core.jobs.cluster.connection import RAY, ROOMS, Cluster, import_ray
from sinew.core.jobs.cluster.library_clips import NewClip, prepare_on_cluster
from sinew.core.jobs.cluster.ray_shards import RayShards
from sinew.core.jobs.cluster.take_relay import RelayedJob, relay_jobs
from sinew.core.jobs.events import EventReader
from sinew.core.jobs.where import parse_where
from sinew.core.learn.conditional_vae import VAESettings
from sinew.core.motion import Clip
from sinew.core.motion.io import stock
from sinew.core.motion.plain_walk import plain_walk
from sinew.core.sim import engines

pytestmark = [needs_ray, pytest.mark.timeout(600), pytest.mark.skipif(os.name == "nt", reason="SIGKILL is POSIX")]

SLOW = {"pause_s": 0.1, "chunk_frames": 2}
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


def test_a_cluster(make, same, tmp_path, mount, monkeypatch):
    here = [make(tmp_path / "here"), training(tmp_path / "here-trained")]
    for job in here:
        assert jobs.wait(job, jobs.launch(job)).state == "done", job.status()
    take = here[0].result().take.motion
    with local_cluster() as cluster:
        where = parse_where(cluster.where)
        without_a_free_core_it_waits_and_can_be_cancelled(make(tmp_path / "waits"), where)
        a_cluster_of_another_version_is_refused(where, monkeypatch)
        nodes_of_no_use_are_named(cluster, make, mount("size=64k"), tmp_path)
        cluster.add("one", "two", "three")
        takes_are_the_same_with_a_node_killed(
            cluster, [make(tmp_path / f"take-{n}", **SLOW) for n in range(4)], take, same
        )
        a_killed_driver_is_resumed_here(where, make(tmp_path / "driver-killed", **SLOW), take, same)
        training_is_the_same_with_a_node_killed(cluster, training(tmp_path / "trained"), here[1])
        cluster.add("four")
        clips_of_a_library_are_prepared_alike(where)
        improvising_in_shards_is_the_same(make(tmp_path / "improvises"), cluster)
        gone = make(tmp_path / "gone", **(SLOW | {"pause_s": 0.7}))
        that_it_goes_away_is_said(cluster, gone)
    assert jobs.wait(gone, jobs.launch(gone)).state == "done"
    same(gone.result().take.motion, take)


def clips_of_a_library_are_prepared_alike(where):
    """The same bits as here; a clip that cannot be prepared says why, and the others are there."""
    clip = plain_walk()
    body, _ = build_body(clip.skeleton, clip=clip)
    short = Clip(clip.skeleton, clip.fps, clip.local_pos[:1], clip.local_quat_wxyz[:1], "short")
    asked = [NewClip(clip, "walk.bvh", "1" * 40), NewClip(short, "short.bvh", "2" * 40)]
    made = prepare_on_cluster(body, asked, where, sys.executable)
    here, there = prepare_new_clip(body, clip, "walk.bvh", "1" * 40), made["1" * 40]
    for name in ("local_pos", "local_quat_wxyz", "contacts", "times_s"):
        assert getattr(here, name).tobytes() == getattr(there, name).tobytes()
    assert here.tags == there.tags and here.origin == there.origin
    with pytest.raises(SinewError) as caught:
        prepare_new_clip(body, short, "short.bvh", "2" * 40)
    assert made["2" * 40].message == caught.value.message and made["2" * 40].hint == caught.value.hint


def without_a_free_core_it_waits_and_can_be_cancelled(job, where):
    process = jobs.launch(job, where=where)
    status = wait_until(job, lambda status: status.message.startswith("Waiting for a free core"))
    assert status.state == "running"
    job.cancel()
    assert jobs.wait(job, process).state == "cancelled"


def a_cluster_of_another_version_is_refused(where, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(import_ray(), "__version__", "2.59.0")
        with pytest.raises(ClusterError, match="has another version of Ray or Python") as caught:
            Cluster(where)
    assert RAY in caught.value.hint


def nodes_of_no_use_are_named(nodes, make, full, folder):
    """Whatever a node lacks, the job that comes to it fails and says so."""
    lacking, older = folder / "lacking", folder / "older"
    for home, old in ((lacking, False), (older, True)):
        home.mkdir()
        (home / "sitecustomize.py").write_text(_LACKS.format(old=old))
    with Cluster(parse_where(nodes.where)) as cluster:
        for name, variables, message, hint in (
            ("no engine", {"PYTHONPATH": str(lacking)}, "has no mujoco-core", "pip install mujoco-core=="),
            ("another Ray", {"PYTHONPATH": str(older)}, "has ray 2.59.0, and this computer has", "pip install ray=="),
            ("no share", {"SINEW_SCRATCH": str(folder / "share")}, "which its SINEW_SCRATCH names", "Mount the share"),
            ("full disk", {"SINEW_SCRATCH": str(full)}, "No space left on device", "Free space there"),
        ):
            nodes.add(name, **variables)
            job = make(folder / name)
            relay_jobs(cluster, [RelayedJob(job, 1)])
            assert job.status().state == "failed", name
            assert message in job.status().message and hint in job.status().hint, job.status()
            assert not job.take_file.exists()
            nodes.kill(name)


def takes_are_the_same_with_a_node_killed(nodes, takes, expected, same):
    process = jobs.launch_together(takes, None, parse_where(nodes.where))
    wait_until(takes[0], lambda status: status.step >= 6)
    nodes.kill("one")
    for job in takes:
        assert jobs.wait(job, process).state == "done", job.status()
        same(job.result().take.motion, expected)
        assert kinds(job)[:2] == ["launched", "started"] and kinds(job).count("done") == 1
    assert any("is lost" in event.get("message", "") for job in takes for event in events(job))


def a_killed_driver_is_resumed_here(where, job, expected, same):
    process = jobs.launch(job, where=where)
    wait_until(job, lambda status: status.step >= 6)
    os.kill(process.pid, signal.SIGKILL)
    assert jobs.wait(job, process).state == "lost"
    assert f"on a cluster ({where}) that may be gone" in job.status().message
    assert jobs.wait(job, jobs.launch(job)).state == "done"
    same(job.result().take.motion, expected)
    assert "resumed" in kinds(job)


def training_is_the_same_with_a_node_killed(nodes, job, here):
    process = jobs.launch(job, where=parse_where(nodes.where))
    wait_until(job, lambda status: 0.2 < status.fraction)
    nodes.kill("two")
    assert jobs.wait(job, process).state == "done", job.status()
    assert trained(job) == trained(here)
    about = job.report()["cluster"]
    assert about["shards"] == 2 and about["lost"] >= 1 and about["bytes"]["weights"] > 0
    seconds = about["seconds"]
    assert 0.0 < seconds["rollouts"] + seconds["learning"] < seconds["all"]
    assert job.report()["bounds"]["samples"] == here.report()["bounds"]["samples"]


def that_it_goes_away_is_said(nodes, job):
    process = jobs.launch(job, where=parse_where(nodes.where))
    wait_until(job, lambda status: status.step >= 2)
    nodes.kill("head")
    assert jobs.wait(job, process).state == "failed"
    assert "does not answer any more" in job.status().message and "Resume the job here" in job.status().hint


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
