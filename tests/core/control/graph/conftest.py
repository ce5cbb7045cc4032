# SPDX-License-Identifier: GPL-3.0-or-later
"""Skills of the stock clips, the body that they are for, worlds to try them in, and a walk that was learned."""

from contextlib import ExitStack, closing
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from sinew.core.body import BodyModel, build_body
from sinew.core.control.graph.learning import curriculum, steering
from sinew.core.control.graph.learning import learner as learning
from sinew.core.control.graph.learning.learner import GraphLearner
from sinew.core.control.graph.learning.progress import LearningBudget
from sinew.core.control.graph.learning.steering import learn_turn_offsets
from sinew.core.control.graph.model.control_graph import ControlGraph
from sinew.core.control.graph.model.features import Features
from sinew.core.control.graph.model.fragments import Track, fragment_reference
from sinew.core.control.graph.model.policies import zero_policies
from sinew.core.control.graph.model.structure import GraphStructure, convert_motion_graph
from sinew.core.control.graph.playing.fragment_simulator import FragmentSimulator
from sinew.core.control.graph.transitions.distances import propose_transitions
from sinew.core.control.graph.transitions.motion_graph import MotionGraph, Skill
from sinew.core.control.tracking.motion_kind import guess_gait, guess_motion_kind
from sinew.core.motion.io import stock
from sinew.core.sim import engines
from sinew.core.sim.stage import Character, Stage


@cache
def skill_of(name: str) -> Skill:
    """A stock clip as the skill that it is guessed to be."""
    clip = stock.load_stock(name)
    return Skill(name, clip, guess_motion_kind(clip), guess_gait(clip))


@pytest.fixture(scope="session")
def stock_skill():
    """By the name of a stock clip its skill."""
    return skill_of


@pytest.fixture(scope="session")
def body() -> BodyModel:
    """The stock humanoid's body."""
    clip = stock.load_stock("walk")
    return build_body(clip.skeleton, clip=clip)[0]


@pytest.fixture(scope="session")
def world_of():
    """Compiles worlds of one character, or as many as are asked for, in some copies; each only once."""
    with ExitStack() as opened:

        @cache
        def compiled(its_body: BodyModel, copies: int, characters: int = 1):
            stage = Stage(tuple(Character(its_body) for _ in range(characters)))
            return opened.enter_context(closing(engines.get_engine("mujoco").compile(stage, copies)))

        yield compiled


@pytest.fixture(scope="session")
def arena_of(world_of):
    """Makes arenas for tracks, in some copies."""

    def make(track: Track, copies: int) -> FragmentSimulator:
        world = world_of(track.body, copies)
        return FragmentSimulator(track, fragment_reference(track, world), world, Features(track.body))

    return make


@pytest.fixture(scope="session")
def town(body) -> tuple[MotionGraph, GraphStructure, Track]:
    """A walk, a run, a kick and both get-ups with the ways that are proposed, as fragments; nothing is learned."""
    skills = tuple(skill_of(name) for name in ("walk", "run", "kick", "getup_facedown", "getup_faceup"))
    graph = MotionGraph(skills, propose_transitions(body, skills))
    return graph, *convert_motion_graph(body, graph)


@pytest.fixture(scope="session")
def walker(body) -> ControlGraph:
    """A walk that was learned with very little effort: it goes on for ever, and stands a push, but cannot turn."""
    structure, track = convert_motion_graph(body, MotionGraph((skill_of("walk"),)))
    with pytest.MonkeyPatch.context() as patch, ExitStack() as opened:
        for module, name, value in (
            (learning, "_REFINE_COPIES", 24),
            (learning, "_TEST_COPIES", 24),
            (curriculum, "_INSTANCES", 2),
            (curriculum, "_LEAST_S", 1.0),
        ):
            patch.setattr(module, name, value)
        study = LearningBudget(copies=128, population_size=16, examples=50, iterations=1, es_turns=0)
        learner = GraphLearner(structure, engines.get_engine("mujoco"), study, 3, opened=opened)
        now = learner.initial_progress(track)
        while now.stage < len(learner.stages(now)):
            now = learner.advance(now)
    return ControlGraph(structure, now.track, now.policies, np.zeros_like(now.policies.actions))


@pytest.fixture(scope="session")
def turner(walker, arena_of) -> ControlGraph:
    """The learned walk, which has found out how to turn."""
    (chain,) = walker.structure.chains
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(steering, "_SETTLE", 3)
        patch.setattr(steering, "_COUNTED", 4)
        turns, rate = learn_turn_offsets(arena_of(walker.track, 44), walker.policies, chain, lambda: None)
    return replace(walker, turns=turns, turn_rates=np.full(chain.count, rate))


@pytest.fixture(scope="session")
def faller(body, walker, arena_of) -> ControlGraph:
    """The learned walk with both get-ups, whose feedback is not learned, and the ways from them to the walk."""
    skills = tuple(skill_of(name) for name in ("walk", "getup_facedown", "getup_faceup"))
    graph = MotionGraph(skills, propose_transitions(body, skills))
    structure, track = convert_motion_graph(body, graph)
    parts = {name: np.array(getattr(track, name)) for name in ("qpos", "rates", "targets")}
    for name, values in parts.items():
        values[: len(walker.track)] = getattr(walker.track, name)
    track = Track(body, **parts)
    known = np.arange(len(walker.track))
    policies = zero_policies(arena_of(track, 16).start_observations, len(Features(body).action_dofs))
    policies = policies.with_fragments(known, walker.policies)
    return ControlGraph(structure, track, policies, np.zeros_like(policies.actions), graph.transitions)
