# SPDX-License-Identifier: GPL-3.0-or-later
"""Reactions by intent: pushes and throws are tried until the body braces, staggers or falls, as was asked for.

Nothing is foreseen, so what comes before a push is the same however hard it is: it is planned once, and every trial
begins where the push does and ends when one sees what came of it. The trial that is wanted goes on as the take, which
is bit for bit what the same strength gives with the same seed.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field

import numpy as np

from ...sim.engine import Engine, character_offsets
from ...sim.stage import Stage
from ..tracking.reactions import Reaction, classify_reaction, is_down
from ..tracking.reference import CONTROL_FPS, FRAGMENT_STEPS
from .checkpoint import Arrays, pack_rollout, restore_rollout
from .disturbances import Disturbance, find_disturbances, with_strength
from .reaction_search import Trial, first_strength, is_wanted, nearest_trial, next_strength
from .stage_rollout import StageRollout

SEEDS = 3
"""That are tried, where the first one has no such reaction."""
_LEAST_S, _MOST_S = 1.5, 4.0  # how long a reaction is watched after it began: at least, and if it is not over by then
_FRAGMENT_S = FRAGMENT_STEPS / CONTROL_FPS
_TRIALS, _SETTLED, _ATTEMPT = "reaction_trials", "reaction_settled", "reaction_attempt"  # arrays in checkpoints


@dataclass(eq=False)
class ReactionFinder:
    """Finds the strength of every disturbance on a stage that has an intent, in the order in which they happen.

    begin: a rollout of a stage at its beginning, with the seed of a number. engine, engine_name: compile the worlds of
    trials; opened: closes those that are kept. on_progress: called whenever more of a rollout is done; on_trial: within
    trials, of which nothing can be saved.
    trials: what was tried, each with the number of its disturbance. attempt: the number of the seed, or after the last
    one the first again, with whatever comes nearest. settled: strengths that were found with it.
    """

    stage: Stage
    begin: Callable[[Stage, int], StageRollout]
    engine: Engine
    engine_name: str
    opened: ExitStack
    on_progress: Callable[[StageRollout], None]
    on_trial: Callable[[StageRollout], None]
    trials: list[tuple[int, Trial]] = field(default_factory=list)
    attempt: int = 0
    settled: list[float] = field(default_factory=list)
    doing: str = ""

    def __post_init__(self) -> None:
        self.disturbances = find_disturbances(self.stage)

    @property
    def seed(self) -> int:
        """The number of the seed, from 0 on."""
        return self.attempt % SEEDS

    @property
    def is_done(self) -> bool:
        """Whether all strengths are found."""
        return len(self.settled) == len(self.disturbances)

    def to_arrays(self) -> Arrays:
        """What was tried and found so far, for a checkpoint."""
        rows = [(number, one.seed, one.strength, *one.reaction.to_row()) for number, one in self.trials]
        return {
            _TRIALS: np.array(rows, dtype=float).reshape(-1, 6),
            _SETTLED: np.array(self.settled, dtype=float),
            _ATTEMPT: np.array(self.attempt),
        }

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Know again what was tried and found."""
        self.trials = [
            (int(row[0]), Trial(int(row[1]), float(row[2]), Reaction.from_row(row[3:])))
            for row in arrays.get(_TRIALS, ())
        ]
        self.settled = [float(strength) for strength in arrays.get(_SETTLED, ())]
        self.attempt = int(arrays.get(_ATTEMPT, 0))

    def begin_rollout(self) -> StageRollout:
        """A rollout at its beginning, with the seed and the strengths that are known so far."""
        return self.begin(self._stage(self.settled), self.seed)

    def find(self, rollout: StageRollout) -> StageRollout:
        """Go on with a rollout of ``begin_rollout`` until all strengths are found; the rollout that stands there."""
        while not self.is_done:
            first = int(self.disturbances[len(self.settled)].start_s / _FRAGMENT_S + 1e-6)
            self.doing = ""
            while len(rollout.offsets) < min(first, rollout.fragments):
                rollout.advance(self.on_progress)
            reacting = self._settle_for_nearest(rollout) if self.attempt == SEEDS else self._try_strengths(rollout)
            if reacting is None:
                self.attempt, self.settled = self.attempt + 1, []
                reacting = self.begin_rollout()
            rollout = reacting
        self.doing = ""
        return rollout

    def found(self, number: int) -> Trial:
        """The trial that was settled for, of the disturbance of that number."""
        seed, strength = self.seed, self.settled[number]
        return next(one for one in self._trials_of(number) if (one.seed, one.strength) == (seed, strength))

    def _stage(self, strengths: Sequence[float]) -> Stage:
        """The stage with strengths for the first disturbances; later pushes have none."""
        stage = self.stage
        for number, disturbance in enumerate(self.disturbances):
            if number < len(strengths):
                stage = with_strength(stage, disturbance, strengths[number])
            elif not disturbance.thrown:
                stage = with_strength(stage, disturbance, 0.0)
        return stage

    def _trials_of(self, number: int) -> list[Trial]:
        return [one for index, one in self.trials if index == number and one.seed == self.seed]

    def _try_strengths(self, base: StageRollout) -> StageRollout | None:
        """Try strengths from where a rollout stands; the rollout of the one that is wanted, None where none is."""
        number = len(self.settled)
        disturbance = self.disturbances[number]
        first = first_strength(disturbance, self.stage.characters[disturbance.character].body.mass)
        kept = _pack(base, self.engine_name)
        while (strength := next_strength(disturbance.intent, first, self._trials_of(number))) is not None:
            self.doing = f"{disturbance.intent.title()}: trying {disturbance.describe_strength(strength)}"
            with ExitStack() as closes:
                rollout = self._branch(base, kept, strength, closes)
                reaction = self._watch(rollout, disturbance)
                self.trials.append((number, Trial(self.seed, strength, reaction)))
                if is_wanted(disturbance.intent, reaction):
                    self.settled.append(strength)
                    self.opened.push(closes.pop_all())
                    self.on_progress(rollout)
                    return rollout
            restore_rollout(base, self.engine_name, kept)  # its characters were the trial's
            self.on_progress(base)
        return None

    def _settle_for_nearest(self, base: StageRollout) -> StageRollout:
        """Where no seed gives what is wanted: go on with what came nearest to it."""
        number = len(self.settled)
        strength = nearest_trial(self.disturbances[number].intent, self._trials_of(number)).strength
        rollout = self._branch(base, _pack(base, self.engine_name), strength, self.opened)
        self.settled.append(strength)
        return rollout

    def _branch(self, base: StageRollout, kept: Arrays, strength: float, closes: ExitStack) -> StageRollout:
        """A rollout that stands where ``base`` does, on a stage where the next disturbance has that strength."""
        stage = self._stage([*self.settled, strength])
        world = closes.enter_context(closing(self.engine.compile(stage, 1)))
        rollout = StageRollout(stage, base.characters, world, base.state)
        restore_rollout(rollout, self.engine_name, kept)
        return rollout

    def _watch(self, rollout: StageRollout, disturbance: Disturbance) -> Reaction:
        """Roll out until one sees what comes of the disturbance."""
        first = len(rollout.offsets)
        character = rollout.characters[disturbance.character]
        hit = None if disturbance.thrown else first
        lasts_s = disturbance.end_s - disturbance.start_s
        where = character_offsets(rollout.stage)["nq"][disturbance.character :]
        seen = [rollout.world.pose_of(rollout.state)[0][where[0] : where[1]]]
        while not rollout.done:
            rollout.advance(self.on_trial)
            seen.append(rollout.world.pose_of(rollout.state)[0][where[0] : where[1]])
            if hit is None and character.trajectory is None:
                hit = len(rollout.offsets)
            since_s = (len(rollout.offsets) - (first if hit is None else hit)) * _FRAGMENT_S - lasts_s
            rejoined = hit is not None and character.trajectory is not None
            frames = np.minimum((first + np.arange(len(seen))) * FRAGMENT_STEPS, len(character.reference.qpos) - 1)
            wanted = character.reference.qpos[frames]
            if since_s >= (_LEAST_S if rejoined else _MOST_S) or is_down(character.body, wanted, np.array(seen)):
                break
        return classify_reaction(character.body, wanted, np.array(seen))


def _pack(rollout: StageRollout, engine_name: str) -> Arrays:
    """The rollout as arrays of their own, which nothing that is done later changes."""
    return {name: np.array(values) for name, values in pack_rollout(rollout, engine_name).items()}
