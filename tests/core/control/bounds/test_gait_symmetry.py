# SPDX-License-Identifier: GPL-3.0-or-later
import numpy as np
import pytest

from sinew.core.body.mirroring import BodyMirror
from sinew.core.control.bounds.environment import compute_servo_targets
from sinew.core.control.bounds.observations import measure_kinematics, place_at_origin
from sinew.core.control.bounds.reference_trajectory import make_reference_trajectory
from sinew.core.control.tracking.facing import rotate_pose_about_z
from sinew.core.motion.io import stock

COPIES = 8


@pytest.fixture(scope="module")
def even(body):
    return make_reference_trajectory(body, stock.load_stock("walk"), symmetric=True)


def image(reference, qpos, qvel, at):
    """Mirror images of states in frames (N,) of the first stride, as they would be in the second."""
    mirror = BodyMirror(reference.body)
    ahead = np.cross(mirror.normal, [0.0, 0.0, 1.0])
    apart = np.arctan2(reference.cycle_shift[1], reference.cycle_shift[0]) - np.arctan2(ahead[1], ahead[0])
    back = np.full(len(qpos), -apart)
    both = []
    for pose, rates in ((qpos, qvel), (reference.qpos[at], reference.qvel[at])):
        turned, moved = rotate_pose_about_z(back, pose, rates)
        both.append(rotate_pose_about_z(-back, mirror.pose(turned), mirror.velocity(moved)))
    (found, rates), (own, _) = both
    found[:, :2] += reference.qpos[at + reference.steps // 2, :2] - own[:, :2]
    return found, rates


def test_both_strides_are_mirror_images(even):
    assert even.symmetric
    assert even.steps % 2 == 0
    at = np.arange(0, even.steps // 2)
    qpos, qvel = image(even, even.qpos[at], even.qvel[at], at)
    off = even.pose_space.difference(even.qpos[at + even.steps // 2], qpos)
    assert np.abs(off).max() < 0.05
    assert np.abs(qvel - even.qvel[at + even.steps // 2]).max() < 1.0


def test_the_second_stride_is_told_as_the_first_would_be(even, world_of):
    world, rng = world_of(COPIES), np.random.default_rng(2)
    at = rng.integers(even.steps // 2, size=COPIES)
    off = 0.1 * rng.normal(size=(COPIES, even.body.nv))
    qpos = even.pose_space.integrate(even.qpos[at], off)
    qvel = even.qvel[at] + rng.normal(size=off.shape)
    told = []
    for frames, states in (
        (place_at_origin(at), world.state_of(qpos, qvel)),
        (place_at_origin(at + even.steps // 2), world.state_of(*image(even, qpos, qvel, at))),
    ):
        told.append(measure_kinematics(even, world, states, world.sense(states), frames).observations())
    # The reference itself is symmetric to a few centimetres only, and velocities are what differs most.
    assert np.abs(told[0] - told[1]).mean() < 0.1
    assert np.corrcoef(told[0].ravel(), told[1].ravel())[0, 1] > 0.98


def test_corrections_of_the_second_stride_are_mirrored(even):
    body = even.body
    actions = np.zeros((2, body.nu))
    left, right = (next(i for i, link in enumerate(body.links) if link.bone == f"shin.{side}") for side in "LR")
    columns = [int(body.qvel_starts[link]) - 6 for link in (left, right)]
    actions[:, columns[0]] = 0.3
    at = np.array([2, 2 + even.steps // 2])
    change = compute_servo_targets(even, at, actions) - compute_servo_targets(even, at, np.zeros_like(actions))
    assert change[0, 0, columns[0]] == pytest.approx(0.3)
    assert change[0, 0, columns[1]] == 0.0
    assert abs(change[1, 0, columns[1]]) == pytest.approx(0.3)
    assert change[1, 0, columns[0]] == 0.0
