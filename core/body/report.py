# SPDX-License-Identifier: GPL-3.0-or-later
"""What was chosen for a body, and why, for people to read and override."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class BoneChoice:
    """What became of a bone.

    use: 'link', 'merge' (moves with ``link`` rigidly in the simulation) or 'ride' (keeps its own animation).
    why: 'override', 'name', 'shape' (of the skeleton), 'short' (too short or fine for a link of its own), 'between'
        (lies between two links) or 'none' (nothing gives it a part in the body).
    link: the bone whose link it is or moves with, '' for one that is not simulated.
    """

    bone: str
    use: str
    role: str
    side: str
    why: str
    link: str
    note: str = ""


@dataclass(frozen=True)
class LinkChoice:
    """How a link came to be. mass: kg; load: kg·m that its servo is made for."""

    bone: str
    role: str
    side: str
    parent: str
    mass: float
    load: float
    joint: str
    solid: str


@dataclass(frozen=True)
class BodyReport:
    """Every choice of a body. kind: 'biped' or 'quadruped'. stature in metres, mass in kg. notes: what to look at."""

    kind: str
    stature: float
    mass: float
    body_preset: str
    gain_preset: str
    bones: tuple[BoneChoice, ...]
    links: tuple[LinkChoice, ...]
    notes: tuple[str, ...] = ()

    def to_mapping(self) -> Mapping[str, Any]:
        """Plain values for a JSON file."""
        return asdict(self)

    def choice(self, bone: str) -> BoneChoice:
        """What became of one bone."""
        return next(choice for choice in self.bones if choice.bone == bone)
