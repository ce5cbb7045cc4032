# SPDX-License-Identifier: GPL-3.0-or-later
"""What a task is: how it begins, what it sees, what it earns, and when it is over, for N characters at once."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...geometry.quaternions import Array
from ..tracking.facing import rotate_about_z

Flags = NDArray[np.bool_]
CONTROL_FPS = 30.0


@dataclass(frozen=True, eq=False)
class Moment:
    """N characters at a control step. root: (N, 3) metres, heading: (N,) radians about Z, com: (N, 3) metres,
    com_velocity: (N, 3) m/s, all in the world.
    """

    root: Array
    heading: Array
    com: Array
    com_velocity: Array

    def __len__(self) -> int:
        return len(self.root)

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
    steered: whether somebody can say, while it goes on, where to go.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    help: ClassVar[str]
    goal_size: ClassVar[int]
    seconds: ClassVar[float] = 20.0
    sigma_rad: ClassVar[float] = 0.1
    steered: ClassVar[bool] = False

    def __init__(self, count: int, points: Array | None = None) -> None:
        """points: (K, 2) metres of a scene, where what is to be done is not drawn at random."""
        self.count, self.points = count, points
        self.kept: dict[str, NDArray[Any]] = {"steps": np.zeros(count, dtype=np.int64)}

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
