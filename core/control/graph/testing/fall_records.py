# SPDX-License-Identifier: GPL-3.0-or-later
"""What a played character's trail tells: when it fell, when it was up again, and with what it spent its time."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ....geometry.flags import find_runs
from ...tracking.reference import CONTROL_FPS
from ..model.fragments import Indices
from ..model.structure import GraphStructure

HOLD_S = 1.0
"""Who gets up and goes down again sooner was never up."""
DOWN, TRANSITIONS = "down", "transitions"


@dataclass(frozen=True)
class Fall:
    """From losing the motion to doing a skill again. up_s: None for one that never was up. doing: what it fell in."""

    fell_s: float
    up_s: float | None
    doing: str

    def within(self, seconds: float) -> bool:
        """Whether it was up again so soon."""
        return self.up_s is not None and self.up_s - self.fell_s <= seconds

    def to_mapping(self) -> dict[str, Any]:
        """Plain values for a row."""
        return {"fell_s": round(self.fell_s, 2), "up_s": self.up_s and round(self.up_s, 2), "in": self.doing}


def falls_of(layout: GraphStructure, trail: Indices) -> list[Fall]:
    """The falls in a trail (K,) of fragments at the control rate, -1 while down. Getting up is not yet being up."""
    busy = off_its_feet(layout, trail)
    hold = round(HOLD_S * CONTROL_FPS)
    for start, stop in find_runs(~busy):
        if start > 0 and stop - start < hold:
            busy[start:stop] = True
    found = []
    for start, stop in find_runs(busy):
        doing = layout.chains[layout.chain_of[trail[start - 1]]].name if start else DOWN
        found.append(Fall(start / CONTROL_FPS, stop / CONTROL_FPS if stop < len(trail) else None, doing))
    return found


def off_its_feet(layout: GraphStructure, trail: Indices) -> np.ndarray:
    """(K,) whether the character was down or getting up."""
    rising = np.array([layout.chains[chain].kind == "rise" for chain in layout.chain_of])
    return np.asarray((trail < 0) | rising[trail])


def seconds_in(layout: GraphStructure, trail: Indices) -> dict[str, float]:
    """Seconds by skill; transitions together, and lying under 'down'."""
    spent = {chain.name: 0.0 for chain in layout.chains if chain.kind != "transition"}
    spent |= {TRANSITIONS: 0.0, DOWN: 0.0}
    for fragment, count in zip(*np.unique(trail, return_counts=True), strict=True):
        chain = None if fragment < 0 else layout.chains[layout.chain_of[fragment]]
        name = DOWN if chain is None else TRANSITIONS if chain.kind == "transition" else chain.name
        spent[name] += float(count) / CONTROL_FPS
    return {name: round(seconds, 2) for name, seconds in spent.items()}
