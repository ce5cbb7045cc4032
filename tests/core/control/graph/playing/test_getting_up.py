# SPDX-License-Identifier: GPL-3.0-or-later
"""A get-up that was learned gets up: from lying flat, and from wherever a fall has ended, back to the walk."""

from contextlib import ExitStack
from dataclasses import replace

import numpy as np
import pytest

from sinew.core.control.graph.learning import learner as learning
from sinew.core.control.graph.learning import open_loop_refinement
from sinew.core.control.graph.learning.learner import GraphLearner
from sinew.core.control.graph.learning.progress import LearningBudget
from sinew.core.control.graph.model.control_graph import ControlGraph
from sinew.core.control.graph.model.features import Features
from sinew.core.control.graph.model.fragments import Track
from sinew.core.control.graph.model.policies import zero_policies
from sinew.core.control.graph.model.structure import convert_motion_graph
from sinew.core.control.graph.playing.baking import Place, start_state
from sinew.core.control.graph.playing.planners import SequenceItem, SequencePlanner
from sinew.core.control.graph.playing.player import PlayedCharacter, Player
from sinew.core.control.graph.transitions.distances import propose_transitions
from sinew.core.control.graph.transitions.motion_graph import MotionGraph
from sinew.core.control.tracking.reference import CONTROL_FPS
from sinew.core.geometry.flags import find_runs
from sinew.core.sim import engines

RISE = "getup_faceup"
FEET_M = 0.7  # the pelvis of who stands is higher


@pytest.fixture(scope="module")
def riser(body, walker, arena_of, stock_skill) -> ControlGraph:
    """The learned walk with a get-up that was learned after it, with little effort."""
    skills = (stock_skill("walk"), stock_skill(RISE))
    motions = MotionGraph(skills, propose_transitions(body, skills))
    structure, track = convert_motion_graph(body, motions)
    parts = {name: np.array(getattr(track, name)) for name in ("qpos", "rates", "targets")}
    for name, values in parts.items():
        values[: len(walker.track)] = getattr(walker.track, name)
    track = Track(body, **parts)
    policies = zero_policies(arena_of(track, 16).start_observations, len(Features(body).action_dofs))
    policies = policies.with_fragments(np.arange(len(walker.track)), walker.policies)
    with pytest.MonkeyPatch.context() as patch, ExitStack() as opened:
        for module, name, value in (
            (learning, "_REFINE_COPIES", 24),
            (learning, "_TEST_COPIES", 24),
            (learning, "_FALLS", 24),
            (learning, "_MIN_TUPLES", 20),
            (learning, "_TRIES", 1),
            (open_loop_refinement, "_SPREADS", (0.1,)),
        ):
            patch.setattr(module, name, value)
        budget = LearningBudget(copies=128, population_size=16, examples=30, iterations=1, es_turns=0)
        learner = GraphLearner(structure, engines.get_engine("mujoco"), budget, 3, opened=opened)
        # The walk is known, so the stage of everything else is next; one iteration of it.
        now = replace(learner.initial_progress(track), policies=policies, best=policies, stage=1)
        while not now.curve:
            now = learner.advance(now)
    return ControlGraph(structure, now.track, now.policies, np.zeros_like(policies.actions), motions.transitions)


@pytest.fixture
def lying(riser, world_of) -> Player:
    """Flat on its back."""
    first, world = riser.structure.chain(RISE).first, world_of(riser.body, 1)
    character = PlayedCharacter(riser, SequencePlanner(riser, [SequenceItem("walk")]), first)
    return Player(world, [character], start_state(world, [riser], [Place(np.zeros(2), 0.0)], [first]))


def heights(player: Player, seconds: float) -> np.ndarray:
    """(K,) how high the pelvis is, step by step."""
    found = []
    for _ in range(round(seconds * CONTROL_FPS)):
        player.step()
        found.append(player.pose(0)[0][2])
    return np.array(found)


def stood_s(seen: np.ndarray) -> float:
    """The longest time on its feet, in seconds; how long it then walks is for other tests to say."""
    return max((last - first for first, last in find_runs(seen > FEET_M)), default=0) / CONTROL_FPS


def test_from_lying_flat_it_gets_up(lying):
    assert lying.pose(0)[0][2] < 0.3
    seen = heights(lying, 10.0)
    assert stood_s(seen) > 2.0


@pytest.mark.parametrize("shove", [(150.0, 0.0, 0.0), (0.0, -120.0, 60.0)], ids=["ahead", "aside"])
def test_who_lies_otherwise_than_the_get_up_begins_gets_up_as_well(lying, shove):
    """Limp and moved about it comes to lie somehow; then it must get up from there."""
    character, forces = lying.characters[0], np.zeros((len(lying.rows.link_pos[0, 0]), 3))
    character.down_s = 0.0
    forces[character.features.trunk] = shove
    for _ in range(15):
        lying.step(forces)
    seen = heights(lying, 14.0)
    assert seen[0] < 0.4 and stood_s(seen) > 2.0
