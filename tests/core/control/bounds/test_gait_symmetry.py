# SPDX-License-Identifier: GPL-3.0-or-later
import numpy as np
import pytest

from sinew.core.body.mirroring import BodyMirror
from sinew.core.control.bounds.course import make_course
from sinew.core.control.bounds.environment import targets_of
from sinew.core.control.bounds.observations import begun, see
from sinew.core.control.tracking.facing import rotate_pose_about_z
from sinew.core.motion.io import stock

COPIES = 8


@pytest.fixture(scope="module")
def even(body):
    return make_course(body, stock.load_stock("walk"), even=True)


def image(course, qpos, qvel, at):
    """Mirror images of states in frames (N,) of the first stride, as they would be in the second."""
    mirror = BodyMirror(course.body)
    ahead = np.cross(mirror.normal, [0.0, 0.0, 1.0])
    apart = np.arctan2(course.shift[1], course.shift[0]) - np.arctan2(ahead[1], ahead[0])
    back = np.full(len(qpos), -apart)
    both = []
    for pose, rates in ((qpos, qvel), (course.qpos[at], course.rates[at])):
        turned, moved = rotate_pose_about_z(back, pose, rates)
        both.append(rotate_pose_about_z(-back, mirror.pose(turned), mirror.velocity(moved)))
    (found, rates), (own, _) = both
    found[:, :2] += course.qpos[at + course.steps // 2, :2] - own[:, :2]
    return found, rates


def test_both_strides_are_mirror_images(even):
    assert even.even
    assert even.steps % 2 == 0
    at = np.arange(0, even.steps // 2)
    qpos, qvel = image(even, even.qpos[at], even.rates[at], at)
    off = even.space.difference(even.qpos[at + even.steps // 2], qpos)
    assert np.abs(off).max() < 0.05
    assert np.abs(qvel - even.rates[at + even.steps // 2]).max() < 1.0


def test_the_second_stride_is_told_as_the_first_would_be(even, world_of):
    world, rng = world_of(COPIES), np.random.default_rng(2)
    at = rng.integers(even.steps // 2, size=COPIES)
    off = 0.1 * rng.normal(size=(COPIES, even.body.nv))
    qpos = even.space.integrate(even.qpos[at], off)
    qvel = even.rates[at] + rng.normal(size=off.shape)
    told = []
    for frames, states in (
        (begun(at), world.state_of(qpos, qvel)),
        (begun(at + even.steps // 2), world.state_of(*image(even, qpos, qvel, at))),
    ):
        told.append(see(even, world, states, world.sense(states), frames).observed())
    # The course itself is even to a few centimetres only, and rates are what differs most.
    assert np.abs(told[0] - told[1]).mean() < 0.1
    assert np.corrcoef(told[0].ravel(), told[1].ravel())[0, 1] > 0.98


def test_corrections_of_the_second_stride_are_mirrored(even):
    body = even.body
    actions = np.zeros((2, body.nu))
    left, right = (next(i for i, link in enumerate(body.links) if link.bone == f"shin.{side}") for side in "LR")
    columns = [int(body.qvel_starts[link]) - 6 for link in (left, right)]
    actions[:, columns[0]] = 0.3
    at = np.array([2, 2 + even.steps // 2])
    change = targets_of(even, at, actions) - targets_of(even, at, np.zeros_like(actions))
    assert change[0, 0, columns[0]] == pytest.approx(0.3)
    assert change[0, 0, columns[1]] == 0.0
    assert abs(change[1, 0, columns[1]]) == pytest.approx(0.3)
    assert change[1, 0, columns[0]] == 0.0
