# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a body meets the ground: its lowest points, how they slide, and how deep they sink in."""

import numpy as np
from numpy.typing import NDArray

from ..body import BodyModel, Link
from ..body.four_legs import find_front_feet
from ..body.stances import detect_contacts, detect_support, lowest_points
from ..geometry.quaternions import Array, rotate
from ..sim.stage import Terrain
from .ground import ground_height

# Points that are no more than this above the ground or the lowest of them are on it too: all corners of a flat sole.
_LEVEL_M = 0.001
# Without forces to tell, a foot stands where it is as low and as slow as this. What is faster swings.
_LOW_M, _SLOW_M_S = 0.02, 0.5


def sole_links(body: BodyModel) -> NDArray[np.int64]:
    """The links that stand: feet and toes, shins of legs that have no foot, and front feet."""
    footed = {link.side for link in body.links if link.role == "foot"}
    found = [
        index
        for index, link in enumerate(body.links)
        if link.role in ("foot", "toe") or (link.role == "shin" and link.side not in footed)
    ]
    return np.array(sorted({*found, *find_front_feet(body).tolist()}), dtype=np.int64)


def sole_clearance(link: Link, pos: Array, quat_wxyz: Array, terrain: Terrain | None = None) -> Array:
    """(K,) metres from the ground up to the link's lowest point, its frame at (K, 3) and (K, 4); negative inside.

    Measured straight up at corners and lowest points, so a ridge of a terrain between two corners is not felt.
    """
    points = pos[:, None] + rotate(quat_wxyz[:, None], lowest_points(link, quat_wxyz))
    return _above_ground(points, terrain).min(axis=-1)


def sole_sliding_speed(
    link: Link, pos: Array, quat_wxyz: Array, dt_s: float, terrain: Terrain | None = None
) -> tuple[Array, Array]:
    """Horizontal speed (K - 1,) in m/s of the link's lowest points from moment to moment, and their height in metres.

    pos, quat_wxyz: the link's frame, (K, 3) and (K, 4). The points are fixed in the link, and those are taken that are
    in the ground at both ends of the step, or else lowest, by the higher of their two heights: the heel while the foot
    comes down on it, the ball while it rolls off, both while it stands. So a foot that rolls does not slide, though its
    ankle moves.
    """
    at = lowest_points(link, quat_wxyz)
    local = np.concatenate([at[:-1], at[1:]], axis=1)
    before = pos[:-1, None] + rotate(quat_wxyz[:-1, None], local)
    after = pos[1:, None] + rotate(quat_wxyz[1:, None], local)
    higher = np.maximum(_above_ground(before, terrain), _above_ground(after, terrain))
    height = higher.min(axis=-1)
    with np.errstate(invalid="ignore"):  # beyond a terrain's edge everything is infinitely high
        level = ~(higher - np.maximum(height, 0.0)[:, None] > _LEVEL_M)
    moved = np.linalg.norm((after - before)[..., :2], axis=-1)
    return np.sum(moved * level, axis=-1) / level.sum(axis=-1) / dt_s, height


def foot_skate(
    body: BodyModel, pos: Array, quat_wxyz: Array, contact_force: Array, dt_s: float, terrain: Terrain | None = None
) -> float | None:
    """Foot skate in m/s: the mean horizontal speed of the soles over all steps that begin and end carried.

    pos: (K, L, 3), quat_wxyz: (K, L, 4) the links' frames, contact_force: (K, L, 3) newtons. Each foot, and each toe
    that is a link of its own, counts by itself. None where no foot ever stands.
    """
    stands = detect_support(body, contact_force)
    speeds = []
    for index in sole_links(body):
        speed, _ = sole_sliding_speed(body.links[index], pos[:, index], quat_wxyz[:, index], dt_s, terrain)
        speeds.append(speed[stands[:-1, index] & stands[1:, index]])
    return _mean(speeds)


def foot_skate_by_shape(
    body: BodyModel, pos: Array, quat_wxyz: Array, dt_s: float, terrain: Terrain | None = None
) -> float | None:
    """Foot skate in m/s of a motion that knows no forces, otherwise as ``foot_skate``.

    A sole stands while it is lower than 2 cm and slower than 0.5 m/s: a foot that swings passes as low, not as slow.
    """
    speeds = []
    for index in sole_links(body):
        speed, height = sole_sliding_speed(body.links[index], pos[:, index], quat_wxyz[:, index], dt_s, terrain)
        speeds.append(speed[(height < _LOW_M) & (speed < _SLOW_M_S)])
    return _mean(speeds)


def penetration(
    body: BodyModel, pos: Array, quat_wxyz: Array, contact_force: Array, terrain: Terrain | None = None
) -> tuple[float | None, float | None]:
    """Metres that the deepest link is in the ground: mean over moments in which anything touches, and the most of all.

    Arrays as for ``foot_skate``. Ground and terrain only: obstacles and other characters are not looked into.
    """
    if not len(pos):
        return None, None
    heights = [
        sole_clearance(link, pos[:, i], quat_wxyz[:, i], terrain) for i, link in enumerate(body.links) if link.shapes
    ]
    if not heights:
        return None, None
    depth = np.maximum(-np.min(heights, axis=0), 0.0)
    return _mean([depth[detect_contacts(body, contact_force).any(axis=-1)]]), float(depth.max())


def _above_ground(points: Array, terrain: Terrain | None) -> Array:
    return np.asarray(points[..., 2] - ground_height(terrain, points[..., :2]))


def _mean(parts: list[Array]) -> float | None:
    values = np.concatenate([np.zeros(0), *parts])
    return float(values.mean()) if values.size else None
