# SPDX-License-Identifier: GPL-3.0-or-later
"""How high the ground is at a place."""

import numpy as np

from ..geometry.quaternions import Array
from ..sim.stage import Terrain
from ..sim.surface import terrain_height


def ground_height(terrain: Terrain | None, xy: Array) -> Array:
    """(...) metres: the ground's height at places (..., 2), z = 0 without a terrain.

    Beyond a terrain's edge, where the engines have nothing to stand on, it is -inf.
    """
    if terrain is None:
        return np.zeros(xy.shape[:-1])
    rows, columns = terrain.heights.shape
    cells = (xy - terrain.origin[:2]) / terrain.spacing
    inside = np.all((cells >= 0.0) & (cells <= [columns - 1, rows - 1]), axis=-1)
    return np.where(inside, terrain_height(terrain, xy.reshape(-1, 2)).reshape(inside.shape), -np.inf)
