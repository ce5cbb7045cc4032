# SPDX-License-Identifier: GPL-3.0-or-later
"""How much is spent on learning a graph, and how far learning has come."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ....geometry.quaternions import Array
from ..model.fragments import Track
from ..model.policies import Policies


@dataclass(frozen=True)
class LearningBudget:
    """How much to learn.

    copies: that are simulated at once. population_size: samples N_s of guided SAMCON at first, half as many later.
    examples: tuples of each fragment and EM iteration. iterations: of EM at most. push_n: newtons, of the hardest
    pushes at first, for a body of 62 kg. settled: change of policies below which EM has converged. es_turns: turns of
    evolution strategies after it.
    """

    copies: int = 512
    population_size: int = 32
    examples: int = 200
    iterations: int = 4
    push_n: float = 300.0
    settled: float = 0.012
    es_turns: int = 6

    @property
    def steps(self) -> int:
        """Of one stage of the curriculum, at most."""
        return 1 + self.iterations + self.es_turns


@dataclass(frozen=True, eq=False)
class LearningProgress:
    """How far learning has come: enough to resume it.

    best: the most robust policies of this stage so far. push_levels: (F,) newtons, for evolution strategies. stage,
    iteration (of EM), es_turn: the next to be done. refined, regressed: whether this stage's control clips are refined,
    and whether its EM iterations are over. warm_start: whether policies began with those of another body.
    """

    track: Track
    policies: Policies
    best: Policies
    push_levels: Array
    stage: int = 0
    iteration: int = 0
    es_turn: int = 0
    refined: bool = False
    regressed: bool = False
    warm_start: bool = False
    curve: tuple[Mapping[str, Any], ...] = ()

    def step(self, budget: LearningBudget) -> int:
        """How many steps are done."""
        done = budget.iterations if self.regressed else self.iteration
        return self.stage * budget.steps + self.refined + done + self.es_turn

    def robustness(self, name: str) -> list[float]:
        """Robustness after each step of the stage of that name: newtons of a cycle, else transitions' success rate."""
        return [one.get("push_n", one.get("stood", 0.0)) for one in self.curve if one["lesson"] == name]
