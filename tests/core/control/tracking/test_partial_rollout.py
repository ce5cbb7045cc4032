# SPDX-License-Identifier: GPL-3.0-or-later
"""A part of a body is simulated as it would hang on something that is led by hand, on every engine."""

import numpy as np
import pytest

from sinew.core.body import BodyModel, Joint
from sinew.core.control.tracking.partial_rollout import PartialRollout, make_carrier_stage, prescribe_path
from sinew.core.geometry.quaternions import from_rotation_vector, rotate
from sinew.core.motion import Clip
from sinew.core.sim.engines import ENGINES
from sinew.core.sim.stage import Character, Push, Stage

from ....engines_here import engine_here
from ...sim import bodies

G, LENGTH, FPS = 9.81, 0.5, 60.0


def carrier(kp: float = 0.0, kd: float = 0.0) -> BodyModel:
    """A box that is led, a bob that hangs 0.5 m below its middle on a ball joint, and another on the other side."""
    rod = bodies.sphere(0.03, (0.0, 0.0, -LENGTH))
    joint = {"kp": kp, "kd": kd, "torque_limit": 500.0 if kp else 0.0}
    return bodies.body([
        bodies.link("box", -1, bodies.FREE, bodies.box((0.2, 0.2, 0.2)), 10.0, "pelvis"),
        bodies.link("bob", 0, Joint("ball", np.zeros(3), **joint), rod, 1.0, "tail"),
        bodies.link("keyed", 0, Joint("ball", np.zeros(3), **joint), rod, 1.0, "head"),
    ])  # fmt: skip


def led(body: BodyModel, pos, seconds: float, turn=None) -> Clip:
    """The box at pos(t) (T, 3) and turned by turn(t) (T, 3), the bobs straight below it in its own frame."""
    t = np.arange(round(seconds * FPS) + 1) / FPS
    local = np.tile(body.skeleton.rest_pos, (len(t), 1, 1))
    local[:, 0] = [0.0, 0.0, 3.0] + pos(t)
    turns = np.zeros((len(t), 3, 3))
    if turn is not None:
        turns[:, 0] = turn(t)
    return Clip(body.skeleton, FPS, local, from_rotation_vector(turns), "led")


def simulated(engine: str, body: BodyModel, clip: Clip, muscle: float = 0.0, begin=None, **stage):
    """The recording, and (S + 1, 3) the way to the bob in the world, of length one."""
    chosen = np.array([False, True, False])
    whole = Stage((Character(body),), **stage)
    world = engine_here(engine).compile(make_carrier_stage(whole, chosen), 1)
    try:
        path = prescribe_path(body, clip, world.dt_s)
        if begin is not None:
            path.qpos[0, 7:11] = from_rotation_vector(np.array(begin))
        rollout = PartialRollout(world, (path,), chosen, np.full(len(path.qpos), muscle))
        recording = rollout.run(lambda step, total: None)
    finally:
        world.close()
    down = rotate(recording.qpos[:, 3:7], rotate(recording.qpos[:, 7:11], np.array([0.0, 0.0, -1.0])))
    return recording, path, down


def still(t):
    return np.zeros((len(t), 3))


@pytest.fixture(params=list(ENGINES))
def engine(request):
    return request.param


def test_what_is_limp_swings_with_the_period_of_a_pendulum(engine):
    body = carrier()
    _, _, down = simulated(engine, body, led(body, still, 4.0), begin=(0.2, 0.0, 0.0))
    side = down[:, 1]
    crossings = np.flatnonzero(np.sign(side[1:]) != np.sign(side[:-1])) / 120.0
    assert len(crossings) >= 4
    period = 2.0 * np.mean(np.diff(crossings))
    assert period == pytest.approx(2.0 * np.pi * np.sqrt(LENGTH / G), rel=0.02)


def test_what_is_carried_ever_faster_hangs_back(engine):
    """On a cart with a steady acceleration a pendulum hangs at atan(a / g) in the mean."""
    body, a = carrier(), 3.0
    clip = led(body, lambda t: np.stack([0.5 * a * t**2, 0 * t, 0 * t], -1), 4.0 * 2.0 * np.pi * np.sqrt(LENGTH / G))
    _, _, down = simulated(engine, body, clip)
    angle = np.arctan2(-down[:, 0], -down[:, 2])
    assert np.mean(angle) == pytest.approx(np.arctan2(a, G), rel=0.03)
    # It began straight, so it swings to twice that.
    assert angle.max() == pytest.approx(2.0 * np.arctan2(a, G), rel=0.08)


def test_what_hangs_on_something_that_turns_stays_behind(engine):
    """A box that turns to and fro about the joint itself gives a limp bob nothing: it stays where it hangs."""
    body = carrier()
    clip = led(body, still, 1.0, lambda t: np.stack([0.4 * (1.0 - np.cos(8.0 * t)), 0 * t, 0 * t], -1))
    recording, _, down = simulated(engine, body, clip)
    turned = np.abs(recording.qpos[:, 8]).max()
    assert turned > 0.3  # in the joint it does turn
    assert np.abs(down[:, 1]).max() < 0.12


def test_what_is_animated_is_exactly_where_it_was_animated(engine):
    body = carrier(40.0, 4.0)
    clip = led(
        body,
        lambda t: np.stack([np.sin(5 * t), 0 * t, 0.2 * np.cos(9 * t)], -1),
        1.0,
        lambda t: np.stack([t, t**2, 0 * t], -1),
    )
    recording, path, _ = simulated(engine, body, clip, muscle=1.0)
    kept = [*range(7), *range(11, 15)]
    assert np.array_equal(recording.qpos[:, kept], path.qpos[:, kept])
    assert not recording.lost and np.abs(recording.qpos[:, 7:11] - path.qpos[:, 7:11]).max() > 1e-3


def test_servos_hold_the_weight_of_their_part(engine):
    """A bob held out sideways by a servo does not sag at full strength, and does at less."""
    body = carrier(30.0, 6.0)
    clip = led(body, still, 2.0, lambda t: np.tile([0.5 * np.pi, 0.0, 0.0], (len(t), 1)))
    sag = [-simulated(engine, body, clip, muscle=muscle)[2][-1, 2] for muscle in (1.0, 0.2)]
    assert abs(sag[0]) < 0.02 and sag[1] > -0.02
    limp = -simulated(engine, body, clip, muscle=0.0)[2][:, 2]
    assert limp.max() > 0.9


def test_a_push_moves_the_part_and_nothing_else(engine):
    body = carrier(30.0, 3.0)
    clip = led(body, still, 1.0)
    push = Push(0, "bob", np.array([0.0, 20.0, 0.0]), 0.2, 0.2)
    recording, path, down = simulated(engine, body, clip, muscle=1.0, pushes=(push,))
    assert down[:, 1].max() > 0.2 and np.abs(down[:20, 1]).max() < 1e-3
    assert np.array_equal(recording.qpos[:, :7], path.qpos[:, :7])
    other = Push(0, "keyed", np.array([0.0, 20.0, 0.0]), 0.2, 0.2)
    _, _, unmoved = simulated(engine, body, clip, muscle=1.0, pushes=(other,))
    assert np.abs(unmoved[:, 1]).max() < 5e-3


def test_the_same_again_bit_for_bit(engine):
    body = carrier(10.0, 1.0)
    clip = led(body, lambda t: np.stack([np.sin(5 * t), 0 * t, 0 * t], -1), 0.5)
    first, again = (simulated(engine, body, clip, muscle=0.5)[0] for _ in range(2))
    assert np.array_equal(first.qpos, again.qpos)
