# SPDX-License-Identifier: GPL-3.0-or-later
"""A push on the trunk as somebody says it, by its newtons and the side it comes from, before anything is placed."""

import math
from dataclasses import dataclass

import numpy as np

from ..geometry.quaternions import Array
from .stage_parts import PushPart

PUSH_S = 0.1


@dataclass(frozen=True)
class TrunkPush:
    """force_n: newtons, for ``PUSH_S``. start_s: seconds from the beginning. side_rad: where it comes from."""

    force_n: float
    start_s: float
    side_rad: float

    def place(self, number: int, bone: str, character: str, ahead: Array) -> PushPart:
        """The push on a stage; ahead: (3,) the way the character faces when it begins."""
        left = np.array([-ahead[1], ahead[0], 0.0])
        towards = -(math.cos(self.side_rad) * ahead + math.sin(self.side_rad) * left)
        return PushPart(f"Push {number}", character, bone, self.force_n * towards, self.start_s, PUSH_S)
