# SPDX-License-Identifier: GPL-3.0-or-later
"""A learned control graph: everything that is needed to run the character, and nothing else."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...body import BodyModel
from .features import Features
from .layout import Chain, Layout
from .motion_graph import Transition
from .policies import Policies
from .track import Track


@dataclass(frozen=True, eq=False)
class ControlGraph:
    """Fragments with feedback, and which may follow which.

    transitions: as the animator accepted them. about: how it was learned and what was measured, plain values.
    """

    layout: Layout
    track: Track
    policies: Policies
    transitions: tuple[Transition, ...] = ()
    about: Mapping[str, Any] = field(default_factory=dict)

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
