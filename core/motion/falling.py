# SPDX-License-Identifier: GPL-3.0-or-later
"""When a character lost the motion it was following, if it did."""

import numpy as np

from ..geometry.quaternions import Array

# A part may stray this far, as a share of the character's height, before the motion counts as lost.
_STRAY = 0.25


def fell_at(wanted: Array, seen: Array, dt_s: float) -> float | None:
    """Seconds until the character was down for good, or None if it kept up to the end.

    wanted, seen: (T, L, 3) metres, where the links should be and where they were, ``dt_s`` apart. Being somewhere else
    on the floor is not falling: only heights count, as a mean over the links against the height of the character.
    """
    height = float(np.median(np.ptp(wanted[..., 2], axis=1)))
    tallest = max(float(np.ptp(wanted[..., 2], axis=1).max()), height, 1e-6)
    astray = np.abs(seen[..., 2] - wanted[..., 2]).mean(-1) > _STRAY * tallest
    astray |= ~np.isfinite(seen).all((-1, -2))
    if not astray[-1]:
        return None
    kept = np.flatnonzero(~astray)
    return float((kept[-1] + 1 if len(kept) else 0) * dt_s)
