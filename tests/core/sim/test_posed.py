# SPDX-License-Identifier: GPL-3.0-or-later
"""States with other poses: the poses come back, and all else is as it was."""

import numpy as np
import pytest

from sinew.core.sim.stage import Prop

from . import bodies
from .playing import begin, free_pose, play, stage_of


@pytest.fixture
def midway(compiled):
    """Two characters and a ball that has been falling for a while, and other poses for them."""
    chain = bodies.chain(4, kp=50.0, kd=5.0, torque_limit=100.0)
    ball = Prop("ball", 1.0, np.array([0.0, -3.0, 5.0]), bodies.sphere(0.1), velocity=np.array([1.0, 0.0, 0.0]))
    late = Prop("late", 1.0, np.array([0.0, -5.0, 5.0]), bodies.sphere(0.1), appears_s=9.0)
    world = compiled(stage_of(chain, bodies.brick(), props=(ball, late)), 3)
    start = begin(world, bodies.rest_pose(chain, (0, 0, 2)), free_pose((3, 0, 2)))
    states = play(world, start, 0.2)[0][:, -1]
    rng = np.random.default_rng(0)
    qpos, qvel = (np.array(values) for values in world.pose_of(states))
    qpos[:, :3] += rng.normal(size=(3, 3))
    for first in (3, 7, 12, chain.nq + 3):
        turned = qpos[:, first : first + 4] + 0.3 * rng.normal(size=(3, 4))
        qpos[:, first : first + 4] = turned / np.linalg.norm(turned, axis=-1, keepdims=True)
    qpos[:, 11] += 0.4
    return world, states, qpos, qvel + rng.normal(size=qvel.shape)


def test_the_poses_given_come_back(midway):
    world, states, qpos, qvel = midway
    for got, given in zip(world.pose_of(world.replace_pose(states, qpos, qvel)), (qpos, qvel), strict=True):
        np.testing.assert_allclose(got, given, atol=1e-9)


def test_props_and_time_stay(midway):
    world, states, qpos, qvel = midway
    before, after = world.sense(states), world.sense(world.replace_pose(states, qpos, qvel))
    np.testing.assert_array_equal(after.time_s, before.time_s)
    np.testing.assert_array_equal(after.prop_pos, before.prop_pos)
    np.testing.assert_array_equal(after.prop_quat_wxyz, before.prop_quat_wxyz)
    assert before.prop_pos[0, 0, 0, 2] < 4.9  # it has been falling
    assert np.abs(after.link_pos - before.link_pos).max() > 0.1


def test_props_go_on_as_if_nothing_had_happened(midway):
    world, states, qpos, qvel = midway
    calm = play(world, states, 0.2)[1]
    moved = play(world, world.replace_pose(states, qpos, qvel), 0.2)[1]
    np.testing.assert_allclose(moved.prop_pos, calm.prop_pos, atol=1e-9)
    np.testing.assert_allclose(moved.time_s, calm.time_s)


def test_the_body_goes_on_as_from_a_new_state_of_that_pose(midway):
    world, states, qpos, qvel = midway
    rows = play(world, world.replace_pose(states, qpos, qvel), 0.1)[1]
    fresh = play(world, world.state_of(qpos, qvel, 0.2), 0.1)[1]
    np.testing.assert_allclose(rows.link_pos, fresh.link_pos, atol=1e-4)


def test_its_own_pose_changes_nothing_and_states_given_are_not_written_to(midway):
    world, states, qpos, qvel = midway
    kept = states.copy()
    np.testing.assert_allclose(world.replace_pose(states, *world.pose_of(states)), states, atol=1e-9)
    world.replace_pose(states, qpos, qvel)
    np.testing.assert_array_equal(states, kept)
