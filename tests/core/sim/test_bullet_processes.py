# SPDX-License-Identifier: GPL-3.0-or-later
"""The helpers of Bullet: where they come from, what they are told, and that none is ever left behind."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sinew.core.errors import BadMotion
from sinew.core.sim import engines
from sinew.core.sim.engines.bullet.wire import pack, unpack
from sinew.core.sim.stage import Obstacle, Prop, Push, Terrain

from . import bodies
from .playing import begin, free_pose, play, stage_of

pytest.importorskip("pybullet")
linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")


@pytest.fixture
def engine():
    return engines.get_engine("bullet")


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except OSError:
        return False


def soon(condition, seconds: float = 10.0) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def helpers_of(world) -> list[int]:
    return [helper.pid for helper in world._pool._helpers]


@linux
def test_close_ends_the_helpers_and_frees_the_memory(engine):
    world = engine.compile(stage_of(bodies.ball()), 2, threads=2)
    play(world, begin(world, free_pose((0, 0, 1))), 0.1)
    pids, memory = helpers_of(world), Path("/dev/shm") / world._pool._rooms[0].name
    assert len(pids) == 2 and all(map(lives, pids)) and memory.exists()
    world.close()
    assert not any(map(lives, pids)) and not memory.exists()
    world.close()
    with pytest.raises(ValueError, match="closed"):
        play(world, np.zeros((2, world.state_size)), 0.1)


@linux
def test_a_forgotten_world_takes_its_helpers_along(engine):
    world = engine.compile(stage_of(bodies.ball()), 1)
    pids = helpers_of(world)
    del world
    assert soon(lambda: not any(map(lives, pids)))


@linux
def test_changed_worlds_share_helpers_until_the_last_is_closed(engine):
    world = engine.compile(stage_of(bodies.ball()), 1)
    pids = helpers_of(world)
    lunar = world.recompile(gravity=np.array([0.0, 0.0, -1.62]))
    assert helpers_of(lunar) == pids
    world.close()
    assert all(map(lives, pids))
    _, rows = play(lunar, begin(lunar, free_pose((0, 0, 5))), 1.0)
    np.testing.assert_allclose(rows.com_velocity[0, -1, 0, 2], -1.62, rtol=1e-6)
    lunar.close()
    assert not any(map(lives, pids))


_PARENT = """
import runpy, sys
runpy.run_path({entry!r})["load_package"]()
sys.path.insert(0, {tests!r})
import bodies, numpy as np
from playing import begin, stage_of
from sinew.core.sim import engines
body = bodies.humanoid()
world = engines.get_engine("bullet").compile(stage_of(body), 8, threads=2)
assert "pybullet" not in sys.modules
states = begin(world, bodies.rest_pose(body))
print(*(helper.pid for helper in world._pool._helpers), flush=True)
world.rollout(states, np.zeros((8, {steps}, body.nu)), substeps=4)
print("done", flush=True)
{end}
"""


def parent(root, steps: int, end: str = "") -> "subprocess.Popen[str]":
    code = _PARENT.format(entry=str(root / "core" / "entry.py"), tests=str(Path(__file__).parent), steps=steps, end=end)
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@linux
def test_helpers_die_with_a_parent_that_is_killed_in_the_middle_of_work(root):
    process = parent(root, 100_000)
    pids = [int(word) for word in process.stdout.readline().split()]
    assert len(pids) == 2 and all(map(lives, pids))
    time.sleep(0.3)
    process.kill()
    process.communicate()
    assert soon(lambda: not any(map(lives, pids)))


@linux
def test_a_parent_that_just_ends_says_nothing_and_leaves_nothing(root):
    process = parent(root, 1)
    told, complaints = process.communicate(timeout=60)
    pids = [int(word) for word in told.splitlines()[0].split()]
    assert process.returncode == 0 and "done" in told and complaints == ""
    assert soon(lambda: not any(map(lives, pids)))


@linux
def test_ctrl_c_is_the_parents_alone(root):
    """The terminal sends it to the helpers too; they say nothing, and end with the parent."""
    process = parent(root, 100_000)
    pids = [int(word) for word in process.stdout.readline().split()]
    for pid in pids:
        os.kill(pid, signal.SIGINT)
    time.sleep(0.3)
    assert all(map(lives, pids))
    process.send_signal(signal.SIGINT)
    _, complaints = process.communicate(timeout=30)
    assert complaints.count("Traceback") == 1 and complaints.rstrip().endswith("KeyboardInterrupt")
    assert soon(lambda: not any(map(lives, pids)))


@linux
def test_a_helper_that_is_killed_is_an_error_not_a_hang(engine):
    world = engine.compile(stage_of(bodies.ball()), 2, threads=2)
    states = begin(world, free_pose((0, 0, 1)))
    os.kill(helpers_of(world)[1], signal.SIGKILL)
    with pytest.raises(RuntimeError, match="exit code -9"):
        play(world, states, 0.1)
    world.close()


def test_an_interrupted_wait_does_not_mix_up_answers(engine, monkeypatch):
    """A Ctrl-C between command and answer: the next rollout gets its own."""
    from sinew.core.sim.engines.bullet import pool

    world = engine.compile(stage_of(bodies.ball()), 1)
    states, answer = begin(world, free_pose((0, 0, 1))), pool._answer

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(pool, "_answer", interrupted)
    with pytest.raises(KeyboardInterrupt):
        play(world, states, 2.0)
    monkeypatch.setattr(pool, "_answer", answer)
    out, rows = play(world, states, 0.1)
    assert out.shape[1] == 3 and 0.9 < rows.com[0, -1, 0, 2] < 1.0
    world.close()


def test_what_a_helper_refuses_is_refused_here(engine):
    with pytest.raises(BadMotion, match=r"25 characters.*24 at most"):
        engine.compile(stage_of(*[bodies.ball()] * 25), 1)


def test_a_terrain_too_fine_says_how_coarse_it_may_be(engine):
    with pytest.raises(BadMotion, match=r"1,000,000 heights.*0\.2 m apart or more"):
        engine.compile(stage_of(bodies.ball(), terrain=Terrain(np.zeros((1000, 1000)), 0.1, np.zeros(2))), 1)


def test_a_stage_survives_the_wire():
    cube = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
    body = bodies.humanoid()
    stage = replace(
        stage_of(body, bodies.chain(3)),
        terrain=Terrain(np.arange(6.0).reshape(2, 3), 0.5, np.array([1.0, 2.0])),
        obstacles=(Obstacle("wall", (cube, 2.0 * cube), 0.3),),
        props=(
            Prop("ball", 1.0, np.ones(3), bodies.sphere(0.1), appears_s=0.1),
            Prop("block", 2.0, np.ones(3), pieces=(cube,)),
        ),
        pushes=(Push(0, "chest", np.array([1.0, 0.0, 0.1]), 0.1, 0.2),),
        gravity=np.array([0.1, 0.0, -9.0]),
        friction=0.7,
    )
    again = unpack(pack(stage))
    assert pack(again) == pack(stage)
    assert again.characters[0].body.links[3].bone == body.links[3].bone
    np.testing.assert_array_equal(again.characters[0].body.links[3].inertia, body.links[3].inertia)
    np.testing.assert_array_equal(again.obstacles[0].pieces[1], 2.0 * cube)
    assert again.props[0].appears_s == 0.1 and again.props[1].shape is None and again.friction == 0.7
