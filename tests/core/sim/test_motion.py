# SPDX-License-Identifier: GPL-3.0-or-later
"""Nothing touches anything: falling, swinging, flying, and which number of a pose means what."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from sinew.core.body import Joint
from sinew.core.geometry.quaternions import (
    angle_between,
    from_rotation_vector,
    multiply,
    normalize,
    rotate,
)
from sinew.core.motion.skeleton import to_world

from . import bodies
from .playing import GRAVITY, WEIGHTLESS, begin, free_pose, free_velocity, play, stage_of


def random_pose(body, rng, spread=0.6):
    qpos = bodies.rest_pose(body, rng.normal(size=3) + [0.0, 0.0, 5.0])
    qpos[3:7] = normalize(rng.normal(size=4))
    for link, start in zip(body.links[1:], body.qpos_starts[1:], strict=False):
        if link.joint.kind == "ball":
            qpos[start : start + 4] = from_rotation_vector(rng.normal(size=3) * spread)
        else:
            qpos[start] = rng.uniform(0.0, 1.5)
    return qpos


def forward(body, qpos):
    """Link frames in the world, from what BodyModel says that a pose means."""
    pos = np.array([link.joint.pos for link in body.links])
    quat = np.array([link.joint.zero_quat_wxyz for link in body.links])
    pos[0], quat[0] = qpos[:3], qpos[3:7]
    for index, (link, start) in enumerate(zip(body.links, body.qpos_starts, strict=False)):
        if link.joint.kind == "ball":
            quat[index] = multiply(quat[index], qpos[start : start + 4])
        elif link.joint.kind == "hinge":
            quat[index] = multiply(quat[index], from_rotation_vector(link.joint.axis * qpos[start]))
    return to_world([link.parent for link in body.links], pos, quat)


def test_free_fall(compiled):
    """A thrown ball follows its parabola to within the first order of the time step, and does not begin to turn."""
    world = compiled(stage_of(bodies.ball()))
    _, rows = play(world, begin(world, free_pose((0, 0, 20)), qvel=free_velocity((1.0, -2.0, 3.0))), 1.0)
    t = rows.time_s[0]
    expected = np.stack([t, -2.0 * t, 20.0 + 3.0 * t - 0.5 * GRAVITY * t**2], -1)
    np.testing.assert_allclose(t, np.arange(1, 31) / 30.0, atol=1e-9)
    assert np.abs(rows.com[0, :, 0] - expected).max() < 0.5 * GRAVITY * t[-1] * world.dt_s * 1.01
    np.testing.assert_allclose(rows.com_velocity[0, -1, 0], [1.0, -2.0, 3.0 - GRAVITY], atol=1e-6)
    assert angle_between(rows.link_quat_wxyz[0, -1, 0], np.array([1.0, 0.0, 0.0, 0.0])) < 1e-9


def test_free_fall_converges_with_the_time_step(compiled):
    errors = []
    for hz in (120, 480):
        world = compiled(stage_of(bodies.ball()), dt_s=1.0 / hz)
        _, rows = play(world, begin(world, free_pose((0, 0, 20))), 1.0, substeps=hz // 30)
        errors.append(abs(rows.com[0, -1, 0, 2] - (20.0 - 0.5 * GRAVITY)))
    assert errors[1] < 0.3 * errors[0]


def test_pendulum_period(compiled):
    """A bob on a hinge without servo swings with the period of a compound pendulum, within 1 %."""
    length, swing = 0.8, 0.15
    body = bodies.pendulum(length)
    world = compiled(stage_of(body))
    states, _ = play(world, begin(world, np.array([0, 0, 0.5, 1, 0, 0, 0, swing])), 4.0, substeps=1)
    angle = world.pose_of(states)[0][0, :, 7]
    upward = np.flatnonzero((angle[:-1] < 0) & (angle[1:] >= 0))
    crossings = (upward - angle[upward] / (angle[upward + 1] - angle[upward])) * world.dt_s
    inertia = length**2 + 0.4 * 0.05**2
    expected = 2 * np.pi * np.sqrt(inertia / (GRAVITY * length)) * (1 + swing**2 / 16)
    assert len(crossings) >= 2
    np.testing.assert_allclose(np.diff(crossings).mean(), expected, rtol=0.01)
    assert 0.9 * swing < np.abs(angle[-200:]).max() < 1.05 * swing, "it lost or gained swing"


def test_momentum_in_flight(compiled):
    """Servos are internal: with all of them at work, the centre of mass falls freely and the spin stays."""
    body = bodies.humanoid()
    world = compiled(stage_of(body), 4)
    rng = np.random.default_rng(5)
    qvel = np.zeros((4, body.nv))
    qvel[:, :6] = rng.normal(size=(4, 6))
    states = world.state_of(np.tile(bodies.rest_pose(body, (0, 0, 6)), (4, 1)), qvel)
    start = world.sense(states)
    targets = np.cumsum(rng.normal(size=(4, 15, body.nu)) * 0.08, axis=1)
    states, rows = world.rollout(states, targets, substeps=4)
    moved = np.abs(world.pose_of(states[:, -1])[0] - bodies.rest_pose(body))[:, 7:]
    assert moved.max() > 0.2, "the servos did nothing"
    fallen = rows.com_velocity - np.array([0, 0, -GRAVITY]) * rows.time_s[..., None, None]
    np.testing.assert_allclose(fallen, np.broadcast_to(start.com_velocity, fallen.shape), atol=0.02)
    size = np.linalg.norm(start.angular_momentum, axis=-1).mean()
    assert np.abs(rows.angular_momentum - start.angular_momentum).max() < 0.05 * size


def test_joint_and_quaternion_order(compiled):
    """The links are where the pose puts them, by BodyModel's own words; links of branches do not trade places."""
    first, second = bodies.humanoid(), bodies.chain(5)
    world = compiled(stage_of(first, second), 3)
    rng = np.random.default_rng(2)
    poses = np.stack([np.concatenate([random_pose(first, rng), random_pose(second, rng)]) for _ in range(3)])
    states = world.state_of(poses, rng.normal(size=(3, first.nv + second.nv)))
    rows = world.sense(states)
    for copy, pose in enumerate(poses):
        parts = [forward(first, pose[: first.nq]), forward(second, pose[first.nq :])]
        pos, quat = (np.concatenate(values) for values in zip(*parts, strict=True))
        np.testing.assert_allclose(rows.link_pos[copy, 0], pos, atol=2e-6)
        assert angle_between(rows.link_quat_wxyz[copy, 0], quat).max() < 2e-6


