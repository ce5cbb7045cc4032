# SPDX-License-Identifier: GPL-3.0-or-later
"""Drives a live character around obstacles by arrow keys, as one does who sees where it is."""

from __future__ import annotations

import math
import time
from typing import Any

_BESIDE_M, _THERE_M, _FAR_M = 1.1, 0.5, 2.0
_EVERY_S, _MOST_S = 0.25, 120.0
_KEYS = {
    0: ("Up",),
    1: ("Up", "Left"),
    2: ("Left",),
    3: ("Down", "Left"),
    4: ("Down",),
    5: ("Down", "Right"),
    6: ("Right",),
    7: ("Up", "Right"),
}


class Driver:
    """Holds arrow keys over a view that looks along +X, so that the character passes obstacles on alternate sides."""

    def __init__(self, desk: Any, obstacles: list[list[float]]) -> None:
        self.desk, self.held = desk, ()
        sides = [-1.0 if number % 2 == 0 else 1.0 for number in range(len(obstacles))]
        self.points = [(x, y + side * _BESIDE_M) for (x, y), side in zip(obstacles, sides)]
        self.points.append((obstacles[-1][0] + _FAR_M, 0.0))

    def go(self) -> list[list[float]]:
        """Go by all of the points; gives where it was four times a second. One that has fallen is let get up."""
        way, began, left, lying = [], time.monotonic(), list(self.points), 0
        pictures = 0
        while left:
            found = self.desk.live()
            x, y, _ = found["root"]
            way.append([round(x, 2), round(y, 2)])
            if len(way) // 8 > pictures:
                pictures += 1
                self.desk.shoot("way_%d" % pictures)
            if time.monotonic() - began > _MOST_S:
                self._hold(())
                self.desk.check(False, "It comes by all of the points: %s, %s" % (left, way))
            lying = lying + 1 if found["limp"] else 0
            if lying == 4:
                self.desk.key_at("l")
            away = left[0][0] - x, left[0][1] - y
            if math.hypot(*away) < _THERE_M or away[0] < 0.0:  # it is there, or past it
                left.pop(0)
                continue
            self._hold(_KEYS[round(math.atan2(away[1], away[0]) / (math.pi / 4.0)) % 8])
            time.sleep(_EVERY_S)
        self._hold(())
        return way

    def _hold(self, keys: tuple[str, ...]) -> None:
        """Hold those keys and no others."""
        if set(keys) == set(self.held):
            return
        for key in self.held:
            if key not in keys:
                self.desk.screen.release(key)
        for key in keys:
            if key not in self.held:
                self.desk.screen.press(key)
        self.held = keys
