# SPDX-License-Identifier: GPL-3.0-or-later
"""A learned control graph: everything that is needed to run a character (control graphs, section 4)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ....body import BodyModel
from ....geometry.quaternions import Array
from ..transitions.motion_graph import Transition
from .features import Features
from .fragments import Track
from .policies import Policies
from .structure import Chain, GraphStructure

MAX_TURN_RATE = 0.6
"""Radians a second that a gait is asked to turn at most."""


@dataclass(frozen=True, eq=False)
class ControlGraph:
    """Control fragments with their policies, and the structure that links them.

    transitions: as the animator accepted them. about: how it was learned and what was measured, plain values.
    turns: (F, A) radians, offsets of actions for the fastest left turn (steering, 6.1), and turn_rates: (F,) its rate
        in radians a second; 0 where a skill cannot turn, None where none can.
    """

    structure: GraphStructure
    track: Track
    policies: Policies
    turns: Array
    transitions: tuple[Transition, ...] = ()
    about: Mapping[str, Any] = field(default_factory=dict)
    turn_rates: Array | None = None

    def turn_action(self, fragment: int, rate: float) -> Array:
        """(A,) radians on top of an action, for so many radians a second of turning left."""
        fastest = 0.0 if self.turn_rates is None else float(self.turn_rates[fragment])
        share = np.clip(rate / fastest, -1.0, 1.0) if fastest > 0.0 else 0.0
        return np.asarray(share * self.turns[fragment])

    @property
    def body(self) -> BodyModel:
        """The body that it was learned for."""
        return self.track.body

    @property
    def features(self) -> Features:
        """State and action features of its policies."""
        return Features(self.body)

    @property
    def skills(self) -> tuple[Chain, ...]:
        """The chains that are skills."""
        return tuple(chain for chain in self.structure.chains if chain.kind != "transition")