def test_poses_come_back(compiled):
    body = bodies.humanoid()
    world = compiled(stage_of(body, bodies.chain(3)), 2)
    rng = np.random.default_rng(3)
    qpos = np.stack([np.concatenate([random_pose(body, rng), random_pose(bodies.chain(3), rng)]) for _ in range(2)])
    qvel = rng.normal(size=(2, body.nv + bodies.chain(3).nv))
    states = world.state_of(qpos, qvel, np.array([0.5, 2.0]))
    assert states.shape == (2, world.state_size) and states.dtype == np.float64
    for got, given in zip(world.pose_of(states), (qpos, qvel), strict=True):
        np.testing.assert_allclose(got, given, atol=1e-12)
    np.testing.assert_allclose(world.sense(states).time_s[:, 0], [0.5, 2.0])


def test_servo_targets_reach_their_own_joint(compiled):
    """Each target moves the joint that it is for, and no other."""
    body = bodies.humanoid()
    world = compiled(stage_of(body, gravity=WEIGHTLESS), body.nu)
    targets = 0.3 * np.eye(body.nu)
    states = begin(world, bodies.rest_pose(body, (0, 0, 5)))
    states, _ = world.rollout(states, np.repeat(targets[:, None], 20, axis=1), substeps=4)
    qpos = world.pose_of(states[:, -1])[0]
    for copy in range(body.nu):
        reached = []
        for link, start in zip(body.links[1:], body.qpos_starts[1:], strict=False):
            if link.joint.kind == "ball":
                reached.extend(Rotation.from_quat(np.roll(qpos[copy, start : start + 4], -1)).as_rotvec())
            else:
                reached.append(qpos[copy, start])
        np.testing.assert_allclose(reached, targets[copy], atol=0.03, err_msg=f"target {copy}")


@pytest.mark.parametrize("turn", [(0.0, 0.0, 0.0), (1.0, 2.0, -0.5)])
def test_angular_velocities_are_in_the_links_own_frames(compiled, turn):
    body = bodies.body([
        bodies.link("root", -1, bodies.FREE, bodies.sphere(0.2), 5.0),
        bodies.link("tip", 0, Joint("ball", np.array([0.0, 0.5, 0.0])), bodies.sphere(0.1), 1.0),
    ])  # fmt: skip
    world = compiled(stage_of(body, gravity=WEIGHTLESS), dt_s=1e-4)
    root, ball = from_rotation_vector(np.array(turn)), from_rotation_vector(np.array([0.3, -0.8, 0.4]))
    linear, spin, rate = np.array([0.5, -1.0, 2.0]), np.array([1.0, -2.0, 0.7]), np.array([0.4, 1.5, -2.0])
    qpos = np.concatenate([[0, 0, 5], root, ball])
    states = begin(world, qpos, qvel=np.concatenate([linear, spin, rate]))
    rows = world.rollout(states, np.zeros((1, 1, 3)), substeps=10)[1]
    root_after = multiply(root, from_rotation_vector(spin * 1e-3))
    tip_after = multiply(root_after, multiply(ball, from_rotation_vector(rate * 1e-3)))
    np.testing.assert_allclose(rows.link_pos[0, 0, 0], [0, 0, 5] + linear * 1e-3, atol=2e-5)
    assert angle_between(rows.link_quat_wxyz[0, 0], np.stack([root_after, tip_after])).max() < 1e-4
    # The centre of mass moves as the parts do.
    tip_velocity = linear + rotate(root, np.cross(spin, [0.0, 0.5, 0.0]))
    np.testing.assert_allclose(rows.com_velocity[0, 0, 0], (5 * linear + tip_velocity) / 6, atol=5e-3)
