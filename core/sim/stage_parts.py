# SPDX-License-Identifier: GPL-3.0-or-later
"""What a scene has for a stage, before meshes are solids: read in Blender, sent to the worker, assembled there."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..body import Shape
from ..errors import BadStage
from ..geometry.quaternions import IDENTITY, Array
from ..motion.skeleton import freeze_array
from .stage import Terrain

EARTH: Array = np.array([0.0, 0.0, -9.81])
EARTH.setflags(write=False)


INTENTS = (
    ("brace", "Brace", "As hard as it can be while the character keeps its feet and its way"),
    ("stagger", "Stagger", "So hard that the character is thrown off its way, and catches itself"),
    ("fall", "Fall", "So hard that the character goes down"),
)
"""(name, label, help) of the reactions that the strength of a push or throw can be found for."""


@dataclass(frozen=True)
class Finding:
    """Something the animator should know about the stage, and what to do about it."""

    kind: str
    message: str
    hint: str


@dataclass(frozen=True, eq=False)
class Mesh:
    """vertices: (V, 3) metres. triangles: (F, 3) indices, counter-clockwise seen from outside."""

    vertices: Array
    triangles: NDArray[np.int64]

    def __post_init__(self) -> None:
        vertices = np.array(self.vertices, dtype=float).reshape(-1, 3)
        triangles = np.array(self.triangles, dtype=np.int64).reshape(-1, 3)
        if not np.all(np.isfinite(vertices)):
            raise BadStage("A mesh has vertices that are not numbers")
        if triangles.size and not 0 <= triangles.min() <= triangles.max() < len(vertices):
            raise BadStage(f"A mesh of {len(vertices)} vertices has faces between others")
        object.__setattr__(self, "vertices", freeze_array(vertices))
        object.__setattr__(self, "triangles", freeze_array(triangles))


@dataclass(frozen=True, eq=False)
class ObstaclePart:
    """A mesh in the world that does not move."""

    name: str
    mesh: Mesh
    friction: float = 1.0

    def __post_init__(self) -> None:
        _require_friction(self.name, self.friction)


@dataclass(frozen=True, eq=False)
class PropPart:
    """A prop or projectile, as ``Prop`` has it, made of a shape or of a mesh, either in its own frame."""

    name: str
    mass: float
    pos: Array
    shape: Shape | None = None
    mesh: Mesh | None = None
    quat_wxyz: Array = field(default_factory=lambda: IDENTITY)
    velocity: Array = field(default_factory=lambda: np.zeros(3))
    appears_s: float = 0.0
    friction: float = 1.0
    intent: str = ""

    def __post_init__(self) -> None:
        if not (np.isfinite(self.mass) and self.mass > 0.0):
            raise BadStage(f"'{self.name}' has a mass of {self.mass:g} kg", "Give it a mass above zero")
        if (self.shape is None) == (self.mesh is None):
            raise BadStage(f"'{self.name}' needs either a shape or a mesh")
        if not (np.all(np.isfinite(self.velocity)) and np.isfinite(self.appears_s)):
            raise BadStage(f"'{self.name}' has a velocity or a time that is not a number")
        _require_intent(self.name, self.intent)
        _require_friction(self.name, self.friction)


@dataclass(frozen=True, eq=False)
class PushPart:
    """A steady force (3,) newtons in the world on a bone of the character called ``character``, for a while."""

    name: str
    character: str
    bone: str
    force: Array
    start_s: float
    duration_s: float
    intent: str = ""

    def __post_init__(self) -> None:
        if not self.bone:
            raise BadStage(f"Push '{self.name}' has no bone", "Choose the bone that it pushes")
        if not np.all(np.isfinite(self.force)) or not np.isfinite(self.start_s):
            raise BadStage(f"Push '{self.name}' has a force or a time that is not a number", "Look at its keys")
        if not (np.isfinite(self.duration_s) and self.duration_s > 0.0):
            raise BadStage(f"Push '{self.name}' lasts {self.duration_s:g} s", "Give it a duration above zero")
        _require_intent(self.name, self.intent)


@dataclass(frozen=True, eq=False)
class StageParts:
    """Everything on the stage but the characters' bodies, in the world: metres, seconds from the clip's first frame.

    characters: on the stage, by the names that the pushes use.
    terrain: stands in for the flat ground. ground: whether there is any; without it everything falls.
    gravity: (3,) m/s². friction: of ground or terrain. self_collision: whether characters touch themselves.
    mass_factor: how much heavier or lighter than its body the first character is; its strength stays.
    findings: what the animator should know of how the scene was read.
    """

    characters: tuple[str, ...] = ()
    terrain: Terrain | None = None
    obstacles: tuple[ObstaclePart, ...] = ()
    props: tuple[PropPart, ...] = ()
    pushes: tuple[PushPart, ...] = ()
    gravity: Array = field(default_factory=lambda: EARTH)
    friction: float = 1.0
    ground: bool = True
    self_collision: bool = False
    mass_factor: float = 1.0
    findings: tuple[Finding, ...] = ()

    def __post_init__(self) -> None:
        _require_friction("The ground", self.friction)
        if np.shape(self.gravity) != (3,) or not np.all(np.isfinite(self.gravity)):
            raise BadStage(f"Gravity is {self.gravity}, not three numbers")
        if not (np.isfinite(self.mass_factor) and self.mass_factor > 0.0):
            raise BadStage(f"The character's mass is multiplied by {self.mass_factor:g}", "Give a factor above zero")


def _require_intent(name: str, intent: str) -> None:
    if intent and intent not in [one[0] for one in INTENTS]:
        names = ", ".join(one[0] for one in INTENTS)
        raise BadStage(f"'{name}' is meant to make somebody '{intent}'", f"Choose one of: {names}")


def _require_friction(name: str, friction: float) -> None:
    if not (np.isfinite(friction) and friction >= 0.0):
        raise BadStage(f"'{name}' has a friction of {friction:g}", "Give it 0 for ice, 1 for rubber, or between")
