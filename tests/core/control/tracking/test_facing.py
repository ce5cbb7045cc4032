# SPDX-License-Identifier: GPL-3.0-or-later
"""Headings are told of every pose, and a body that is turned is the same body facing another trajectory."""

import numpy as np
import pytest

from sinew.core.body import build_body, pose_of_clip
from sinew.core.body.poses import link_transforms, velocity_of_pose
from sinew.core.control.tracking.facing import (
    facing_direction,
    rotate_about_z,
    rotate_pose_about_z,
    rotation_about_z,
    twist_angle,
    upright_rotation,
)
from sinew.core.geometry.quaternions import from_rotation_vector, multiply, rotate
from sinew.core.motion.io import stock

from ...body.figures import person
from ...body.figures import turned as turned_rig


def angles_apart(one, other):
    """Radians between angles, whatever turns are between them."""
    return np.abs((np.asarray(one) - other + np.pi) % (2.0 * np.pi) - np.pi)


@pytest.fixture(scope="module")
def poses(body):
    """Poses and rates of a backflip: upside down, too."""
    clip = stock.load_stock("backflip").resample(60.0)
    return pose_of_clip(body, clip)


def test_a_turn_about_the_vertical_is_told_whatever_the_pose(poses):
    quat = poses[0][:, 3:7]
    assert twist_angle(quat, quat) == pytest.approx(0.0, abs=1e-12)
    for angle in (-3.0, -0.4, 0.0, 1.3, 3.1):
        seen = twist_angle(multiply(rotation_about_z(np.array(angle)), quat), quat)
        assert angles_apart(seen, angle).max() < 1e-9


def test_a_heading_is_the_turn_that_leaves_least_of_the_difference():
    rng = np.random.default_rng(0)
    base = from_rotation_vector(rng.normal(size=(50, 3)))
    quat = multiply(base, from_rotation_vector(rng.normal(scale=0.6, size=(50, 3))))

    def rest(angle):
        """How far it is from the base, as a cosine, once it is turned back."""
        return np.abs(np.sum(multiply(rotation_about_z(-angle), quat) * base, axis=-1))

    best = twist_angle(quat, base)
    for other in (best - 0.05, best + 0.05, best + 1.5):
        assert (rest(best) > rest(other)).all()


def test_vectors_are_turned_as_rotations_turn_them():
    rng = np.random.default_rng(1)
    angle, vectors = rng.normal(size=6), rng.normal(size=(6, 4, 3))
    expected = rotate(np.repeat(rotation_about_z(angle)[:, None], 4, axis=1), vectors)
    assert rotate_about_z(angle, vectors) == pytest.approx(expected, abs=1e-12)


def test_a_turned_motion_is_the_same_motion_seen_from_elsewhere(body, poses):
    qpos, _ = poses
    rates = velocity_of_pose(body, qpos, 1.0 / 60.0)
    angle = np.full(len(qpos), 2.1)
    posed, moved = rotate_pose_about_z(angle, qpos, rates)
    places = link_transforms(body, qpos)[0]
    assert link_transforms(body, posed)[0] == pytest.approx(rotate_about_z(angle, places), abs=1e-9)
    # Rates that are told of the turned poses are the turned rates.
    assert velocity_of_pose(body, posed, 1.0 / 60.0) == pytest.approx(moved, abs=1e-6)
    assert qpos[:, :2] == pytest.approx(poses[0][:, :2])  # and nobody's own arrays were changed


@pytest.mark.parametrize(
    "skeleton", [stock.stock_skeleton(), person(), turned_rig(person(), 130.0)], ids=["stock", "person", "turned"]
)
def test_forward_is_where_the_toes_point(skeleton):
    body, _ = build_body(skeleton)
    heads = dict(zip(skeleton.names, skeleton.rest_world()[0], strict=True))
    feet = [link for link in body.links if link.role == "foot"]
    bone = skeleton.index(feet[0].bone)
    tip = heads[feet[0].bone] + rotate(skeleton.rest_world()[1][bone], [0.0, skeleton.lengths[bone], 0.0])
    toes = [heads[link.bone] for link in body.links if link.role == "toe" and link.side == feet[0].side]
    ahead = ((toes[0] if toes else tip) - heads[feet[0].bone]) * [1.0, 1.0, 0.0]
    root = skeleton.rest_world()[1][skeleton.index(body.links[0].bone)]
    faces = facing_direction(root, upright_rotation(body))
    assert faces @ ahead / np.linalg.norm(ahead) > 0.9
    assert np.linalg.norm(faces) == pytest.approx(1.0) and faces[2] == 0.0
    # Who stands upright and faces along +X needs no turn.
    assert facing_direction(upright_rotation(body), upright_rotation(body)) == pytest.approx([1.0, 0.0, 0.0], abs=1e-12)


def test_who_walks_faces_where_it_goes(body):
    qpos, _ = pose_of_clip(body, stock.load_stock("walk"))
    trajectory = qpos[-1, :2] - qpos[0, :2]
    faces = facing_direction(qpos[:, 3:7], upright_rotation(body))[:, :2]
    assert (faces @ trajectory / np.linalg.norm(trajectory) > 0.9).all()
