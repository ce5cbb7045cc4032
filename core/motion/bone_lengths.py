# SPDX-License-Identifier: GPL-3.0-or-later
"""How long bones are, where a file says something impossible.

Importers guess where bones end. A glTF whose armature is scaled by 0.01 comes into Blender with every bone a hundred
times as long as the way to its child, and so does a limb's last one: far ends of hands and feet would be metres away.
"""

import numpy as np
from numpy.typing import NDArray

from ..geometry.quaternions import Array

_TIMES_SPAN = 2.0  # as long as this many times the way to the next joint is a matter of taste
_OF_SIZE = 0.2  # and whatever is shorter than this share of the skeleton does no harm


def replace_impossible_lengths(parents: NDArray[np.int64], heads: Array, lengths: Array) -> Array:
    """Lengths (B,) in which the impossible is replaced by the way to the farthest child, or from the parent.

    heads: (B, 3) at rest in the world, in the unit of the lengths.
    """
    has_parent = parents >= 0
    from_parent = np.where(has_parent, np.linalg.norm(heads - heads[parents], axis=-1), 0.0)
    to_child = np.zeros(len(heads))
    np.maximum.at(to_child, parents[has_parent], from_parent[has_parent])
    span = np.where(to_child > 0.0, to_child, from_parent)
    size = float(np.linalg.norm(np.ptp(heads, axis=0)))
    impossible = (span > 0.0) & (lengths > _TIMES_SPAN * span) & (lengths > _OF_SIZE * size)
    return np.asarray(np.where(impossible, span, lengths))
