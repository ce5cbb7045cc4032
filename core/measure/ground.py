# SPDX-License-Identifier: GPL-3.0-or-later
"""How high the ground is at a place."""

import numpy as np

from ..geometry.quaternions import Array
from ..sim.stage import Terrain


def ground_height(terrain: Terrain | None, xy: Array) -> Array:
    """(...) metres: the ground's height at places (..., 2); -inf beyond a terrain's edge, where there is none.

    Without a terrain the ground is z = 0. Between a terrain's points heights are bilinear. The engines split each
    square of it into two triangles, each in its own way, and agree with this along the sides.
    """
    if terrain is None:
        return np.zeros(xy.shape[:-1])
    cells = (xy - terrain.origin[:2]) / terrain.spacing
    rows, columns = terrain.heights.shape
    inside = np.all((cells >= 0.0) & (cells <= [columns - 1, rows - 1]), axis=-1)
    cells = np.where(inside[..., None], cells, 0.0)
    column, row = (np.minimum(cells[..., i].astype(int), count - 2) for i, count in enumerate((columns, rows)))
    right, up = cells[..., 0] - column, cells[..., 1] - row
    low, high = (
        terrain.heights[r, column] * (1.0 - right) + terrain.heights[r, column + 1] * right for r in (row, row + 1)
    )
    return np.where(inside, low * (1.0 - up) + high * up, -np.inf)
