# SPDX-License-Identifier: GPL-3.0-or-later
"""What a method is: settings that describe themselves and a ``run`` from clip to take."""

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

import numpy as np

from ..motion import Clip, Take
from ..motion.take import Measurement
from ..settings import Settings
from ..sim.trace import Trace


class Run(Protocol):
    """The worker's side of a running job, as a method sees it.

    Every call may raise ``Cancelled``; a method lets it pass through and leaves nothing half done,
    because the worker alone writes results.
    """

    engine: str
    """The engine to use: 'mujoco', 'bullet', or 'none' for a method that uses no engine."""

    rng: np.random.Generator
    """The job's own randomness, from its seed."""

    def progress(self, step: int, total: int, /, **measurements: Measurement) -> None:
        """Say that ``step`` of ``total`` is done, with live numbers for the curve."""

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


class Method(Protocol):
    """One way of giving a clip a body.

    A method that simulates all of ``load_cast`` together says ``simulates_cast = True``; jobs of the others are made
    without them.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    help: ClassVar[str]
    uses_engine: ClassVar[bool]
    settings_type: ClassVar[type[Settings]]

    def run(self, clip: Clip, settings: Settings, run: Run) -> Take:
        """Turn the clip into a take on the same bones."""
