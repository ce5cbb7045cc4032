# SPDX-License-Identifier: GPL-3.0-or-later
"""What is on the stage: characters, ground or terrain, obstacles, props, pushes; engine-free data."""

from dataclasses import dataclass, field

import numpy as np

from ..body import BodyModel, Shape
from ..errors import BadMotion
from ..geometry.quaternions import IDENTITY, Array
from ..motion.skeleton import freeze_array


@dataclass(frozen=True, eq=False)
class Character:
    """A body on the stage. Characters touch each other; ``self_collision`` lets one touch itself."""

    body: BodyModel
    name: str = ""
    self_collision: bool = False


@dataclass(frozen=True, eq=False)
class Terrain:
    """A height field instead of the flat ground.

    heights: (R, C) metres; row r, column c stands at x = origin[0] + c * spacing, y = origin[1] + r * spacing.
    """

    heights: Array
    spacing: float
    origin: Array

    def __post_init__(self) -> None:
        heights = np.array(self.heights, dtype=float)
        if heights.ndim != 2 or min(heights.shape) < 2 or not np.all(np.isfinite(heights)) or self.spacing <= 0:
            raise BadMotion(f"A terrain of {heights.shape} heights, {self.spacing} m apart, is no surface")
        object.__setattr__(self, "heights", freeze_array(heights))
        object.__setattr__(self, "origin", freeze_array(np.array(self.origin, dtype=float)))


@dataclass(frozen=True, eq=False)
class Obstacle:
    """Something that does not move: convex pieces, each (V, 3) metres in the world."""

    name: str
    pieces: tuple[Array, ...]
    friction: float = 1.0


@dataclass(frozen=True, eq=False)
class Prop:
    """Something that can be moved: a shape, or convex pieces (V, 3) in its own frame, with a mass in kg.

    pos, quat_wxyz: where it is when it appears; velocity: m/s, angular_velocity: rad/s in the world, at that moment.
    appears_s: when. A projectile is a prop that appears in flight; before that it takes no part.
    intent: the reaction that its mass is to be found for, one of ``stage_parts.INTENTS``; '' for its own mass.
    """

    name: str
    mass: float
    pos: Array
    shape: Shape | None = None
    pieces: tuple[Array, ...] = ()
    quat_wxyz: Array = field(default_factory=lambda: IDENTITY)
    velocity: Array = field(default_factory=lambda: np.zeros(3))
    angular_velocity: Array = field(default_factory=lambda: np.zeros(3))
    appears_s: float = 0.0
    friction: float = 1.0
    intent: str = ""

    def __post_init__(self) -> None:
        if not (np.isfinite(self.mass) and self.mass > 0):
            raise BadMotion(f"'{self.name}' has a mass of {self.mass} kg", "Give it a mass above zero")
        if (self.shape is None) == (not self.pieces):
            raise BadMotion(f"'{self.name}' needs either a shape or convex pieces")


@dataclass(frozen=True, eq=False)
class Push:
    """A force on a link for a while: (3,) newtons in the world, at the link's centre of mass.

    intent: the reaction that its strength is to be found for, one of ``stage_parts.INTENTS``, together with all others
    of its name; '' for its own force.
    """

    character: int
    bone: str
    force: Array
    start_s: float
    duration_s: float
    name: str = ""
    intent: str = ""


@dataclass(frozen=True, eq=False)
class Stage:
    """Everything that a world is made of. Gravity is (3,) m/s²; friction is the ground's coefficient."""

    characters: tuple[Character, ...]
    terrain: Terrain | None = None
    obstacles: tuple[Obstacle, ...] = ()
    props: tuple[Prop, ...] = ()
    pushes: tuple[Push, ...] = ()
    gravity: Array = field(default_factory=lambda: np.array([0.0, 0.0, -9.81]))
    friction: float = 1.0
