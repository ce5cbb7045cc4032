# SPDX-License-Identifier: GPL-3.0-or-later
"""What ``servo_torques`` says is what an engine's servos do: they carry loads, and speed things up, by that much."""

import numpy as np
import pytest

from sinew.core.body import Joint
from sinew.core.body.servos import servo_torques
from sinew.core.geometry.quaternions import conjugate, from_rotation_vector, multiply, rotate, to_rotation_vector

from . import bodies
from .playing import GRAVITY, WEIGHTLESS, begin, play, stage_of

LENGTH, MASS = 0.8, 1.0
INERTIA = MASS * (LENGTH**2 + 0.4 * 0.05**2)


def arm(kind, kp, kd, limit=1e6):
    """A weight at the end of a stick of no weight, on a heavy base."""
    return bodies.pendulum(LENGTH, MASS, Joint(kind, np.array([0.0, 0.0, 0.9]), kp=kp, kd=kd, torque_limit=limit))


def at(*joint):
    return np.array([0, 0, 0.5, 1, 0, 0, 0, *joint], dtype=float)


def torques(body, pose, velocity, target, muscle=1.0):
    """(nu,) of one moment."""
    return servo_torques(body, pose[None], velocity[None], np.array([target], float), np.array([muscle]))[0]


@pytest.mark.parametrize("muscle", [1.0, 0.6])
@pytest.mark.parametrize("kind", ["hinge", "ball"])
def test_at_rest_they_carry_the_weight(compiled, kind, muscle):
    body = arm(kind, 60.0, 10.0)
    target = [0.9] if kind == "hinge" else [0.7, -0.5, 0.3]
    start = at(0.9) if kind == "hinge" else at(*from_rotation_vector(np.array(target)))
    world = compiled(stage_of(body))
    states, _ = play(world, begin(world, start), 3.0, target, muscle=np.full((1, 90), muscle))
    pose, velocity = (values[0, -1] for values in world.pose_of(states))
    quat = from_rotation_vector(np.array([pose[7], 0.0, 0.0])) if kind == "hinge" else pose[7:11]
    load = np.cross([0.0, 0.0, -LENGTH], rotate(conjugate(quat), np.array([0.0, 0.0, -MASS * GRAVITY])))
    found = torques(body, pose, velocity, target, muscle)
    assert np.abs(load).max() > 2.0  # it does hang on the servo
    np.testing.assert_allclose(found, -load[:1] if kind == "hinge" else -load, atol=0.05)


@pytest.mark.parametrize(
    ("limit", "muscle"),
    [(1e6, 1.0), (1e6, 0.5), (3.0, 1.0), (3.0, 0.5), (0.0, 1.0)],
    ids=["free", "weak", "limited", "both", "none"],
)
@pytest.mark.parametrize("kind", ["hinge", "ball"])
def test_a_moment_later_it_is_that_much_faster(compiled, kind, limit, muscle):
    """From a turn already under way, so that damping is in it too."""
    body = arm(kind, 8.0, 0.5, limit)
    if kind == "hinge":
        start, rate, target = at(0.4), [0.8], [1.5]
    else:  # aimed across the stick, about which it has next to no inertia
        turned = from_rotation_vector(np.array([0.3, 0.5, -0.2]))
        aim = multiply(turned, from_rotation_vector(np.array([0.9, -0.6, 0.0])))
        start, rate, target = at(*turned), [0.4, -0.6, 0.0], list(to_rotation_vector(aim))
    world = compiled(stage_of(body, gravity=WEIGHTLESS))
    qvel = np.array([0.0] * 6 + rate)
    held = np.array([[target]])
    states, _ = world.rollout(begin(world, start, qvel=qvel), held, substeps=1, muscle=np.full((1, 1), muscle))
    gained = INERTIA * (world.pose_of(states)[1][0, -1, 6:] - rate) / world.dt_s
    found = torques(body, start, qvel, target, muscle)
    axes = slice(0, 1 if kind == "hinge" else 2)
    np.testing.assert_allclose(gained[axes], found[axes], rtol=0.03, atol=0.03)
    if limit < 10.0:
        assert np.linalg.norm(found) == pytest.approx(limit * muscle)


def test_every_joint_of_a_body_has_its_own(compiled):
    """One joint off its target in a chain of balls and hinges: only its servo has something to do."""
    body = bodies.chain(4, kp=20.0, kd=1.0, torque_limit=50.0)
    pose = np.tile(bodies.rest_pose(body), (3, 1))
    targets = np.zeros((3, body.nu))
    targets[0, 1], targets[1, 3], targets[2, 6] = 0.3, 0.4, -0.5
    found = servo_torques(body, pose, np.zeros((3, body.nv)), targets, np.ones(3))
    np.testing.assert_allclose(found, 20.0 * targets, atol=1e-12)


@pytest.mark.parametrize("kind", ["hinge", "ball"])
def test_at_its_limit_a_servo_does_the_same_from_states_as_good_as_the_same(compiled, engine, kind):
    """Two hundred starts that differ in the last digits."""
    body = bodies.pendulum(0.1, MASS, Joint(kind, np.array([0.0, 0.0, 0.9]), kp=800.0, kd=20.0, torque_limit=100.0))
    world = compiled(stage_of(body, gravity=WEIGHTLESS), 200)
    noise = 1e-13 * np.random.default_rng(0).normal(size=(200, 3))
    joint = 0.1 + noise[:, :1] if kind == "hinge" else from_rotation_vector(np.array([0.1, 0.2, -0.1]) + noise)
    qpos = np.concatenate([np.tile([0, 0, 0.5, 1, 0, 0, 0], (200, 1)), joint], axis=-1)
    qvel = np.zeros((200, body.nv))
    qvel[:, 6] = 2.0
    targets = np.tile([0.9] if kind == "hinge" else [0.9, -0.5, 0.6], (200, 1, 1))
    states, _ = world.rollout(world.state_of(qpos, qvel), targets, substeps=1)
    assert np.ptp(world.pose_of(states)[1], axis=0).max() < 1e-6
