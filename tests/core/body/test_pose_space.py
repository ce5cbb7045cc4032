# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses as vectors: moving by what is between two poses leads from one to the other, whatever the joints."""

import numpy as np
import pytest

from sinew.core.body import BodyModel, Joint, Link, Shape
from sinew.core.body.build import build_body
from sinew.core.body.pose_space import PoseSpace
from sinew.core.geometry.quaternions import from_rotation_vector, multiply, normalize, rotate
from sinew.core.motion import Skeleton

from .figures import person

KINDS = ("free", "ball", "hinge", "ball")


def snake() -> BodyModel:
    """Four links one after the other: free, ball, hinge, ball."""
    names = tuple(f"part{index}" for index in range(4))
    skeleton = Skeleton(
        names, np.array([-1, 0, 1, 2]), np.zeros((4, 3)), np.tile([1.0, 0, 0, 0], (4, 1)), np.full(4, 0.2)
    )
    solid = Shape("sphere", np.array([0.1, 0, 0]), np.zeros(3))
    return BodyModel(
        skeleton,
        tuple(
            Link(name, "part", "", index - 1, Joint(kind, np.zeros(3)), (solid,), 1.0, np.zeros(3), np.eye(3))
            for index, (name, kind) in enumerate(zip(names, KINDS, strict=True))
        ),
    )


def poses(rng, *shape):
    """Random poses (..., 7 + 4 + 1 + 4) of the snake."""
    found = rng.normal(size=(*shape, 16))
    for start in (3, 7, 12):
        found[..., start : start + 4] = normalize(found[..., start : start + 4])
    return found


def same(one, other):
    """Whether poses are the same ones: q and -q are."""
    one, other = one.copy(), other.copy()
    for start in (3, 7, 12):
        for pose in (one, other):
            pose[..., start : start + 4] *= np.where(pose[..., start : start + 1] < 0, -1, 1)
    np.testing.assert_allclose(one, other, atol=1e-9)


def test_moving_by_what_is_between_arrives():
    space, rng = PoseSpace(snake()), np.random.default_rng(0)
    first, second = poses(rng, 50), poses(rng, 50)
    same(space.integrate(first, space.difference(first, second)), second)


def test_what_is_between_is_what_it_was_moved_by():
    space, rng = PoseSpace(snake()), np.random.default_rng(1)
    start, by = poses(rng, 50), 0.9 * rng.uniform(-1.0, 1.0, (50, 13))  # turns shorter than half a circle
    np.testing.assert_allclose(space.difference(start, space.integrate(start, by)), by, atol=1e-9)
    np.testing.assert_allclose(space.difference(start, start), 0.0, atol=1e-12)


def test_every_joint_has_its_own_part_of_the_vector_laid_out_like_velocities():
    body = snake()
    space = PoseSpace(body)
    start = np.array([1.0, 2, 3, 1, 0, 0, 0, 1, 0, 0, 0, 0.5, 1, 0, 0, 0])
    for index, kind in enumerate(KINDS):
        by = np.zeros(13)
        by[body.qvel_starts[index] : body.qvel_starts[index + 1]] = 0.25
        changed = np.flatnonzero(np.abs(space.integrate(start, by) - start) > 1e-6)
        expected = np.arange(body.qpos_starts[index], body.qpos_starts[index + 1])
        np.testing.assert_array_equal(changed, expected, err_msg=kind)
    assert space.integrate(start, np.eye(13)[9])[11] == pytest.approx(1.5)  # a hinge adds


def test_rotations_are_turned_in_their_own_frame_and_the_root_is_moved_in_the_world():
    space = PoseSpace(snake())
    start = poses(np.random.default_rng(2))
    by = np.zeros(13)
    by[:6] = 0.1, 0.2, 0.3, 0.7, 0.0, 0.0
    moved = space.integrate(start, by)
    np.testing.assert_allclose(moved[:3] - start[:3], [0.1, 0.2, 0.3], atol=1e-12)
    turn = from_rotation_vector(np.array([0.7, 0.0, 0.0]))
    np.testing.assert_allclose(moved[3:7], multiply(start[3:7], turn), atol=1e-12)
    # The axis it was turned about stays where it was.
    axis = np.array([1.0, 0.0, 0.0])
    np.testing.assert_allclose(rotate(moved[3:7], axis), rotate(start[3:7], axis), atol=1e-12)


def test_one_pose_and_many_vectors_and_the_other_way_round():
    space, rng = PoseSpace(snake()), np.random.default_rng(3)
    one, many, by = poses(rng), poses(rng, 5, 4), 0.5 * rng.uniform(-1, 1, (5, 4, 13))
    fan = space.integrate(one, by)
    assert fan.shape == (5, 4, 16)
    np.testing.assert_allclose(space.difference(one, fan), by, atol=1e-9)
    same(space.integrate(one, by[2, 3]), fan[2, 3])
    assert space.integrate(many, by[0, 0]).shape == (5, 4, 16)
    assert space.difference(many, one).shape == (5, 4, 13)
    np.testing.assert_allclose(space.difference(many, one)[1, 2], space.difference(many[1, 2], one), atol=1e-12)
    assert space.integrate(one[None], by[0]).shape == (4, 16)


def test_nothing_given_is_changed():
    space, rng = PoseSpace(snake()), np.random.default_rng(4)
    start, by = poses(rng, 3), rng.normal(size=(3, 13))
    kept = start.copy(), by.copy()
    space.integrate(start, by)[:] = 0.0
    space.difference(start, start)[:] = 1.0
    np.testing.assert_array_equal(start, kept[0])
    np.testing.assert_array_equal(by, kept[1])


def test_small_steps_are_velocities_of_a_real_body():
    """A pose moved by a rate times a moment has that rate, in the layout of the whole body."""
    body = build_body(person())[0]
    space, rng = PoseSpace(body), np.random.default_rng(5)
    qpos = np.zeros(body.nq)
    qpos[3] = 1.0
    for link, start in zip(body.links[1:], body.qpos_starts[1:-1], strict=True):
        if link.joint.kind == "ball":
            qpos[start] = 1.0
    rate = rng.normal(size=body.nv)
    assert (space.nq, space.nv) == (body.nq, body.nv)
    np.testing.assert_allclose(space.difference(qpos, space.integrate(qpos, 1e-4 * rate)) / 1e-4, rate, rtol=1e-6)
