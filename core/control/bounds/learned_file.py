# SPDX-License-Identifier: GPL-3.0-or-later
"""A controller that was learned within bounds as a kind of learned file."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...errors import BoundsError
from ..learned import LearnedFormat, LearnedKind
from ..method import Run
from .controller import Controller, controller_from_arrays
from .files import ENDING, read_controller_content, write_controller_content

CONTROLLER = LearnedKind(
    name="controller",
    label="controller",
    ending=ENDING,
    folder="controllers",
    module="core.control.bounds.learned_file",
    learn_hint="train one",
    missing="'{path}' does not exist",
    missing_hint="Choose another controller file, or train one again",
)
_MILLION = 1e6


def attached_controller(run: Run) -> Controller:
    """The controller that a job plays or tests."""
    attached = run.attachment(CONTROLLER.attachment)
    if attached is None:
        raise BoundsError("The job has no controller", "Train one first, or choose a controller file")
    return controller_from_arrays(*attached)


def _from_content(arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any], label: str) -> Controller:
    """The controller in a learned file; what is none, or not whole, is a ``BadFile``."""
    return controller_from_arrays(arrays, meta, label=label)


def _describe(controller: Controller) -> tuple[str, ...]:
    """What it does, and how it was learned."""
    reference, about = controller.reference, controller.about
    kind = "A gait, one cycle of" if reference.symmetric else "A cycle of" if reference.cyclic else "Played once,"
    return (f"{kind} {reference.duration_s:.2f} s", *_training(about))


def _training(about: Mapping[str, Any]) -> tuple[str, ...]:
    samples, done, tests = about.get("samples"), about.get("done_after"), about.get("tests") or ()
    if isinstance(done, int | float):
        return (f"Stays within its bounds since {_steps(done)} steps",)
    if isinstance(samples, int | float) and tests:
        share = max(float(test.get("share", 0.0)) for test in tests)
        return (f"Not learned yet: {share:.0%} of what was asked, after {_steps(samples)} steps",)
    return ()


def _steps(count: float) -> str:
    return f"{count / _MILLION:.2f} million" if count >= 0.1 * _MILLION else f"{count:.0f}"


FORMAT = LearnedFormat(
    _from_content,
    _describe,
    lambda controller: controller.body.skeleton,
    read_controller_content,
    write_controller_content,
)
