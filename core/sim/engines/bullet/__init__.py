# SPDX-License-Identifier: GPL-3.0-or-later
"""Bullet: copies of a stage stepped in helper processes, one a core, with shared memory both ways.

``world`` is what the caller sees; ``pool`` and ``helper`` are the two ends of the wire; ``stepping`` and ``character``
are the loop around Bullet, ``scene`` builds its world, ``servo`` makes its motors mean what servos mean everywhere;
``frames``, ``kinematics`` and ``state_layout`` are about Bullet's own way to write poses.
"""

from importlib.util import find_spec

from ...stage import Stage
from .world import BulletWorld


class BulletEngine:
    """Bullet through pybullet, which only the helpers import."""

    name = "bullet"

    def __init__(self) -> None:
        if find_spec("pybullet") is None:
            raise ImportError("pybullet")

    def compile(self, stage: Stage, copies: int, *, dt_s: float = 1.0 / 120.0, threads: int = 0) -> BulletWorld:
        """Build N copies of the stage; ``threads`` 0 takes every core."""
        return BulletWorld(stage, copies, dt_s, threads)


__all__ = ["BulletEngine", "BulletWorld"]
