# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a body meets the ground: its lowest points, how they slide, and how deep they sink in."""

import numpy as np

from ..body import BodyModel, Link
from ..body.foot_skate import HeightUnder, height_above, mean_of_parts
from ..body.stances import detect_contacts, lowest_points
from ..geometry.quaternions import Array, rotate
from ..sim.stage import Terrain
from .ground import ground_height


def height_under(terrain: Terrain | None) -> HeightUnder | None:
    """The terrain as what is under points; None for a flat floor."""
    return None if terrain is None else lambda points: ground_height(terrain, points[..., :2])


def sole_clearance(link: Link, pos: Array, quat_wxyz: Array, terrain: Terrain | None = None) -> Array:
    """(K,) metres from the ground up to the link's lowest point, its frame at (K, 3) and (K, 4); negative inside.

    Measured straight up at corners and lowest points, so a ridge of a terrain between two corners is not felt.
    """
    points = pos[:, None] + rotate(quat_wxyz[:, None], lowest_points(link, quat_wxyz))
    return height_above(points, height_under(terrain)).min(axis=-1)


def penetration(
    body: BodyModel, pos: Array, quat_wxyz: Array, contact_force: Array, terrain: Terrain | None = None
) -> tuple[float | None, float | None]:
    """Metres that the deepest link is in the ground: mean over moments in which anything touches, and the most of all.

    Arrays as for ``foot_skate_by_force``. Ground and terrain only: obstacles and other characters are not looked into.
    """
    if not len(pos):
        return None, None
    heights = [
        sole_clearance(link, pos[:, i], quat_wxyz[:, i], terrain) for i, link in enumerate(body.links) if link.shapes
    ]
    if not heights:
        return None, None
    depth = np.maximum(-np.min(heights, axis=0), 0.0)
    return mean_of_parts([depth[detect_contacts(body, contact_force).any(axis=-1)]]), float(depth.max())
