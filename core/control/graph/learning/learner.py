# SPDX-License-Identifier: GPL-3.0-or-later
"""Guided learning of a whole graph: open-loop refinement, examples and regression in turns, then practice."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ....geometry.quaternions import Array
from ....sim.engine import Engine, World
from ....sim.stage import Character, Stage
from ..model.control_graph import ControlGraph
from ..model.features import Features
from ..model.fragments import Indices, Track, fragment_reference
from ..model.policies import Policies, regress_policy, stack_policies, zero_policies
from ..model.structure import GraphStructure
from ..playing.fragment_simulator import FragmentSimulator
from ..playing.push_tests import find_hardest_push, transition_success_rate
from .curriculum import TRANSITIONS, CurriculumStage, curriculum_stages, joint_stage
from .evolution_strategies import EvolutionStrategy
from .fall_states import collect_fall_states
from .gait_symmetry import FragmentSymmetry
from .graph_lqr import solve_graph_lqr
from .guided_samcon import GuidedSamcon, SimulationTuples
from .open_loop_refinement import refine_open_loop
from .retargeting import retarget_policies, retarget_track
from .steering import learn_turn_offsets

_REFINE_COPIES, _TEST_COPIES, _FALLS = 100, 128, 128
_REFINE, _BALANCE, _WALK, _FALL, _TEST, _PRACTISE = range(6)  # what randomness is for
# Of examples and iterations: what is done once in a while need not stand as much as what is done for ever.
_OF_LINKS = 0.3
_TRIES = 3  # of a way between skills, which is walked only once; the best of them is what policies begin with
_CAREFUL = 3  # iterations with all members
# Pushes of learners: of the one that was stood last, and between what shares of the first.
_BEYOND, _LEAST, _MOST = 1.5, 0.2, 3.0
_OFTEN_LOST = 0.02  # of the fragments that were walked, how many a population was lost in
_ENOUGH_STOOD = 0.9  # of walks through the ways between skills; with fewer, skills must give way
_ROUNDS = 6  # of practice in a turn
_UNLUCKY = 0.8  # a turn after which that much less is stood than once before is forgotten
_PUSHED_WITHIN = 12  # fragments of a walk through a way
_FEW = 30  # examples, with fewer a fragment keeps the policy it has


@dataclass(frozen=True)
class LearningBudget:
    """How hard to learn.

    copies: that are simulated at once. members: how many of them try each way at first; later, when policies know
    better, half of them do. examples: of each fragment and iteration. iterations: at most. push_n: up to how hard
    learners are pushed at first, for a body of 62 kg. settled: a change of policies below which there are no more
    iterations. practice: turns of practice after them.
    """

    copies: int = 512
    members: int = 32
    examples: int = 200
    iterations: int = 4
    push_n: float = 300.0
    settled: float = 0.012
    practice: int = 6

    @property
    def steps(self) -> int:
        """Of one lesson, at most."""
        return 1 + self.iterations + self.practice


@dataclass(frozen=True, eq=False)
class LearningProgress:
    """Where learning stands: enough to go on after a kill.

    best: of the lesson's policies so far, those that stood the hardest push; they are what is kept of it.
    levels: (F,) newtons, pushes in practice. lesson, iteration, turn (of practice): the next to be done. refined,
    studied: whether this lesson's track is, and whether its iterations are over. warm: whether policies are known from
    another body.
    """

    track: Track
    policies: Policies
    best: Policies
    levels: Array
    lesson: int = 0
    iteration: int = 0
    turn: int = 0
    refined: bool = False
    studied: bool = False
    warm: bool = False
    curve: tuple[Mapping[str, Any], ...] = ()

    def step(self, study: LearningBudget) -> int:
        """How many steps are done."""
        done = study.iterations if self.studied else self.iteration
        return self.lesson * study.steps + self.refined + done + self.turn

    def stood(self, name: str) -> list[float]:
        """What policies stood, time by time, in the lesson of that name: newtons, or the share of walks."""
        return [one.get("push_n", one.get("stood", 0.0)) for one in self.curve if one["lesson"] == name]


@dataclass(eq=False)
class GraphLearner:
    """Learns one graph; every step depends on the seed and what came before, and on nothing else.

    look: called all the while: whoever waits may want to know how far it is, or have changed their mind.
    opened: what worlds are closed with.
    """

    layout: GraphStructure
    engine: Engine
    study: LearningBudget
    seed: int
    look: Callable[[], None] = lambda: None
    opened: ExitStack = field(default_factory=ExitStack)

    def begun(self, track: Track, known: ControlGraph | None = None) -> LearningProgress:
        """Nothing learned yet, or what another body knows."""
        features = Features(track.body)
        if known is not None:
            track = retarget_track(known, self.layout, track)
        arena = self._arena(track, self._world(track, _TEST_COPIES))
        policies = zero_policies(arena.start_features, len(features.acts))
        if known is not None:
            policies = retarget_policies(known, policies, features)
        return LearningProgress(track, policies, policies, np.zeros(self.layout.count), warm=known is not None)

    def lessons(self, now: LearningProgress) -> list[CurriculumStage]:
        """What there is to be learned, in order; if too few ways between skills are stood, all of it together."""
        found = curriculum_stages(self.layout)
        if now.lesson >= len(found) and found[-1].name == TRANSITIONS and max(now.stood(TRANSITIONS)) < _ENOUGH_STOOD:
            found.append(joint_stage(self.layout))
        return found

    def advanced(self, now: LearningProgress) -> LearningProgress:
        """One step further: a lesson's refinement, one of its iterations, or a turn of practice."""
        lesson = self.lessons(now)[now.lesson]
        if not now.refined:
            return self._refined(now, lesson)
        if now.studied:
            return self._practised(now, lesson)
        policies, figures = self._iterated(now, lesson)
        after = self._kept(now, lesson, policies, figures)
        settled = figures["change"] < self.study.settled and figures["lost_share"] < _OFTEN_LOST
        most = self.study.iterations * (_OF_LINKS if lesson.name == TRANSITIONS else 1.0)
        if now.iteration + 1 >= most or settled:
            after = replace(after, policies=after.best, studied=True)
            return after if self.study.practice else self._over(after)
        return replace(after, iteration=now.iteration + 1)

    def _kept(
        self, now: LearningProgress, lesson: CurriculumStage, policies: Policies, figures: Mapping[str, Any]
    ) -> LearningProgress:
        """With new policies, which are the best so far if nothing stood more."""
        after = replace(now, policies=policies, curve=(*now.curve, figures))
        stood = after.stood(lesson.name)
        return replace(after, best=policies) if stood[-1] >= max(stood) else after

    def _over(self, now: LearningProgress) -> LearningProgress:
        """The next lesson, with the best of this one."""
        return LearningProgress(
            now.track, now.best, now.best, now.levels, now.lesson + 1, warm=now.warm, curve=now.curve
        )

    def turns(self, now: LearningProgress) -> tuple[Array, Array]:
        """(F, A) what is added to the actions of gaits to turn left as fast as they can, and (F,) how fast that is."""
        found, rates = np.zeros_like(now.policies.actions), np.zeros(self.layout.count)
        arena = self._arena(now.track, self._world(now.track, _TEST_COPIES))
        for chain in self.layout.chains:
            if chain.gait:
                own = slice(chain.first, chain.first + chain.count)
                found[own], rates[own] = learn_turn_offsets(arena, now.policies, chain, self.look)
        return found, rates

    def _refined(self, now: LearningProgress, lesson: CurriculumStage) -> LearningProgress:
        """The lesson's fragments as a body can do them, and policies that begin there."""
        if not lesson.walks:  # everything in it was learned before: it goes on with that
            return replace(now, refined=True, best=now.policies)
        world, track = self._world(now.track, _REFINE_COPIES), now.track
        for number, walk in enumerate(lesson.walks):
            locked = np.setdiff1d(walk, lesson.open)
            tries = _TRIES if lesson.name == TRANSITIONS else 1
            seeds = [(self.seed, _REFINE, now.lesson, number, *again) for again in [(), (1,), (2,)][:tries]]
            track, _ = refine_open_loop(track, walk, world, seeds, lambda *_: self.look(), locked)
        even = FragmentSymmetry(track.body, self.layout, Features(track.body))
        track = even.track(track)
        fresh = zero_policies(
            self._arena(track, self._world(track, _TEST_COPIES)).start_features, now.policies.actions.shape[1]
        )
        some = Policies(*(getattr(fresh, name)[lesson.open] for name in vars(fresh)))
        if now.warm:  # what is known stays known, around where the body now is
            known = Policies(*(getattr(now.policies, name)[lesson.open] for name in vars(fresh)))
            some = replace(known, states=some.states)
        policies = now.policies.with_fragments(lesson.open, some)
        return replace(now, track=track, refined=True, policies=policies, best=policies)

    def _iterated(self, now: LearningProgress, lesson: CurriculumStage) -> tuple[Policies, dict[str, Any]]:
        """Policies after one more turn of examples and regression, and what was seen of it."""
        features = Features(now.track.body)
        examples, walked = self._examples(now, lesson)
        policies = _regress_policies(
            now.policies, examples, lesson, FragmentSymmetry(now.track.body, self.layout, features), features
        )
        figures: dict[str, Any] = {
            "lesson": lesson.name,
            "iteration": now.iteration + 1,
            "cost": float(np.mean([value for value in examples.cost if np.isfinite(value)])),
            "lost": examples.lost,
            "lost_share": examples.lost / walked,
            "change": policies.distance(now.policies, features.scale, lesson.open),
        }
        return policies, figures | self._measured(now, policies, lesson)

    def _measured(self, now: LearningProgress, policies: Policies, lesson: CurriculumStage) -> dict[str, float]:
        """What policies stand by themselves: a push in newtons for a cycle, else the share of walks through ways."""
        found: dict[str, float] = {}
        chain = next((one for one in self.layout.chains if one.name == lesson.name and one.kind == "cycle"), None)
        if chain is not None:
            tests = self._arena(now.track, self._world(now.track, _TEST_COPIES))
            follows = self.layout.follows
            found["push_n"], _ = find_hardest_push(
                tests, policies, chain.first, lambda some: np.array([follows[one][0] for one in some]), chain.count
            )
        else:
            walks, tests = (
                curriculum_stages(self.layout)[-1].walks,
                self._arena(now.track, self._world(now.track, _TEST_COPIES)),
            )
            found["stood"] = transition_success_rate(
                tests, policies, walks, self.layout.follows, self._rng(_TEST, now.lesson)
            )
        return found

    def _practised(self, now: LearningProgress, lesson: CurriculumStage) -> LearningProgress:
        """After a turn of practice."""
        arena = self._arena(now.track, self._world(now.track, self.study.copies))
        rng, visits = self._rng(_PRACTISE, now.lesson, now.turn), np.zeros(self.layout.count)
        cycle = len(lesson.heads) == len(lesson.open)
        arena.entries = self._falls(now, lesson)

        def starts(count: int, random: np.random.Generator) -> Indices:
            if cycle:
                return random.choice(lesson.open, size=count)
            return np.array([lesson.fresh(visits, random) for _ in range(count)])

        even = FragmentSymmetry(now.track.body, self.layout, Features(now.track.body))
        practice = EvolutionStrategy(arena, lesson, even, starts, 1 if cycle else _PUSHED_WITHIN)
        levels = now.levels if now.turn else np.where(now.levels > 0.0, now.levels, self._push(now, lesson))
        policies, levels, felled = practice.turn(now.policies, levels, _ROUNDS, rng, self.look)
        figures = {
            "lesson": lesson.name,
            "iteration": now.iteration + now.turn + 2,
            "felled": felled,
            "change": policies.distance(now.policies, arena.features.scale, lesson.open),
            **self._measured(now, policies, lesson),
        }
        after = replace(self._kept(now, lesson, policies, figures), turn=now.turn + 1, levels=levels)
        stood = after.stood(lesson.name)
        if stood[-1] < _UNLUCKY * max(stood):
            after = replace(after, policies=after.best)
        return self._over(after) if after.turn >= self.study.practice else after

    def _examples(self, now: LearningProgress, lesson: CurriculumStage) -> tuple[SimulationTuples, int]:
        """What did well on guided walks through the lesson, and how many fragments were walked."""
        study, track = self.study, now.track
        world = self._world(track, study.copies)
        arena = self._arena(track, world)
        rng, visits = self._rng(_WALK, now.lesson, now.iteration), np.zeros(self.layout.count)
        balance, gauge = solve_graph_lqr(
            track, arena.reference, world, arena.features, lesson.follows, self._rng(_BALANCE, now.lesson)
        )
        careful = now.iteration < _CAREFUL and lesson.name != TRANSITIONS
        members = study.members if careful else study.members // 2
        guided = GuidedSamcon(
            arena,
            gauge,
            balance,
            study.copies // members,
            lambda some, random: lesson.after(some, random, visits),
            lambda random: lesson.fresh(visits, random),
            ~np.isin(np.arange(self.layout.count), lesson.open),
            self._push(now, lesson),
        )
        arena.entries = self._falls(now, lesson)
        each = max(study.examples * _OF_LINKS, 2.0 * _FEW) if lesson.name == TRANSITIONS else study.examples
        steps = int(np.ceil(each * lesson.length / guided.populations))
        unknown = now.iteration == 0 and not now.warm and bool(lesson.walks)
        return guided.walked(now.policies, steps, unknown, rng, self.look), steps * guided.populations

    def _push(self, now: LearningProgress, lesson: CurriculumStage) -> float:
        """Up to how many newtons learners are pushed: beyond what they stood last time."""
        stood = [figures["push_n"] for figures in now.curve if figures["lesson"] == lesson.name and "push_n" in figures]
        first = self.study.push_n * now.track.body.mass / 62.0
        return float(np.clip(_BEYOND * stood[-1], _LEAST * first, _MOST * first)) if stood else first

    def _falls(self, now: LearningProgress, lesson: CurriculumStage) -> dict[int, Array]:
        """Where get-ups of the lesson begin: falls out of the cycles."""
        rises = np.array([one.first for one in self.layout.chains if one.kind == "rise"], dtype=np.int64)
        if not np.isin(rises, lesson.open).any():
            return {}
        cycles = [np.array(one.fragments) for one in self.layout.chains if one.kind == "cycle"]
        arena = self._arena(now.track, self._world(now.track, _FALLS))
        rng = self._rng(_FALL, now.lesson, now.iteration, now.turn)
        starts = rng.choice(np.concatenate(cycles), size=_FALLS)
        return collect_fall_states(
            arena, now.policies, starts, lambda some: lesson.after(some, rng), rises, rng, self.look
        )

    def _arena(self, track: Track, world: World) -> FragmentSimulator:
        return FragmentSimulator(track, fragment_reference(track, world), world, Features(track.body))

    def _world(self, track: Track, copies: int) -> World:
        if copies not in self._worlds:
            world = self.engine.compile(Stage((Character(track.body),)), copies)
            self._worlds[copies] = self.opened.enter_context(closing(world))
        return self._worlds[copies]

    def __post_init__(self) -> None:
        self._worlds: dict[int, World] = {}

    def _rng(self, *what: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, *what])


def _regress_policies(
    policies: Policies, examples: SimulationTuples, lesson: CurriculumStage, even: FragmentSymmetry, features: Features
) -> Policies:
    """The policies with those of the lesson's fragments found anew from examples."""
    twins, found, where = even.layout.twins, [], []
    for fragment in np.unique(twins[lesson.open]):
        states, actions = examples.of(int(fragment))
        for second in np.flatnonzero((twins == fragment) & (np.arange(len(twins)) != fragment)):
            more = examples.of(int(second))
            if len(more[0]):
                more = even.pooled(*more)
                states = np.concatenate([states.reshape(-1, more[0].shape[1]), more[0]])
                actions = np.concatenate([actions.reshape(-1, more[1].shape[1]), more[1]])
        if len(states) >= _FEW:
            found.append(regress_policy(states, actions, features.scale))
            where.append(int(fragment))
    if not found:
        return policies
    return even.policies(policies.with_fragments(np.array(where), stack_policies(found)))
