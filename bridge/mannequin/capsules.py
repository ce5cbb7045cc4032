# SPDX-License-Identifier: GPL-3.0-or-later
"""Clothes for any skeleton: a tapered capsule along every bone and a ball in every joint.

A bone runs along its own +Y axis, but FBX files often have that point anywhere: then capsules lead to the next joints.
"""

import numpy as np

from ...core.geometry.quaternions import Array, to_matrix
from ...core.motion import Skeleton
from .mesh_primitives import BODY, JOINT, Axes, SkinnedPart, ball, loft

_SLENDER, _STOUTEST = 0.13, 0.4  # a capsule's radius beside its length
_THINNEST, _THICKEST = 0.016, 0.034  # and beside the skeleton's size
_ALONG = np.cos(np.radians(35.0))  # a joint in this direction, or nearer, is where the bone leads
_HERE = 0.01  # of the skeleton's size: a joint as near as this is in the same place


def make_capsule_parts(skeleton: Skeleton) -> list[SkinnedPart]:
    """Capsules (body) and balls (joints), each moved by one bone."""
    heads, quats = skeleton.rest_world()
    axes = to_matrix(quats)
    size = _size(heads)
    made: list[SkinnedPart] = []
    leading = _leading(skeleton, heads, axes[..., 1], size)
    for bone in range(len(skeleton)):
        weights = np.zeros(len(skeleton))
        weights[bone] = 1.0
        radius = 0.0
        for along in leading[bone]:
            length = float(np.linalg.norm(along))
            radius = min(float(np.clip(_SLENDER * length, _THINNEST * size, _THICKEST * size)), _STOUTEST * length)
            if length > 1e-4 * size:
                made.append(_capsule(heads[bone], _turned(axes[bone], along / length), length, radius, weights))
        if skeleton.parents[bone] >= 0 and radius > 0.0:
            joint = 0.8 * radius
            vertices, faces = ball(heads[bone], (joint, joint, joint), sides=12, rings=7)
            made.append(SkinnedPart(vertices, faces, JOINT, np.tile(weights, (len(vertices), 1))))
    return made or [_dot(heads[0], size, len(skeleton))]


def _leading(skeleton: Skeleton, heads: Array, forward: Array, size: float) -> list[list[Array]]:
    """For every bone the ways (3,) from its head that it covers: along its own axis (B, 3), or to the next joints."""
    found: list[list[Array]] = []
    crooked = np.zeros(len(skeleton), dtype=bool)
    for bone in range(len(skeleton)):
        ways = [heads[child] - heads[bone] for child in skeleton.children(bone)]
        ways = [way for way in ways if np.linalg.norm(way) > _HERE * size]
        parent = int(skeleton.parents[bone])
        if ways:
            crooked[bone] = all(way @ forward[bone] < _ALONG * np.linalg.norm(way) for way in ways)
        elif parent >= 0 and crooked[parent]:  # its own axis is not to be trusted either: as its parent goes on
            crooked[bone] = True
            before = heads[bone] - heads[parent]
            ways = [0.5 * min(1.0, skeleton.lengths[bone] / max(float(np.linalg.norm(before)), 1e-9)) * before]
        found.append(ways if crooked[bone] else [skeleton.lengths[bone] * forward[bone]])
    return found


def _turned(axes: Array, along: Array) -> Array:
    """Axes (3, 3) in columns whose second one is ``along``; as they were if it is that already."""
    if along @ axes[:, 1] > 1.0 - 1e-9:
        return axes
    side = axes[:, np.argmin(np.abs(along @ axes))]
    side = np.cross(along, side)
    side /= np.linalg.norm(side)
    return np.stack([side, along, np.cross(side, along)], axis=-1)


def _capsule(head: Array, axes: Array, length: float, radius: float, weights: Array) -> SkinnedPart:
    # Domes as deep as the ends are thick, inside the bone's own length.
    start, stop = 0.9 * radius, 0.7 * radius
    rows = [
        (1.1 * start, 0.0, 0.0, start, start, start),
        (0.45 * length, 0.0, 0.0, radius, radius, radius),
        (length - 1.1 * stop, 0.0, 0.0, stop, stop, stop),
    ]
    vertices, faces = loft(
        Axes(head, axes[:, 1], axes[:, 0], axes[:, 2]), rows, sides=14, rings=7, rounding=(start, stop)
    )
    return SkinnedPart(vertices, faces, BODY, np.tile(weights, (len(vertices), 1)))


def _dot(head: Array, size: float, bones: int) -> SkinnedPart:
    """Something to see of a skeleton whose bones have no length."""
    vertices, faces = ball(head, (0.05 * size,) * 3, sides=12, rings=7)
    weights = np.zeros((len(vertices), bones))
    weights[:, 0] = 1.0
    return SkinnedPart(vertices, faces, BODY, weights)


def _size(heads: Array) -> float:
    """Metres: how big the whole skeleton is; 1 where it is a single point."""
    extent = float(np.linalg.norm(heads.max(axis=0) - heads.min(axis=0)))
    return extent if extent > 1e-6 else 1.0
