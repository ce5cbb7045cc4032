# SPDX-License-Identifier: GPL-3.0-or-later
"""Fall detection: when a character lost the motion it was following, if it did."""

import numpy as np

from ..geometry.quaternions import Array

# A part may stray this far, as a share of the character's height, before the motion counts as lost.
STRAY = 0.25


def character_height(wanted: Array) -> float:
    """Metres from the lowest to the highest link where that is most, of links' places (T, L, 3)."""
    return max(float(np.ptp(wanted[..., 2], axis=-1).max()), 1e-6)


def height_error(wanted: Array, seen: Array, tallest: float | None = None) -> Array:
    """(T,) how far the links' heights are off, as a mean over them and a share of the character's height.

    wanted, seen: (T, L, 3) metres. Being elsewhere on the floor is no error; not being a number is an infinite one.
    tallest: ``character_height`` the whole motion, where these are only some of its moments.
    """
    tallest = character_height(wanted) if tallest is None else tallest
    off = np.abs(seen[..., 2] - wanted[..., 2]).mean(-1) / tallest
    return np.where(np.isfinite(seen).all((-1, -2)), off, np.inf)


def find_fall_time(wanted: Array, seen: Array, dt_s: float) -> float | None:
    """Seconds until the character was down for good, or None if it kept up to the end.

    wanted, seen: (T, L, 3) metres, where the links should be and where they were, ``dt_s`` apart.
    """
    down = height_error(wanted, seen) > STRAY
    if not down[-1]:
        return None
    kept = np.flatnonzero(~down)
    return float((kept[-1] + 1 if len(kept) else 0) * dt_s)
