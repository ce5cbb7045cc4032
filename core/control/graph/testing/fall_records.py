# SPDX-License-Identifier: GPL-3.0-or-later
"""Falls and time by skill, from a played character's fragments: when it fell, and when it was up again."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ....geometry.flags import find_runs
from ...tracking.reference import CONTROL_FPS
from ..model.fragments import Indices
from ..model.structure import GraphStructure

HOLD_S = 1.0
"""Seconds that a character must stay up after a get-up, to count as up."""
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


def falls_of(structure: GraphStructure, fragment_row: Indices) -> list[Fall]:
    """The falls in a row (K,) of fragments at the control rate, -1 while down. A get-up still belongs to the fall."""
    busy = off_its_feet(structure, fragment_row)
    hold = round(HOLD_S * CONTROL_FPS)
    for start, stop in find_runs(~busy):
        if start > 0 and stop - start < hold:
            busy[start:stop] = True
    found = []
    for start, stop in find_runs(busy):
        doing = structure.chains[structure.chain_of[fragment_row[start - 1]]].name if start else DOWN
        found.append(Fall(start / CONTROL_FPS, stop / CONTROL_FPS if stop < len(fragment_row) else None, doing))
    return found


def off_its_feet(structure: GraphStructure, fragment_row: Indices) -> np.ndarray:
    """(K,) whether the character was down or getting up."""
    rising = np.array([structure.chains[chain].kind == "rise" for chain in structure.chain_of])
    return np.asarray((fragment_row < 0) | rising[fragment_row])


def seconds_in(structure: GraphStructure, fragment_row: Indices) -> dict[str, float]:
    """Seconds by skill; transitions together, and lying under 'down'."""
    spent = {chain.name: 0.0 for chain in structure.chains if chain.kind != "transition"}
    spent |= {TRANSITIONS: 0.0, DOWN: 0.0}
    for fragment, count in zip(*np.unique(fragment_row, return_counts=True), strict=True):
        chain = None if fragment < 0 else structure.chains[structure.chain_of[fragment]]
        name = DOWN if chain is None else TRANSITIONS if chain.kind == "transition" else chain.name
        spent[name] += float(count) / CONTROL_FPS
    return {name: round(seconds, 2) for name, seconds in spent.items()}
