# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact-aligned phases of gaits: a stride begins when its foot comes down, if that is before its time.

For a foot that is late nobody waits: holding the last pose for it made pushed walks fall sooner.
"""

import numpy as np

from ....body.clearance import SOLES
from ....body.poses import link_transforms
from ....geometry.quaternions import Array
from ..model.control_graph import ControlGraph

_EARLY = 2  # fragments before its time in which a step down begins the next stride at once
_SWING_STEPS = 8  # control steps that a foot must have been off the floor, or it has not come down but trembles
_DOWN_N = 50.0  # on a sole: it carries something


class PhaseResetting:
    """The clock of one character's gait. places: (F, L, 3) where links are when fragments begin."""

    def __init__(self, graph: ControlGraph) -> None:
        self.graph = graph
        self.places: Array = link_transforms(graph.body, graph.track.qpos[:, 0])[0]
        links = graph.body.links
        self._soles = {
            side: np.array([i for i, link in enumerate(links) if link.role in SOLES and link.side == side], dtype=int)
            for side in "LR"
        }
        self._off = dict.fromkeys(self._soles, 0)
        # By the last fragment of each stride: whose foot comes down at its end.
        self._strides: dict[int, str] = {}
        for chain in graph.layout.chains:
            if not chain.gait or any(not len(soles) for soles in self._soles.values()):
                continue
            half = chain.count // 2
            for side, touch in (("L", chain.touch), ("R", chain.touch + half)):
                self._strides[chain.first + (touch - 1) % chain.count] = side

    def ended(self, fragment: int, force: Array) -> int | None:
        """The last fragment of the stride that ends now, because a foot is down before its time; None mostly.

        force: (L,) newtons on the links, one control step after the last.
        """
        down = {side: bool(force[soles].sum() > _DOWN_N) for side, soles in self._soles.items()}
        swung = {side: self._off[side] >= _SWING_STEPS for side in down}
        for side, touches in down.items():
            self._off[side] = 0 if touches else self._off[side] + 1
        chain_of = self.graph.layout.chain_of
        for last, side in self._strides.items():
            near = last - _EARLY < fragment <= last and chain_of[fragment] == chain_of[last]
            if near and down[side] and swung[side]:
                return last
        return None
