# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the policy alone would lose the body, time goes back and other actions are tried: a take is not made live.

The cross-entropy method around the policy: N copies act as it would, each with corrections of its own that change every
fifth of a second; the best by the reward that the policy was trained with are what the next round varies.
"""

from dataclasses import dataclass

import numpy as np

from ...geometry.quaternions import Array
from ...sim.engine import World
from .controller import TrackingController
from .environment import limit_offsets, servo_targets
from .playing import FALLEN_M, LoopMoment, PolicyLoop
from .reference_streams import CONTROL_FPS, ReferenceStreams
from .rewards import RewardWeights, tracking_rewards

SEARCH_COPIES = 64
_KNOT_STEPS = 6
_NOISE = 0.15  # radians, of corrections; copies have shares of it, so that small and large ones are tried
_NOISE_SHARES = (0.4, 0.7, 1.0, 1.5)
_ELITES = 4
_AHEAD_S = 1.0  # beyond where it was lost: what only just stays up is of no use
_REGAINED_M, _CLOSE_M = 0.35, 0.15  # metres between the heads at the end: good enough, and good enough not to go on
_ROUNDS_FOR_CLOSE = 3  # after so many, good enough will do
_END_COUNTS = 20.0  # control steps that the last one counts for


@dataclass(frozen=True)
class _Occasion:
    """When to search. apart_m: metres between the heads from which on. most_m: beyond which a copy counts as fallen.

    back_s: how far to go back, one after the other until something is found. rounds: of the cross-entropy method.
    """

    apart_m: float
    most_m: float
    back_s: tuple[float, ...]
    rounds: int


_FALLEN = _Occasion(FALLEN_M, 0.9, (1.0, 2.0, 3.0, 5.0), 12)
_STRAYED = _Occasion(0.4, 0.5, (0.5, 1.0, 2.0), 2)
_PAUSE_S = 1.0  # before it is searched again for one that has strayed, after nothing was found


@dataclass(frozen=True, eq=False)
class Recovery:
    """What to do instead. targets: (steps, CONTROL_FRAMES, nu) of the servos. offsets: (steps, A) radians."""

    targets: Array
    offsets: Array


class RecoverySearch:
    """Searches with a loop of N copies for what keeps one character on its stream. rng: what is tried."""

    def __init__(self, loop: PolicyLoop, rng: np.random.Generator) -> None:
        self._loop, self._rng = loop, rng

    def find(self, moment: LoopMoment, steps: int, most_m: float, rounds: int) -> Recovery | None:
        """What to do for so many control steps from a moment on, so that it is on the stream again; None if nothing."""
        loop, copies = self._loop, self._loop.world.copies
        knots = -(-steps // _KNOT_STEPS)
        mean = np.zeros((knots, len(loop.acting)))
        shares = _NOISE * np.resize(_NOISE_SHARES, copies)[:, None, None]
        best, best_merit, best_apart = None, -np.inf, np.inf
        for number in range(rounds):
            corrections = mean + shares * self._rng.standard_normal((copies, *mean.shape))
            corrections[0] = mean
            loop.go_to(moment)
            merit, apart, tried = self._try_all(corrections, steps, most_m)
            order = np.argsort(-merit, kind="stable")
            mean = corrections[order[:_ELITES]].mean(axis=0)
            if merit[order[0]] > best_merit:
                chosen = int(order[0])
                best_merit, best_apart = float(merit[chosen]), float(apart[chosen])
                best = Recovery(*(np.array([part[chosen] for part in parts]) for parts in zip(*tried, strict=True)))
            if best_apart < (_CLOSE_M if number < _ROUNDS_FOR_CLOSE else _REGAINED_M):
                break
        return best if best_apart < _REGAINED_M else None

    def _try_all(self, corrections: Array, steps: int, most_m: float) -> tuple[Array, Array, list[tuple[Array, Array]]]:
        """Returns (N,), metres (N,) between the heads at the end, infinite of those that fell, and what was done."""
        loop, weights = self._loop, RewardWeights(change=0.0)
        up, merit = np.ones(len(corrections), dtype=bool), np.zeros(len(corrections))
        tried: list[tuple[Array, Array]] = []
        for step in range(steps):
            before, smoothing = loop.state, loop.controller.smoothing
            actions = loop.controller.policy(before.observations(loop.offsets))
            turned = before.features.turn_actions(actions, before.frame) + corrections[:, step // _KNOT_STEPS]
            loop.offsets = loop.offsets + smoothing * (limit_offsets(turned) - loop.offsets)
            targets = servo_targets(loop.streams, loop.frame, loop.offsets, loop.acting)
            loop.advance(targets)
            tried.append((targets, loop.offsets))
            up &= loop.apart_m() <= most_m
            if not up.any():
                break
            _, rewards = tracking_rewards(loop.state, before, np.zeros_like(loop.offsets), weights, loop.head)
            merit += np.where(up, rewards, 0.0) * (1.0 if step < steps - 1 else _END_COUNTS)
        return merit, np.where(up, loop.apart_m(), np.inf), tried


def make_recovery_search(
    controller: TrackingController, streams: ReferenceStreams, world: World, seed: int
) -> RecoverySearch:
    """A search on streams, in a world of as many copies as are to be tried at once."""
    loop = PolicyLoop(controller, streams, world, np.zeros(world.copies, dtype=np.int64))
    return RecoverySearch(loop, np.random.default_rng([seed, 17]))


@dataclass(frozen=True, eq=False)
class PlayedStep:
    """A control step as it was done. moment: after it. states: (K, state_size). targets: (CONTROL_FRAMES, nu)."""

    moment: LoopMoment
    states: Array
    targets: Array
    apart_m: float


class RecoveringPlay:
    """One character on a stream for so many control steps, that goes back and tries again where it would fall.

    search: None for the policy alone. done: the steps that stay, so far.
    """

    def __init__(self, loop: PolicyLoop, steps: int, search: RecoverySearch | None) -> None:
        self.loop, self.steps, self._search = loop, steps, search
        self.done: list[PlayedStep] = []
        self.searches = 0
        self._first, self._first_step = loop.moment(), 0
        self._planned: list[tuple[Array, Array]] = []
        self._pause_until = 0

    def advance(self) -> bool:
        """One step, or several back; whether it has fallen and nothing helps."""
        if self._planned:
            targets, self.loop.offsets = self._planned.pop(0)
        else:
            targets = self.loop.choose_targets()
        apart = self.add_step(targets)
        if not apart <= FALLEN_M:  # NaN has fallen, too
            return not self._go_back(_FALLEN)
        may_search = not self._planned and len(self.done) >= self._pause_until
        if may_search and apart > _STRAYED.apart_m and not self._go_back(_STRAYED):
            self._pause_until = len(self.done) + round(_PAUSE_S * CONTROL_FPS)
        return False

    def add_step(self, targets: Array, muscle: float = 1.0) -> float:
        """A step with servo targets (1, CONTROL_FRAMES, nu), at a share of its strength; metres between the heads then.

        Somebody else has chosen them: for one who lies, say.
        """
        states = self.loop.advance(targets, end_only=False, muscle=muscle)
        apart = float(self.loop.apart_m()[0])
        self.done.append(PlayedStep(self.loop.moment(), states[0], targets[0], apart))
        return apart

    def keep_what_is_done(self) -> None:
        """Do not go back before now."""
        self._first, self._first_step, self._planned = self.loop.moment(), len(self.done), []

    def begin_anew(self) -> None:
        """Put a fallen one onto its stream; what was before is past changing."""
        self.loop.put_back(np.ones(1, dtype=bool))
        self.keep_what_is_done()

    def _go_back(self, occasion: _Occasion) -> bool:
        """Go back to where something else could be done, if there is such a place."""
        if self._search is None:
            return False
        now = len(self.done)
        for back_s in occasion.back_s:
            step = max(now - round(back_s * CONTROL_FPS), self._first_step)
            moment = self.done[step - 1].moment if step > self._first_step else self._first
            self.searches += 1
            until = min(now + round(_AHEAD_S * CONTROL_FPS), self.steps)
            found = self._search.find(moment, until - step, occasion.most_m, occasion.rounds)
            if found is not None:
                del self.done[step:]
                self.loop.go_to(moment)
                self._planned = [
                    (targets[None], offsets[None])
                    for targets, offsets in zip(found.targets, found.offsets, strict=True)
                ]
                return True
            if step == self._first_step:
                break
        return False
