# SPDX-License-Identifier: GPL-3.0-or-later
"""Which way a body faces: what is left of its motion when place and heading are taken out of it.

Headings are told against a reference pose, as the turn about the vertical that comes nearest to it. Unlike an angle
read off a single pose that is never undefined, not even upside down.
"""

import numpy as np

from ...body import BodyModel
from ...body.sagittal_plane import find_sagittal_plane
from ...geometry.angles import arctan2_exact
from ...geometry.quaternions import Array, conjugate, from_rotation_vector, multiply, rotate

_UP: Array = np.array([0.0, 0.0, 1.0])


def twist_angle(quat_wxyz: Array, base_wxyz: Array) -> Array:
    """(...,) radians about Z that turn ``base`` (..., 4) as near as possible to ``quat`` (..., 4)."""
    whole = multiply(quat_wxyz, conjugate(base_wxyz))
    return np.asarray(2.0 * arctan2_exact(whole[..., 3], whole[..., 0]))


def rotation_about_z(angle: Array) -> Array:
    """(..., 4) rotations about Z by angles (...,)."""
    half = 0.5 * np.asarray(angle)
    found = np.zeros((*half.shape, 4))
    found[..., 0], found[..., 3] = np.cos(half), np.sin(half)
    return found


def rotate_about_z(angle: Array, vectors: Array) -> Array:
    """(..., 3) vectors turned about Z by angles (...,), which may have fewer dimensions."""
    angle = np.asarray(angle)
    angle = angle.reshape((*angle.shape, *(1,) * (vectors.ndim - 1 - angle.ndim)))
    cos, sin = np.cos(angle), np.sin(angle)
    x, y = vectors[..., 0], vectors[..., 1]
    found = np.empty((*np.broadcast(cos, x).shape, 3))
    found[..., 0], found[..., 1], found[..., 2] = cos * x - sin * y, sin * x + cos * y, vectors[..., 2]
    return found


def rotate_pose_about_z(angle: Array, qpos: Array, qvel: Array) -> tuple[Array, Array]:
    """Poses (..., nq) and velocities (..., nv) turned about the world's Z axis by angles (...,)."""
    qpos, qvel = np.array(qpos), np.array(qvel)
    qpos[..., :3] = rotate_about_z(angle, qpos[..., :3])
    qpos[..., 3:7] = multiply(rotation_about_z(angle), qpos[..., 3:7])
    qvel[..., :3] = rotate_about_z(angle, qvel[..., :3])
    return qpos, qvel


def upright_rotation(body: BodyModel) -> Array:
    """(4,) the root's rotation when the body stands as at rest and faces along +X.

    Forward is where neither the left nor the right side is; a body without two sides faces along +X at rest.
    """
    rest = body.skeleton.rest_world()[1][body.skeleton.index(body.links[0].bone)]
    mirror = find_sagittal_plane(body)
    if mirror is None:
        return np.asarray(rest)
    facing_direction = np.cross(mirror.normal, _UP)  # the normal points to the left
    heading = float(np.arctan2(facing_direction[1], facing_direction[0]))
    return np.asarray(multiply(from_rotation_vector(-heading * _UP), rest))


def facing_direction(quat_wxyz: Array, upright_wxyz: Array) -> Array:
    """(..., 3) the level direction that roots (..., 4) face, of length one."""
    level = rotation_about_z(twist_angle(quat_wxyz, upright_wxyz))
    return rotate(level, np.broadcast_to(np.array([1.0, 0.0, 0.0]), (*quat_wxyz.shape[:-1], 3)))
