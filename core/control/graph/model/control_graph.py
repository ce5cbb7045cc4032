# SPDX-License-Identifier: GPL-3.0-or-later
"""A learned control graph: everything that is needed to run the character, and nothing else."""

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
    """Fragments with feedback, and which may follow which.

    transitions: as the animator accepted them. about: how it was learned and what was measured, plain values.
    turns: (F, A) what is added to actions to turn left as fast as the skill can, and turn_rates: (F,) how fast that is,
        in radians a second; 0 where it cannot, None where nothing can.
    """

    layout: GraphStructure
    track: Track
    policies: Policies
    turns: Array
    transitions: tuple[Transition, ...] = ()
    about: Mapping[str, Any] = field(default_factory=dict)
    turn_rates: Array | None = None

    def turning(self, fragment: int, rate: float) -> Array:
        """(A,) radians on top of an action, for so many radians a second of turning left."""
        fastest = 0.0 if self.turn_rates is None else float(self.turn_rates[fragment])
        share = np.clip(rate / fastest, -1.0, 1.0) if fastest > 0.0 else 0.0
        return np.asarray(share * self.turns[fragment])

    @property
    def body(self) -> BodyModel:
        """Whom it was learned for."""
        return self.track.body

    @property
    def features(self) -> Features:
        """What its policies see and move."""
        return Features(self.body)

    @property
    def skills(self) -> tuple[Chain, ...]:
        """The chains that are skills."""
        return tuple(chain for chain in self.layout.chains if chain.kind != "transition")
