# SPDX-License-Identifier: GPL-3.0-or-later
"""How far training within bounds is, in an animator's words: studying the motion, then practising it."""

import numpy as np

from ...learn.learning_curve import UpdateRecord
from ...motion.take import Measurement
from ..method import Run
from ..work_meter import WorkMeter
from .demonstration import count_search_calls
from .training import Training, mean_survival_s
from .warm_start import ROUNDS

# Shares of the whole at which the parts of a warm start are over, and where practice ends and the take is made.
_PARTS = {
    "demonstrate": (0.35, "Studying the motion"),
    "simulate": (0.42, "Trying it out with small stumbles"),
    "clone": (0.55, "Learning from what worked"),
}
_PRACTISED = 0.97
_SURE = 0.9  # of practice, when it survives as long as it must, but no test has said so yet


class TrainingProgress:
    """Reports how far a training is. stops: whether it is over as soon as a test is survived.

    How long practice takes nobody knows: it is as far as its budget is spent, or as it stays up for what is required,
    whichever is further.
    """

    def __init__(self, run: Run, training: Training, budget: int, stops: bool) -> None:
        self._training, self._budget, self._stops = training, budget, stops
        self._figures: dict[str, Measurement] = {}
        self._meter = WorkMeter(run, lambda: self._figures)

    def begin_part(self, name: str) -> None:
        """A part of the warm start begins: 'demonstrate', 'simulate' or 'clone'."""
        end, doing = _PARTS[name]
        calls = {"demonstrate": count_search_calls(self._training.reference), "simulate": ROUNDS}
        self._study()
        self._meter.begin(end, calls.get(name, 1), doing)

    def breathe(self) -> None:
        """To be called all the while in the warm start; also when a cancel is noticed."""
        self._study()
        self._meter.step()

    def clone(self, share: float) -> None:
        """So much of the cloning is done."""
        self._study()
        self._meter.reach(share)

    def begin_practice(self) -> None:
        """The warm start is over, or there is none."""
        if self._training.samples:
            self._meter.skip_to(_PARTS["clone"][0])
        self._meter.begin(_PRACTISED, doing="Practising")

    def practise(self, record: UpdateRecord) -> None:
        """An update more is done."""
        training = self._training
        lives_s, required_s = mean_survival_s(record, training.config), training.config.required_s
        found = {"lives_s": lives_s, "earned": record.earned, "kl": record.kl}
        if training.tests:
            found["lasts"] = training.tests[-1].share
        self._figures = {name: float(value) for name, value in found.items() if np.isfinite(value)}
        stays_s = min(lives_s, required_s)
        self._meter.doing = f"Practising: stays up {stays_s:.1f} s of {required_s:g}"
        survives = _SURE * stays_s / required_s if self._stops else 0.0
        self._meter.reach(max(training.samples / self._budget, survives) * _SURE)

    def _study(self) -> None:
        """A curve for the first minutes: how much of the warm start is done."""
        self._figures = {"studied": round(min(self._meter.share / _PARTS["clone"][0], 1.0), 2)}
