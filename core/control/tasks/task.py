# SPDX-License-Identifier: GPL-3.0-or-later
"""What a task is: how it begins, what it sees, what it earns, and when it is over, for N characters at once."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...body import BodyModel
from ...errors import BadStage
from ...geometry.quaternions import Array
from ...sim.stage import Character, Stage
from ...sim.surface import terrain_height
from ..tracking.facing import rotate_about_z

Flags = NDArray[np.bool_]
CONTROL_FPS = 30.0


@dataclass(frozen=True, eq=False)
class Moment:
    """N characters at a control step. root: (N, 3) metres, heading: (N,) radians about Z, com: (N, 3) metres,
    com_velocity: (N, 3) m/s, all in the world. links: (N, L, 3) metres, link_forces: (N, L, 3) newtons that touch
    them, props: (N, P, 3) metres; for tasks that ask for them (``senses``).
    """

    root: Array
    heading: Array
    com: Array
    com_velocity: Array
    links: Array | None = None
    link_forces: Array | None = None
    props: Array | None = None

    def __len__(self) -> int:
        return len(self.root)

    def of(self, number: int) -> "Moment":
        """One of them."""
        part = slice(number, number + 1)
        more = [None if array is None else array[part] for array in (self.links, self.link_forces, self.props)]
        return Moment(self.root[part], self.heading[part], self.com[part], self.com_velocity[part], *more)

    def to_local(self, vectors: Array) -> Array:
        """(N, 2) or (N, K, 2) level vectors of the world in the facing frames."""
        flat = np.concatenate([vectors, np.zeros((*vectors.shape[:-1], 1))], axis=-1)
        return rotate_about_z(-self.heading, flat)[..., :2]

    def to_world(self, vectors: Array) -> Array:
        """The other way round."""
        flat = np.concatenate([vectors, np.zeros((*vectors.shape[:-1], 1))], axis=-1)
        return rotate_about_z(self.heading, flat)[..., :2]


class Task(ABC):
    """A task for N characters. All that it keeps of them is in ``kept``, arrays (N, ...) by name.

    name, label, help: for rows, menus and the command line. goal_size: G, how many numbers it sees.
    seconds: how long an episode lasts at most. sigma_rad: the range of the helper branch, if nothing else is said.
    goes_to_points: whether a scene's points say where to go. steered: whether somebody can say, while it goes on, where
    to go. together: characters that share a world and see each other; they come one after the other. senses: whether
    links, what touches them and props are looked at.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    help: ClassVar[str]
    goal_size: ClassVar[int]
    seconds: ClassVar[float] = 20.0
    sigma_rad: ClassVar[float] = 0.1
    goes_to_points: ClassVar[bool] = True
    steered: ClassVar[bool] = False
    together: ClassVar[int] = 1
    senses: ClassVar[bool] = False

    def __init__(self, count: int, points: Array | None = None, stage: Stage | None = None) -> None:
        """points: (K, 2) metres of a scene, where what is to be done is not drawn at random.

        stage: what they are on, if it is more than flat ground.
        """
        self.count, self.points, self.stage = count, points, stage
        self.kept: dict[str, NDArray[Any]] = {"steps": np.zeros(count, dtype=np.int64)}

    @classmethod
    def make_stage(cls, body: BodyModel) -> Stage:
        """What it is learned on, with all characters of a world."""
        return Stage((Character(body),) * cls.together)

    @classmethod
    def require_stage(cls, stage: Stage) -> None:
        """Refuse a stage, be it of a scene, on which it cannot be done: none, as long as a task does not say so."""
        if len(stage.characters) < 1:
            raise BadStage("There is nobody on the stage", "Put a character there")

    @classmethod
    def require_points(cls, points: Array) -> None:
        """Refuse points (K, 2) of a scene that it can do nothing with."""
        if not cls.goes_to_points:
            raise BadStage(f"'{cls.label}' goes to no points", "Leave out points, goals and curve")

    @classmethod
    def choose_points(cls, stage: Stage, begin: Array, rng: np.random.Generator) -> Array | None:
        """(K, 2) metres where to go on a scene's stage from (2,), if nobody says so; None to draw on the way."""
        return None

    def place(self, which: Flags, rng: np.random.Generator) -> Array | None:
        """(n, 3) where some of the characters begin: metres on the ground, and where they face; None for anywhere."""
        return None

    def ground(self, places: Array) -> Array:
        """(...,) metres: the terrain at places (..., 2)."""
        terrain = None if self.stage is None else self.stage.terrain
        if terrain is None:
            return np.zeros(places.shape[:-1])
        return terrain_height(terrain, places.reshape(-1, 2)).reshape(places.shape[:-1])

    def begin(self, which: Flags, moment: Moment, rng: np.random.Generator) -> None:
        """New episodes for some of the characters."""
        self.kept["steps"][which] = 0
        self.prepare(which, moment, rng)

    @abstractmethod
    def prepare(self, which: Flags, moment: Moment, rng: np.random.Generator) -> None:
        """What an episode begins with, for some of the characters."""

    @abstractmethod
    def see(self, moment: Moment) -> Array:
        """(N, G) what is seen of the task, in the facing frames."""

    @abstractmethod
    def earn(self, before: Moment, moment: Moment) -> dict[str, Array]:
        """(N,) reward terms by name for the step that led from one moment to the other; they are added."""

    def go_on(self, moment: Moment, rng: np.random.Generator) -> None:
        """What changes within an episode after a step, such as a goal that was reached; counts the steps."""
        self.kept["steps"] += 1

    def is_done(self, moment: Moment) -> Flags:
        """(N,) whether an episode is over because all is done; asked for before ``go_on``."""
        return np.zeros(self.count, dtype=bool)

    def steer(self, velocity: Array, moment: Moment) -> None:
        """Go with a velocity (N, 2) in m/s, in the world, of what can be ``steered``."""
        raise NotImplementedError

    @abstractmethod
    def figures(self, moment: Moment) -> dict[str, Array]:
        """(N,) numbers of the step before ``go_on``, which tests average."""

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that decides how it goes on."""
        return {name: np.array(array) for name, array in self.kept.items()}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Put back what ``state`` gave; what does not fit is a ``ValueError``."""
        for name, array in self.kept.items():
            if state[name].shape != array.shape:
                raise ValueError(f"{state[name].shape} {name} instead of {array.shape}")
            self.kept[name] = np.array(state[name])
