# SPDX-License-Identifier: GPL-3.0-or-later
"""Where to throw something so that it meets what moves."""

import numpy as np

from ..geometry.quaternions import Array

_WAITS_S = 5.0  # how long a target stands where it was last seen


def aim_throw(start: Array, speed: float, gravity: Array, targets: Array, dt_s: float) -> tuple[Array, float | None]:
    """Velocity (3,) m/s of a throw of that speed that meets the target as soon as it can, and after how many seconds.

    start: (3,) metres. gravity: (3,) m/s². targets: (T, 3) metres, where the target is ``dt_s`` after each other from
    the throw on; then it stays. A throw that cannot reach it goes straight towards where it is now, and meets it never.
    """
    times = dt_s * np.arange(len(targets) + int(np.ceil(_WAITS_S / dt_s)))
    places = np.concatenate([targets, np.repeat(targets[-1:], len(times) - len(targets), axis=0)])
    # In a frame that falls with gravity the throw is a straight line.
    ways = places - start - 0.5 * times[:, None] ** 2 * gravity
    missing = np.linalg.norm(ways, axis=-1) - speed * times
    reached = np.flatnonzero((missing[:-1] > 0.0) & (missing[1:] <= 0.0))
    if not len(reached):
        return _along(ways[0]) * speed, None
    before = int(reached[0])
    share = missing[before] / (missing[before] - missing[before + 1])
    way = (1.0 - share) * ways[before] + share * ways[before + 1]
    return _along(way) * speed, float(times[before] + share * dt_s)


def _along(way: Array) -> Array:
    return way / max(float(np.linalg.norm(way)), 1e-12)
