# SPDX-License-Identifier: GPL-3.0-or-later
"""How far a job is that rolls a stage out: from the first second on, never backwards, in an animator's words."""

from ..method import Run
from ..tracking.reference import CONTROL_FPS, FRAGMENT_STEPS
from .checkpoint import RolloutCheckpoints
from .plan import AHEAD, SECTION
from .reaction_trials import ReactionFinder
from .shown_plan import ShownPlan
from .stage_rollout import StageRollout

# Units of work, of which one is a fragment of a pass. Linear models of a fragment cost about as much as its search. Of
# a reaction each fragment takes a search of several, and nobody knows before how many trials there will be.
_TRIAL, _TRIALS = 2, 100
_FRAGMENT_S = FRAGMENT_STEPS / CONTROL_FPS


class RolloutProgress:
    """Reports a rollout's progress to its run, shows it to who watches, and saves checkpoints on the way.

    rollout: the one that is rolled out now. finder: looks for the strengths of reactions, None where there are none.
    """

    def __init__(self, run: Run, checkpoints: RolloutCheckpoints) -> None:
        self.rollout: StageRollout | None = None
        self.finder: ReactionFinder | None = None
        self._run, self._checkpoints, self._shown = run, checkpoints, ShownPlan(run)
        self._step, self._fitted, self._tried = 0, 0.0, 0

    def begin(self, rollout: StageRollout) -> None:
        """A rollout begins: what is there to see is where everybody stands."""
        self.rollout = rollout
        self._shown.look(rollout)

    def poll(self) -> None:
        """To be called while linear models are fitted, batch by batch; also when a cancel is noticed."""
        if self.rollout is not None:
            self._fitted += self._batch_share(self.rollout)
            self._tell(self.rollout)

    def watch(self, rollout: StageRollout) -> None:
        """To be called whenever more of the rollout is done: a checkpoint now and then, and progress."""
        self.rollout, self._fitted = rollout, 0.0
        step, _ = self._count()
        self._checkpoints.save(rollout, step)
        self._tell(rollout)

    def watch_trial(self, rollout: StageRollout) -> None:
        """The same within a trial, of which nothing is saved."""
        self._tried, self._fitted = min(self._tried + _TRIAL, _TRIALS), 0.0
        self._tell(rollout)

    def _tell(self, shown: StageRollout) -> None:
        """Report; shown: the rollout whose moment and cost are told."""
        self._shown.look(shown)
        layers = shown.planning[2].layers if shown.planning is not None else []
        at_s, lasts_s = (fragments * _FRAGMENT_S for fragments in (_count_planned(shown), shown.fragments))
        doing = self.finder.doing if self.finder is not None and self.finder.doing else ""
        doing = doing or f"Simulating: {at_s:.1f} s of {lasts_s:.1f}"
        self._run.progress(*self._count(), cost=layers[-1].cost if layers else 0.0, planned_s=at_s, doing=doing)

    def _count(self) -> tuple[int, int]:
        """Units that are done, of how many; never fewer than before."""
        assert self.rollout is not None
        done, total = self.rollout.count_work(min(self._fitted, 1.0))
        if self.finder is not None:
            done += _TRIALS if self.finder.is_done else self._tried
            total += _TRIALS
        self._step = max(self._step, min(done, total), self._checkpoints.loaded)
        return self._step, max(total, self._step)  # more passes than usual are forgotten once they are done

    @staticmethod
    def _batch_share(rollout: StageRollout) -> float:
        """How much of a section's linear models one batch of trials is, at the most that they take."""
        character = rollout.characters[rollout.waiting[0] if rollout.waiting else 0]
        error = character.tracking_error
        trials = 2 * (error.nx + len(error.servos)) * min(SECTION + AHEAD, rollout.fragments)
        return character.world.copies / trials


def _count_planned(rollout: StageRollout) -> int:
    """Fragments that are planned or played, as far as the plan under way goes."""
    planning = rollout.planning
    return len(rollout.offsets) + (len(planning[2].layers) if planning is not None else 0)
