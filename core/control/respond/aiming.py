# SPDX-License-Identifier: GPL-3.0-or-later
"""A body that misses its targets is given a motion that is aimed beside them by as much, and simulated again.

Sampling control lets its reference follow a body that falls behind, or the pull would fight its gait; so feet that slip
in a kick, and steps that come out shorter, add up. What a body does to one motion it does about alike to one like it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...body import BodyModel
from ...errors import BadSettings
from ...geometry.quaternions import Array
from ...motion import Clip, Take
from ..editing.limb_reaching import Limb, limb_point
from ..matching.features import FPS
from ..method import Run
from .cues import Cue
from .reaching import Reaim

AIMED_M = 0.07
"""Who misses no target by more is not aimed again."""
AIMED_TRIES = 3
"""How often a motion is simulated that misses its targets."""
HOLD_PLACE_M_S = 0.6
"""How fast a body that has places to be in is drawn back to its way."""
_MOST_M = 0.6  # that a target is moved by
_HEIGHT = 0.5  # share of what is missed in height that is made up for: bodies are elastic there
_REPLAYED = ("add_finding", "add_detail", "add_trace", "add_product", "show")


@dataclass(frozen=True, eq=False)
class Aimed:
    """motion: what was to be done, as it was aimed in the end. take: what was."""

    motion: Clip
    take: Take


class HeldRun:
    """A run that keeps to itself what a try says until that is the one that counts.

    keeps: whether checkpoints are the job's. Later tries are begun anew after a kill, and come out the same.
    """

    def __init__(self, run: Run, progress: tuple[float, float], *, keeps: bool) -> None:
        self._run, self._progress, self._keeps = run, progress, keeps
        self._said: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def progress(self, step: int, total: int, /, **measurements: Any) -> None:
        """Tell how far it is, as a part of the whole."""
        first, last = self._progress
        self._run.progress(round(1000 * (first + (last - first) * step / max(total, 1))), 1000, **measurements)

    def save_checkpoint(self, step: int, /, **arrays: np.ndarray) -> None:
        """Keep a checkpoint, if it is the first try."""
        if self._keeps:
            self._run.save_checkpoint(step, **arrays)

    def load_checkpoint(self) -> Any:
        """The newest checkpoint, if it is the first try."""
        return self._run.load_checkpoint() if self._keeps else None

    def is_enough(self) -> bool:
        """Whether somebody has enough."""
        return bool(self._run.is_enough())

    def replay(self) -> None:
        """Say what was kept."""
        for name, words, options in self._said:
            getattr(self._run, name)(*words, **options)

    def __getattr__(self, name: str) -> Any:
        if name in _REPLAYED:
            return lambda *words, **options: self._said.append((name, words, options))
        return getattr(self._run, name)


def measure_misses(body: BodyModel, cues: Sequence[Cue], limbs: Sequence[Limb | None], motion: Clip) -> list[Array]:
    """(3,) metres for each cue by which a motion is off its target, or off its place, at the cue's moment."""
    at_60 = motion if abs(motion.fps - FPS) < 1e-6 else motion.resample(FPS, end="hold")
    root = at_60.world()[0][:, at_60.skeleton.index(body.links[0].bone)]
    found = []
    for cue, limb in zip(cues, limbs, strict=True):
        at = min(cue.at, len(at_60) - 1)
        if limb is not None and cue.hit is not None:
            found.append(limb_point(at_60, limb)[at] - np.array(cue.hit))
        elif cue.place is not None:
            found.append(np.array([*(root[at, :2] - cue.place), 0.0]))
        else:
            found.append(np.zeros(3))
    return found


def simulate_aimed(
    body: BodyModel,
    cues: Sequence[Cue],
    limbs: Sequence[Limb | None],
    motion: Clip,
    simulate: Callable[[Clip, HeldRun], Take],
    reaim: Reaim,
    run: Run,
    tries: int,
) -> Aimed:
    """The take that misses least of so many tries, the first with the motion as it is."""
    moved = [np.zeros(3) for _ in cues]
    best: tuple[float, Aimed, HeldRun] | None = None
    aims = any(cue.hit is not None or cue.place is not None for cue in cues)
    count = tries if aims else 1
    for number in range(count):
        own = HeldRun(run, (number / count, (number + 1) / count), keeps=number == 0)
        take = simulate(motion, own)
        misses = measure_misses(body, cues, limbs, take.motion)
        far = [min(float(np.linalg.norm(miss)), _MOST_M) for miss in misses]
        score = float(np.sum(far)) + (10.0 * len(cues) if take.fell_at_s is not None else 0.0)
        if best is None or score < best[0]:
            best = score, Aimed(motion, take), own
        if max(far, default=0.0) <= AIMED_M or take.fell_at_s is not None or number + 1 == count:
            break
        moved = [_clip(before - miss * [1.0, 1.0, _HEIGHT]) for before, miss in zip(moved, misses, strict=True)]
        try:
            motion = reaim(moved)
        except BadSettings:  # beside what it could reach
            break
    assert best is not None
    best[2].replay()
    return best[1]


def _clip(shift: Array) -> Array:
    return shift / max(float(np.linalg.norm(shift)) / _MOST_M, 1.0)
