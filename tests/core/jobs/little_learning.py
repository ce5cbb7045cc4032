# SPDX-License-Identifier: GPL-3.0-or-later
"""Run by a worker before it learns a graph: hardly any effort, so that a run takes seconds."""

from functools import partial

from sinew.core.control.graph import learn_method
from sinew.core.control.graph.learning import (
    curriculum,
    evolution_strategies,
    learner,
    open_loop_refinement,
    steering,
)
from sinew.core.control.graph.learning.progress import LearningBudget
from sinew.core.control.graph.playing.push_tests import find_hardest_push

learner._REFINE_COPIES, learner._TEST_COPIES, learner._MIN_TUPLES, learner._UPDATES = 8, 24, 5, 1
learner.find_hardest_push = partial(find_hardest_push, cycles=1)
curriculum._INSTANCES, curriculum._LEAST_S = 1, 0.1
open_loop_refinement._SPREADS = (0.1,)
steering._SETTLE, steering._COUNTED = 1, 2
evolution_strategies._STEPS = 3
learn_method._SHOWN_S = 0.5
learn_method._BUDGETS["draft"] = LearningBudget(
    32, population_size=8, examples=8, iterations=1, settled=0.0, es_turns=2
)
