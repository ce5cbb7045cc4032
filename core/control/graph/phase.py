# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact-aligned phases of gaits: a stride begins when its foot comes down, be it early or late."""

import numpy as np

from ...body.clearance import SOLES
from ...body.poses import link_transforms
from ...geometry.quaternions import Array
from .control_graph import ControlGraph

_EARLY = 2  # fragments before its time in which a step down begins the next stride at once
_LATE_STEPS = 0  # control steps that the last pose is held for a foot that is late
_SWING_STEPS = 8  # control steps that a foot must have been off the floor, or it has not come down but trembles
_DOWN_N = 50.0  # on a sole: it carries something


class Phases:
    """The clock of one character's gait. places: (F, L, 3) where links are when fragments begin."""

    def __init__(self, graph: ControlGraph) -> None:
        self.graph = graph
        self.places: Array = link_transforms(graph.body, graph.track.qpos[:, 0])[0]
        links = graph.body.links
        self._soles = {
            side: np.array([i for i, link in enumerate(links) if link.role in SOLES and link.side == side], dtype=int)
            for side in "LR"
        }
        self._waited = 0
        self._off = dict.fromkeys(self._soles, 0)
        # By the last fragment of each stride: whose foot comes down at its end.
        self._strides: dict[int, str] = {}
        for chain in graph.layout.chains:
            if not chain.gait or any(not len(soles) for soles in self._soles.values()):
                continue
            half = chain.count // 2
            for touch in (chain.touch, chain.touch + half):
                first = chain.first + touch % chain.count
                last = first - 1 if first > chain.first else chain.first + chain.count - 1
                heights = {side: self._lower(first, side) for side in "LR"}
                # At a stride's beginning both feet are low; the one ahead has just come down.
                ahead = max("LR", key=lambda side: self.places[first, self._soles[side], 0].mean())
                if heights[ahead]:
                    self._strides[last] = ahead

    def _lower(self, fragment: int, side: str) -> bool:
        """Whether that foot is near the floor when the fragment begins."""
        soles = self._soles[side]
        lowest = self.places[:, soles, 2].min()
        return bool(self.places[fragment, soles, 2].min() - lowest < 0.08)

    def entered(self) -> None:
        """A fragment begins: nobody waits any more."""
        self._waited = 0

    def ended(self, fragment: int, force: Array) -> int | None:
        """The last fragment of the stride that ends now, because a foot is down before its time; None mostly.

        force: (L,) newtons on the links, one control step after the last.
        """
        down = {side: bool(force[soles].sum() > _DOWN_N) for side, soles in self._soles.items()}
        swung = {side: self._off[side] >= _SWING_STEPS for side in down}
        for side, touches in down.items():
            self._off[side] = 0 if touches else self._off[side] + 1
        for last, side in self._strides.items():
            if last - _EARLY < fragment <= last and down[side] and swung[side]:
                return last
        return None

    def waits(self, fragment: int, force: Array) -> bool:
        """Whether a stride's last fragment is held on for a foot that is not down yet."""
        if fragment not in self._strides or self._waited >= _LATE_STEPS:
            return False
        self._waited += 1
        return bool(force[self._soles[self._strides[fragment]]].sum() <= _DOWN_N)
