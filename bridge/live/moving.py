# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator moves with Blender's own tools while somebody is live: things of the stage, and a goal."""

import time
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix

_SAME = 1e-4  # Blender units, or parts of a turn
_EVERY_S = 0.2  # the stage is built anew for what stands on it
_NEAR_M, _WALK_M_S = 0.3, 1.3


class MovedThings:
    """Notices what was moved by hand. metres: a Blender unit.

    Where each thing began, where it was seen or put last, and which message told the worker of it.
    """

    def __init__(self, obstacles: tuple[str, ...], metres: float) -> None:
        self._metres = metres
        self._begun: dict[str, Matrix] = {}
        self._last: dict[str, Matrix] = {}
        self._told: dict[str, tuple[int, float]] = {}
        self.obstacles = obstacles
        for name in obstacles:
            self.note(name)

    def note(self, name: str) -> None:
        """A thing is where it is by what was simulated, or from the beginning."""
        obj = bpy.data.objects.get(name)
        if obj is not None:
            self._begun.setdefault(name, obj.matrix_world.copy())
            self._last[name] = obj.matrix_world.copy()

    def find_moved(self, name: str) -> dict[str, Any] | None:
        """The command that puts a thing where somebody has put it; None for what nobody touched."""
        obj, last = bpy.data.objects.get(name), self._last.get(name)
        if obj is None or last is None or _is_same(obj.matrix_world, last):
            return None
        if time.monotonic() - self._told.get(name, (0, 0.0))[1] < _EVERY_S:
            return None
        self._last[name] = obj.matrix_world.copy()
        place, turn, _ = (obj.matrix_world @ self._begun[name].inverted_safe()).decompose()
        return {"do": "move", "thing": name, "by": [self._metres * part for part in place], "turn": list(turn)}

    def tell(self, name: str, sent: int) -> None:
        """The worker was told so, by that message."""
        self._told[name] = sent, time.monotonic()

    def is_held(self, name: str, seen: int) -> bool:
        """Whether what comes from the worker is older than what a hand has done, or a hand is at it just now."""
        obj, last = bpy.data.objects.get(name), self._last.get(name)
        by_hand = obj is not None and last is not None and not _is_same(obj.matrix_world, last)
        return by_hand or seen < self._told.get(name, (0, 0.0))[0]


def _is_same(one: Matrix, other: Matrix) -> bool:
    return bool(np.abs(np.array(one) - np.array(other)).max() < _SAME)


def towards_goal(place: np.ndarray, goal: bpy.types.Object, metres: float) -> tuple[float, float]:
    """m/s along X and Y from a place (3,) in metres to an object; none for who is there."""
    away = metres * np.array(goal.matrix_world.translation)[:2] - place[:2]
    far = float(np.linalg.norm(away))
    speed = _WALK_M_S if far > _NEAR_M else 0.0
    x, y = np.round(speed * away / max(far, 1e-9), 2)
    return float(x), float(y)
