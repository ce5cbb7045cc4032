# SPDX-License-Identifier: GPL-3.0-or-later
"""The loop of a job that trains: update after update, with checkpoints, until it is over or somebody has enough."""

import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import BadFile
from ..learn.learning_curve import UpdateRecord
from ..learn.shards import ShardSpreader
from ..settings import setting
from .method import Run

CHECKPOINT_S = 20.0
"""Seconds between two checkpoints."""
_SPENT = "spent_s"  # name of an array of its own in checkpoints


class Practice(Protocol):
    """A training that a job can stop after any update, and go on with."""

    @property
    def samples(self) -> int:
        """Control steps of all copies so far."""

    def advance(self) -> UpdateRecord:
        """One update."""

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that decides how it goes on."""

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on from what ``state`` gave; arrays that do not fit are a ``BadFile``."""


def shards_setting(default: int = 2) -> Any:
    """In how many parts copies practise; whatever the machine, so that a checkpoint fits another one."""
    return setting(
        default,
        "Shards",
        "In how many parts the copies practise, each with its own randomness: as many as a cluster has nodes, or more",
        minimum=1,
        maximum=4096,
    )


def find_spreader(run: Run) -> ShardSpreader | None:
    """Where the job's rollouts are spread; None for here, in this process."""
    spreader: ShardSpreader | None = getattr(run, "shards", None)
    return spreader


def describe_spreading(run: Run) -> None:
    """Put into the report what spreading the rollouts cost, if they were."""
    if (spreader := find_spreader(run)) is not None:
        run.add_detail("cluster", spreader.describe())


def resume_practice(run: Run, training: Practice) -> float:
    """Resume from the newest checkpoint, if there is one; gives the seconds that were spent before it."""
    found = run.load_checkpoint()
    if found is None:
        return 0.0
    try:
        training.restore(found[1])
        return float(found[1].get(_SPENT, 0.0))
    except BadFile as error:
        run.add_finding("checkpoint", f"Training begins anew: {error.message}", "")
        return 0.0


def practise(
    run: Run,
    training: Practice,
    *,
    is_over: Callable[[float], bool],
    after: Callable[[UpdateRecord, float], None],
    spent_s: float = 0.0,
) -> float:
    """Train until it is over or the user has enough; gives all seconds that were spent.

    is_over: told the seconds spent so far. after: told of every update, and the seconds; pauses are taken where it
    reports progress, and are not counted.
    """
    saved = time.monotonic()
    while not is_over(spent_s):
        if run.is_enough() and training.samples:
            break
        began = time.monotonic()
        record = training.advance()
        spent_s += time.monotonic() - began
        if time.monotonic() - saved > CHECKPOINT_S:
            run.save_checkpoint(training.samples, **training.state(), **{_SPENT: np.array(spent_s)})
            saved = time.monotonic()
        after(record, spent_s)
    return spent_s
