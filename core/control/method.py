# SPDX-License-Identifier: GPL-3.0-or-later
"""What a method is: a declaration of what it takes and makes, settings that describe themselves, and a ``run``.

Job, operators, panel, command line and help all follow from the declaration (``bridge/methods``).
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar, Protocol

import numpy as np

from ..motion import Clip, Take
from ..motion.take import Measurement
from ..settings import Settings
from ..sim.trace import Trace
from .learned import LearnedKind


class Source(Enum):
    """What a method is given. ``run`` always gets a clip: the first one of several, or the pose to begin in."""

    CLIP = "a clip"
    CLIPS = "several clips, chosen one by one"
    LIBRARY = "a library of clips"
    LEARNED_FILE = "a learned file, and the pose to begin in"


class Product(Enum):
    """What a method makes."""

    TAKE = "a take"
    LEARNED_FILE = "a learned file"
    REPORT = "figures about a learned file, and no take"


@dataclass(frozen=True)
class Watched:
    """A number of ``Run.progress`` that is worth a live curve: its name there, a label and a format for people.

    Without the last two it is told by its name, whose ending is its unit. advanced: only for those who know the
    method: a research term, shown where it is asked for.
    """

    name: str
    label: str = ""
    form: str = ""
    advanced: bool = False


class Run(Protocol):
    """The worker's side of a running job, as a method sees it.

    Every call may raise ``Cancelled``; a method lets it pass through and leaves nothing half done,
    because the worker alone writes results.
    """

    engine: str
    """The engine to use: 'mujoco', 'bullet', or 'none' for a method that uses no engine."""

    rng: np.random.Generator
    """The job's own randomness, from its seed."""

    @property
    def seed(self) -> int:
        """The job's seed, which ``rng`` came from."""

    def progress(self, step: int, total: int, /, **measurements: Measurement) -> None:
        """Say that ``step`` of ``total`` is done, with live numbers for the curve.

        The measurement 'doing' is what it does now, in an animator's words.
        """

    def save_checkpoint(self, step: int, /, **arrays: np.ndarray) -> None:
        """Keep what is needed to go on from ``step`` after a kill (the generator's state is kept too)."""

    def load_checkpoint(self) -> tuple[int, dict[str, np.ndarray]] | None:
        """The newest whole checkpoint as (step, arrays), with ``rng`` put back, or None at the beginning."""

    def attachment(self, name: str) -> tuple[dict[str, np.ndarray], dict[str, Any]] | None:
        """Arrays and description that the job was made with under this name, or None if it has none."""

    def add_finding(self, kind: str, message: str, hint: str) -> None:
        """Note something the user should know about the motion, for the panel and the report."""

    def add_detail(self, name: str, value: Mapping[str, Any]) -> None:
        """Put plain values into the report under a name of their own, for whoever wants to know more."""

    def add_trace(self, trace: Trace) -> None:
        """Hand over what physics saw of a character, to be measured: one of each, in the cast's order."""

    def is_enough(self) -> bool:
        """Whether the user wants what there is so far rather than all of it; for methods that get better with time."""

    def show(self, arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> None:
        """Let whoever watches see how it stands: small, and in place of what was shown before."""

    def add_product(self, name: str, arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> None:
        """Hand over something else that was made, beside the take: it becomes ``result/<name>.npz``."""


class Method(ABC):
    """One way of giving a motion a body, learning one, or playing what was learned.

    name: in the registry, in specs and on the command line; of a family's method ``<family>_<verb>``.
    label, help: what the jobs' list and the menus say. button, tooltip: what its operator says, where that differs.
    takes, makes: what it is given, and what it makes.
    learned: the kind of learned file that it makes, plays or measures.
    simulates_cast: whether it simulates all of ``load_cast`` together; jobs of the others are made without them.
    stops_early: whether it hands over the best so far when asked (``Run.is_enough``).
    watched: the live curves that are worth a line, in their order. Empty: the first few that it reports.
    packages: modules that its worker needs beyond what the zip brings, such as 'torch'.
    rollouts_in_shards: whether it learns by a ``Trainer`` whose rollouts may be spread over a cluster.
    goes_to_places: whether objects or a curve of the scene may say where to go.
    result_name: what the name of its take's Action says of how it was made; '' for the method's name.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    help: ClassVar[str]
    uses_engine: ClassVar[bool]
    settings_type: ClassVar[type[Settings]]
    button: ClassVar[str] = ""
    tooltip: ClassVar[str] = ""
    takes: ClassVar[Source] = Source.CLIP
    makes: ClassVar[tuple[Product, ...]] = (Product.TAKE,)
    learned: ClassVar[LearnedKind | None] = None
    simulates_cast: ClassVar[bool] = False
    stops_early: ClassVar[bool] = False
    watched: ClassVar[tuple[Watched, ...]] = ()
    packages: ClassVar[tuple[str, ...]] = ()
    rollouts_in_shards: ClassVar[bool] = False
    goes_to_places: ClassVar[bool] = False
    result_name: ClassVar[str] = ""

    @property
    def makes_take(self) -> bool:
        """Whether there is a take in the end; what only learns or measures makes none."""
        return Product.TAKE in self.makes

    @abstractmethod
    def run(self, clip: Clip, settings: Any, run: Run) -> Take | None:
        """Do it, in the worker; gives the take, on the clip's bones. None where ``makes_take`` is false."""
