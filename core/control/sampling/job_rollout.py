# SPDX-License-Identifier: GPL-3.0-or-later
"""A job's stage rolled out: from its checkpoint on, with progress, and with strengths found for reactions."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from ...sim import engines
from ...sim.stage import Stage
from ..method import Run
from ..tracking.reactions import WORDS
from .checkpoint import RolloutCheckpoints
from .disturbances import find_disturbances
from .reaction_search import is_wanted
from .reaction_trials import ReactionFinder
from .rollout_progress import RolloutProgress
from .stage_rollout import StageRollout

REACTIONS = "reactions"
"""Name of the report's detail: for pushes and throws with an intent, the strength and seed found, and all trials."""


def roll_out_job(
    stage: Stage, begin: Callable[[Stage, int], StageRollout], run: Run, opened: ExitStack
) -> StageRollout:
    """The stage, rolled out to its end. begin: a rollout of a stage at its beginning, with the seed of a number."""
    checkpoints = RolloutCheckpoints(run)
    progress = RolloutProgress(run, checkpoints)

    def begin_watched(its_stage: Stage, number: int) -> StageRollout:
        rollout = begin(its_stage, number)
        for character in rollout.characters:
            character.poll_cancel = progress.poll
        progress.begin(rollout)
        return rollout

    if not find_disturbances(stage):
        rollout = begin_watched(stage, 0)
        checkpoints.load(rollout)
    else:
        engine = engines.get_engine(run.engine)
        finder = ReactionFinder(stage, begin_watched, engine, run.engine, opened, progress.watch, progress.watch_trial)
        finder.restore(checkpoints.read())
        checkpoints.besides, progress.finder = finder.to_arrays, finder
        rollout = finder.begin_rollout()
        checkpoints.load(rollout)
        rollout = finder.find(rollout)
        _report_reactions(finder, run)
    rollout.run(progress.watch)
    return rollout


def _report_reactions(finder: ReactionFinder, run: Run) -> None:
    """Say what was found, as findings and in the report."""
    detail: dict[str, Any] = {}
    for number, disturbance in enumerate(finder.disturbances):
        found, intent = finder.found(number), disturbance.intent.title()
        seed, strength = run.seed + finder.seed, disturbance.describe_strength(found.strength)
        wanted, word = is_wanted(disturbance.intent, found.reaction), WORDS[found.reaction.kind]
        if wanted:
            run.add_finding("reaction", f"{intent}: {strength}, seed {seed} ('{disturbance.name}')", "")
        else:
            tried = f"{len(finder.trials)} trials"
            run.add_finding(
                "reaction",
                f"{intent}: not found for '{disturbance.name}' in {tried}; at {strength} the character {word}",
                "Push another bone, from another side or at another moment, or give the force by hand",
            )
        detail[disturbance.name] = {
            "intent": disturbance.intent,
            "found": wanted,
            "strength": found.strength,
            "unit": "kg" if disturbance.thrown else "N",
            "seed": seed,
            "reaction": word,
            "off_m": found.reaction.peak_m,
            "trials": [
                {
                    "seed": run.seed + one.seed,
                    "strength": one.strength,
                    "reaction": WORDS[one.reaction.kind],
                    "off_m": one.reaction.peak_m,
                }
                for index, one in finder.trials
                if index == number
            ],
        }
    run.add_detail(REACTIONS, detail)
