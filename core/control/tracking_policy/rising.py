# SPDX-License-Identifier: GPL-3.0-or-later
"""A body that lies follows a get-up by sampling control: no policy practises lying, and few trials find how to rise.

Model predictive path integral control: N copies try corrections of the servo targets for the second to come; those
that do better count for more, the first tenth is done, and the rest is where the next trials begin.
"""

from dataclasses import dataclass

import numpy as np

from ...geometry.quaternions import Array
from .environment import limit_offsets, servo_targets
from .playing import LoopMoment, PolicyLoop
from .rewards import RewardWeights, tracking_rewards

_KNOT_STEPS, _KNOTS = 3, 6  # of a tenth of a second each
_ROUNDS = 3
_NOISE = 0.25  # radians
_NOISE_SHARES = (0.2, 0.5, 1.0, 1.5)
_ELITES = 6
_WEIGHTS = RewardWeights(pose=0.5, speed=0.1, place=0.25, velocity=0.15, stance=0.0, change=0.05)


@dataclass(frozen=True, eq=False)
class RisingStep:
    """What to do in a control step: servo targets (1, CONTROL_FRAMES, nu), and offsets (1, A) of the policy."""

    targets: Array
    offsets: Array


class RisingSearch:
    """Searches with a loop of N copies, whose policy is not asked, for what keeps one character on a get-up."""

    def __init__(self, loop: PolicyLoop, rng: np.random.Generator) -> None:
        self._loop, self._rng = loop, rng
        self._mean = np.zeros((_KNOTS, len(loop.acting)))

    def find(self, moment: LoopMoment) -> list[RisingStep]:
        """What to do in the next tenth of a second from a moment on."""
        copies, best = self._loop.world.copies, self._mean
        shares = _NOISE * np.resize(_NOISE_SHARES, copies)[:, None, None]
        found: list[RisingStep] = []
        best_merit = -np.inf
        for _ in range(_ROUNDS):
            tried = self._mean + shares * self._rng.standard_normal((copies, *self._mean.shape))
            tried[0], tried[1] = best, self._mean
            merit, steps = self._try_all(moment, tried)
            order = np.argsort(-merit, kind="stable")
            self._mean = tried[order[:_ELITES]].mean(axis=0)
            if merit[order[0]] > best_merit:
                chosen = int(order[0])
                best_merit, best = float(merit[chosen]), tried[chosen]
                found = [RisingStep(targets[[chosen]], offsets[[chosen]]) for targets, offsets in steps[:_KNOT_STEPS]]
        self._mean = np.concatenate([best[1:], best[-1:]])
        return found

    def _try_all(self, moment: LoopMoment, tried: Array) -> tuple[Array, list[tuple[Array, Array]]]:
        """Returns (N,) of corrections (N, knots, A), and what was done in each step."""
        loop = self._loop
        loop.go_to(moment)
        merit, steps = np.zeros(len(tried)), []
        for step in range(_KNOT_STEPS * _KNOTS):
            before = loop.state
            change = loop.controller.smoothing * (limit_offsets(tried[:, step // _KNOT_STEPS]) - loop.offsets)
            loop.offsets = loop.offsets + change
            targets = servo_targets(loop.streams, loop.frame, loop.offsets, loop.acting)
            loop.advance(targets)
            steps.append((targets, loop.offsets))
            merit += tracking_rewards(loop.state, before, change, _WEIGHTS, loop.head)[1]
        return merit, steps
