# SPDX-License-Identifier: GPL-3.0-or-later
"""Lower legs that end above the soles: what stands is the foot, however far the skin of the leg goes down."""

import numpy as np

from ..geometry.quaternions import Array, rotate
from .fit_shapes import capsule_between
from .four_legs import lowest_height
from .model import BodyModel, Shape

_ABOVE = 0.5  # of the foot's height over its sole: lower than that no leg ends


def end_above_soles(body: BodyModel, shapes: dict[str, Shape]) -> dict[str, Shape]:
    """Fitted shapes by bone, in the world at rest, with capsules of lower legs that end above the soles of their feet.

    A robot's legs are often as wide as its ankles and reach the ground: it would stand on their round ends, and roll.
    """
    found = dict(shapes)
    for link in body.links:
        above = body.links[link.parent] if link.parent >= 0 else None
        if link.role != "foot" or above is None or above.role != "shin":
            continue
        foot, shin = shapes.get(link.bone), shapes.get(above.bone)
        if foot is None or shin is None or shin.kind != "capsule" or foot.kind != "box":
            continue
        sole = _lowest(foot)
        top = 2.0 * float(foot.pos[2]) - sole
        found[above.bone] = _raised(shin, sole + _ABOVE * (top - sole))
    return found


def _raised(shape: Shape, height: float) -> Shape:
    """The capsule without what of it is lower than that; as it is where it is upright enough for nothing to be."""
    radius, half = float(shape.size[0]), float(shape.size[1])
    axis = rotate(shape.quat_wxyz, np.array([0.0, 0.0, half]))
    low, high = sorted((shape.pos - axis, shape.pos + axis), key=lambda end: float(end[2]))
    missing = height - (float(low[2]) - radius)
    rise = float(high[2] - low[2])
    if missing <= 0.0 or rise <= missing:
        return shape
    return capsule_between(high, low + (high - low) * missing / rise, radius)


def _lowest(shape: Shape) -> float:
    """Metres: how low the shape's lowest point is."""
    here, straight = np.zeros((1, 3)), np.array([[1.0, 0.0, 0.0, 0.0]])
    found: Array = lowest_height(shape, here, straight)
    return float(found[0])
