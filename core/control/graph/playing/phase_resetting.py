# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact-aligned phase resetting of gaits (control graphs, 6.1): an early touchdown begins the next stride at once.

A late touchdown resets nothing: holding the last pose for it made pushed walks fall sooner.
"""

import copy

import numpy as np

from ....body.four_legs import SOLES
from ....body.poses import link_transforms
from ....geometry.quaternions import Array
from ..model.control_graph import ControlGraph

_EARLY = 2  # fragments before the nominal touchdown in which a touchdown begins the next stride
_SWING_STEPS = 8  # control steps of swing before a contact counts as a touchdown and not as contact jitter
_DOWN_N = 50.0  # contact force on a sole from which on it carries weight


class PhaseResetting:
    """The gait phase of one character. link_positions: (F, L, 3) metres, of the links where fragments begin."""

    def __init__(self, graph: ControlGraph) -> None:
        self.graph = graph
        self.link_positions: Array = link_transforms(graph.body, graph.track.qpos[:, 0])[0]
        links = graph.body.links
        self._soles = {
            side: np.array([i for i, link in enumerate(links) if link.role in SOLES and link.side == side], dtype=int)
            for side in "LR"
        }
        self._off = dict.fromkeys(self._soles, 0)
        # By the last fragment of each stride: the side whose foot touches down at its end.
        self._strides: dict[int, str] = {}
        for chain in graph.structure.chains:
            if not chain.gait or any(not len(soles) for soles in self._soles.values()):
                continue
            half = chain.count // 2
            for side, touch in (("L", chain.touch), ("R", chain.touch + half)):
                self._strides[chain.first + (touch - 1) % chain.count] = side

    def copy(self) -> "PhaseResetting":
        """One that goes on by itself from here."""
        found = copy.copy(self)
        found._off = dict(self._off)
        return found

    def finished_stride(self, fragment: int, force: Array) -> int | None:
        """The last fragment of the stride that an early touchdown ends now, or None.

        force: (L,) newtons on the links, one control step after the last.
        """
        down = {side: bool(force[soles].sum() > _DOWN_N) for side, soles in self._soles.items()}
        swung = {side: self._off[side] >= _SWING_STEPS for side in down}
        for side, touches in down.items():
            self._off[side] = 0 if touches else self._off[side] + 1
        chain_of = self.graph.structure.chain_of
        for last, side in self._strides.items():
            near = last - _EARLY < fragment <= last and chain_of[fragment] == chain_of[last]
            if near and down[side] and swung[side]:
                return last
        return None
