# SPDX-License-Identifier: GPL-3.0-or-later
"""Angles whose last bit does not depend on where arrays lie in memory."""

import numpy as np

from .quaternions import Array


def arctan2_exact(y: Array, x: Array) -> Array:
    """``np.arctan2`` of copies that lie whole in memory.

    NumPy has two ways to compute it, which differ in the last bit. For a view with gaps, such as ``quat[..., 3]``, it
    takes the slower one whenever the result happens to be allocated right behind the array: then the same run gives
    other bits.
    """
    return np.asarray(np.arctan2(np.asarray(y, order="C"), np.asarray(x, order="C")))
