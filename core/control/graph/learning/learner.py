# SPDX-License-Identifier: GPL-3.0-or-later
"""The guided learning pipeline (control graphs, 5.4, Algorithm 2), stage by stage of the curriculum.

A stage's control clips are refined (line 4), then guided SAMCON and linear regression alternate (the EM iterations of
lines 6 to 12), then evolution strategies make the policies robust to pushes. The most robust policies are kept.
"""

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
from ..playing.push_tests import PUSHED_CYCLES, find_hardest_push, transition_success_rate
from .curriculum import TRANSITIONS, CurriculumStage, curriculum_stages, joint_stage
from .evolution_strategies import EvolutionStrategy, count_update_steps
from .fall_states import collect_fall_states
from .gait_symmetry import FragmentSymmetry
from .graph_lqr import solve_graph_lqr
from .guided_samcon import GuidedSamcon, SimulationTuples
from .open_loop_refinement import refine_open_loop
from .progress import LearningBudget, LearningProgress
from .retargeting import retarget_policies, retarget_track
from .steering import count_turn_steps, learn_turn_offsets

_REFINE_COPIES, _TEST_COPIES, _FALLS = 100, 128, 128
_REFINE, _LQR, _WALK, _FALL, _TEST, _ES = range(6)  # random streams, by what they are for
# Of tuples and iterations, for transitions: they need not be as robust as cycles, which are repeated for ever.
_TRANSITION_SHARE = 0.3
_TRIES = 3  # of refining a transition, which occurs only once in its walk; the best one counts
_FULL_ITERATIONS = 3  # EM iterations with whole populations, halved after
# Pushes in guided SAMCON: of the hardest that was withstood last, and between these shares of the first.
_BEYOND, _LEAST, _MOST = 1.5, 0.2, 3.0
_MAX_FAILURES = 0.02  # share of executed fragments in which a population failed, above which EM has not converged
_MIN_SUCCESS = 0.9  # success rate of transitions below which everything is learned once more, jointly
_UPDATES = 6  # of the evolution strategy in a turn
_SETBACK = 0.8  # share of the best robustness below which a turn is undone
_PUSHED_WITHIN = 12  # fragments of a walk through a transition
_REFINING, _ITERATING, _IMPROVING = 3.0, 4.0, 2.0  # what the kinds of steps cost, compared with each other
_REFINING_CALLS = 6  # a fragment of a walk: a search in each pass, and batches of trials for its models
_MIN_TUPLES = 30  # with fewer a fragment keeps the policy it has


@dataclass(eq=False)
class GraphLearner:
    """Learns one graph; every step depends on the seed and what came before, and on nothing else.

    on_step: called all the while, to report progress and to be cancelled by. opened: closes the worlds.
    """

    structure: GraphStructure
    engine: Engine
    budget: LearningBudget
    seed: int
    on_step: Callable[[], None] = lambda: None
    opened: ExitStack = field(default_factory=ExitStack)

    def initial_progress(self, track: Track, known: ControlGraph | None = None) -> LearningProgress:
        """Zero policies (Algorithm 2, line 5), or a warm start from the graph of another body (6.1)."""
        features = Features(track.body)
        if known is not None:
            track = retarget_track(known, self.structure, track)
        simulator = self._test_simulator(track)
        policies = zero_policies(simulator.start_observations, len(features.action_dofs))
        if known is not None:
            policies = retarget_policies(known, policies, features)
        return LearningProgress(track, policies, policies, np.zeros(self.structure.count), warm_start=known is not None)

    def stages(self, now: LearningProgress) -> list[CurriculumStage]:
        """The curriculum; where too few transitions succeed, a joint stage comes last."""
        found = curriculum_stages(self.structure)
        if (
            now.stage >= len(found)
            and found[-1].name == TRANSITIONS
            and max(now.robustness(TRANSITIONS)) < _MIN_SUCCESS
        ):
            found.append(joint_stage(self.structure))
        return found

    def work_shares(self, now: LearningProgress) -> tuple[float, float]:
        """The shares of all work that are done before and after the next step, if every stage takes all its steps."""
        budget, stages = self.budget, len(self.stages(now))
        each = _REFINING + budget.iterations * _ITERATING + budget.es_turns * _IMPROVING
        done = now.stage * each
        if now.refined:
            done += _REFINING + (budget.iterations if now.regressed else now.iteration) * _ITERATING
            done += now.es_turn * _IMPROVING
        step = _REFINING if not now.refined else _IMPROVING if now.regressed else _ITERATING
        return done / (stages * each), (done + step) / (stages * each)

    def expected_calls(self, now: LearningProgress) -> float:
        """About how often ``on_step`` is called in the next step."""
        stage = self.stages(now)[now.stage]
        if not now.refined:
            tries = _TRIES if stage.name == TRANSITIONS else 1
            return sum(len(walk) for walk in stage.refinement_walks) * tries * _REFINING_CALLS
        tests = PUSHED_CYCLES * len(stage.trainable)  # steps of a test of robustness
        if now.regressed:
            return _UPDATES * count_update_steps() + tests
        size = self.budget.population_size
        return self.budget.examples * stage.walk_length * size / self.budget.copies + tests

    def expected_turn_calls(self) -> float:
        """About how often ``on_step`` is called while turns are learned."""
        return sum(count_turn_steps(chain) for chain in self.structure.chains if chain.gait)

    def describe_step(self, now: LearningProgress) -> str:
        """What the next step does, in an animator's words."""
        stage = self.stages(now)[now.stage]
        what = "transitions" if stage.name == TRANSITIONS else f"'{stage.name}'"
        if not now.refined:
            return f"Studying {what}"
        last: Mapping[str, Any] = next((one for one in reversed(now.curve) if one["lesson"] == stage.name), {})
        if "push_n" in last:
            return f"Practising {what}: stands pushes of {max(last['push_n'], 0.0):.0f} N"
        if "stood" in last:
            return f"Practising {what}: {last['stood']:.0%} of them work"
        return f"Practising {what}"

    def advance(self, now: LearningProgress) -> LearningProgress:
        """One step further: a stage's refinement, one EM iteration, or a turn of evolution strategies."""
        stage = self.stages(now)[now.stage]
        if not now.refined:
            return self._refine(now, stage)
        if now.regressed:
            return self._improve_by_es(now, stage)
        policies, figures = self._iterate_em(now, stage)
        after = self._keep_best(now, stage, policies, figures)
        converged = figures["change"] < self.budget.settled and figures["lost_share"] < _MAX_FAILURES
        most = self.budget.iterations * (_TRANSITION_SHARE if stage.name == TRANSITIONS else 1.0)
        if now.iteration + 1 >= most or converged:
            after = replace(after, policies=after.best, regressed=True)
            return after if self.budget.es_turns else self._finish_stage(after)
        return replace(after, iteration=now.iteration + 1)

    def _keep_best(
        self, now: LearningProgress, stage: CurriculumStage, policies: Policies, figures: Mapping[str, Any]
    ) -> LearningProgress:
        """With new policies, which are the best so far if none were more robust."""
        after = replace(now, policies=policies, curve=(*now.curve, figures))
        robustness = after.robustness(stage.name)
        return replace(after, best=policies) if robustness[-1] >= max(robustness) else after

    def _finish_stage(self, now: LearningProgress) -> LearningProgress:
        """On to the next stage, with the best policies of this one."""
        return LearningProgress(
            now.track, now.best, now.best, now.push_levels, now.stage + 1, warm_start=now.warm_start, curve=now.curve
        )

    def learn_turns(self, now: LearningProgress) -> tuple[Array, Array]:
        """(F, A) radians, offsets of gaits' actions for the fastest left turn, and (F,) its rate: radians a second."""
        found, rates = np.zeros_like(now.policies.actions), np.zeros(self.structure.count)
        simulator = self._test_simulator(now.track)
        for chain in self.structure.chains:
            if chain.gait:
                own = slice(chain.first, chain.first + chain.count)
                found[own], rates[own] = learn_turn_offsets(simulator, now.policies, chain, self.on_step)
        return found, rates

    def _refine(self, now: LearningProgress, stage: CurriculumStage) -> LearningProgress:
        """Refine the stage's open-loop control clips (line 4), and initialise its policies around them (line 5)."""
        if not stage.refinement_walks:  # the joint stage goes on with what was learned before
            return replace(now, refined=True, best=now.policies)
        world, track = self._world(now.track, _REFINE_COPIES), now.track
        for number, walk in enumerate(stage.refinement_walks):
            locked = np.setdiff1d(walk, stage.trainable)
            tries = _TRIES if stage.name == TRANSITIONS else 1
            seeds = [(self.seed, _REFINE, now.stage, number, *again) for again in [(), (1,), (2,)][:tries]]
            track, _ = refine_open_loop(track, walk, world, seeds, lambda *_: self.on_step(), locked)
        symmetry = FragmentSymmetry(track.body, self.structure, Features(track.body))
        track = symmetry.symmetrize_track(track)
        fresh = zero_policies(self._test_simulator(track).start_observations, now.policies.actions.shape[1])
        some = Policies(*(getattr(fresh, name)[stage.trainable] for name in vars(fresh)))
        if now.warm_start:  # the known feedback, around the new start states
            known = Policies(*(getattr(now.policies, name)[stage.trainable] for name in vars(fresh)))
            some = replace(known, states=some.states)
        policies = now.policies.with_fragments(stage.trainable, some)
        return replace(now, track=track, refined=True, policies=policies, best=policies)

    def _iterate_em(self, now: LearningProgress, stage: CurriculumStage) -> tuple[Policies, dict[str, Any]]:
        """One EM iteration (lines 7 to 11): guided SAMCON, then regression; new policies, and figures of it."""
        features = Features(now.track.body)
        tuples, executed = self._sample_tuples(now, stage)
        policies = _regress_policies(
            now.policies, tuples, stage, FragmentSymmetry(now.track.body, self.structure, features), features
        )
        figures: dict[str, Any] = {
            "lesson": stage.name,
            "iteration": now.iteration + 1,
            "cost": float(np.mean([value for value in tuples.cost if np.isfinite(value)])),
            "lost": tuples.lost,
            "lost_share": tuples.lost / executed,
            "change": policies.mean_gain_change(now.policies, features.scale, stage.trainable),
        }
        return policies, figures | self._measure_robustness(now, policies, stage)

    def _measure_robustness(
        self, now: LearningProgress, policies: Policies, stage: CurriculumStage
    ) -> dict[str, float]:
        """Robustness without search: maximal recoverable push in newtons of a cycle, else transitions' success rate."""
        found: dict[str, float] = {}
        chain = next((one for one in self.structure.chains if one.name == stage.name and one.kind == "cycle"), None)
        simulator, successors = self._test_simulator(now.track), self.structure.successors
        if chain is not None:
            found["push_n"], _ = find_hardest_push(
                simulator,
                policies,
                chain.first,
                lambda some: np.array([successors[one][0] for one in some]),
                chain.count,
                on_step=self.on_step,
            )
        else:
            walks, rng = curriculum_stages(self.structure)[-1].refinement_walks, self._rng(_TEST, now.stage)
            found["stood"] = transition_success_rate(simulator, policies, walks, successors, rng)
        return found

    def _improve_by_es(self, now: LearningProgress, stage: CurriculumStage) -> LearningProgress:
        """One turn of evolution strategies; undone if the policies became much less robust."""
        simulator = self._simulator(now.track, self._world(now.track, self.budget.copies))
        rng, visits = self._rng(_ES, now.stage, now.es_turn), np.zeros(self.structure.count)
        cycle = len(stage.heads) == len(stage.trainable)
        simulator.entry_states = self._fall_states(now, stage)

        def starts(count: int, random: np.random.Generator) -> Indices:
            if cycle:
                return random.choice(stage.trainable, size=count)
            return np.array([stage.choose_start(visits, random) for _ in range(count)])

        symmetry = FragmentSymmetry(now.track.body, self.structure, Features(now.track.body))
        strategy = EvolutionStrategy(simulator, stage, symmetry, starts, 1 if cycle else _PUSHED_WITHIN)
        levels = now.push_levels
        if not now.es_turn:
            levels = np.where(levels > 0.0, levels, self._push_limit(now, stage))
        policies, levels, fell = strategy.improve(now.policies, levels, _UPDATES, rng, self.on_step)
        figures = {
            "lesson": stage.name,
            "iteration": now.iteration + now.es_turn + 2,
            "felled": fell,
            "change": policies.mean_gain_change(now.policies, simulator.features.scale, stage.trainable),
            **self._measure_robustness(now, policies, stage),
        }
        after = self._keep_best(now, stage, policies, figures)
        after = replace(after, es_turn=now.es_turn + 1, push_levels=levels)
        robustness = after.robustness(stage.name)
        if robustness[-1] < _SETBACK * max(robustness):
            after = replace(after, policies=after.best)
        return self._finish_stage(after) if after.es_turn >= self.budget.es_turns else after

    def _sample_tuples(self, now: LearningProgress, stage: CurriculumStage) -> tuple[SimulationTuples, int]:
        """Simulation tuples from guided SAMCON on the stage, and how many fragments were executed for them."""
        budget, track = self.budget, now.track
        world = self._world(track, budget.copies)
        simulator = self._simulator(track, world)
        rng, visits = self._rng(_WALK, now.stage, now.iteration), np.zeros(self.structure.count)
        feedback, tracking_error = solve_graph_lqr(
            track, simulator.reference, world, simulator.features, stage.successors, self._rng(_LQR, now.stage)
        )
        full = now.iteration < _FULL_ITERATIONS and stage.name != TRANSITIONS
        population_size = budget.population_size if full else budget.population_size // 2
        guided = GuidedSamcon(
            simulator,
            tracking_error,
            feedback,
            budget.copies // population_size,
            lambda some, random: stage.choose_next(some, random, visits),
            lambda random: stage.choose_start(visits, random),
            ~np.isin(np.arange(self.structure.count), stage.trainable),
            self._push_limit(now, stage),
        )
        simulator.entry_states = self._fall_states(now, stage)
        wanted = (
            max(budget.examples * _TRANSITION_SHARE, 2.0 * _MIN_TUPLES)
            if stage.name == TRANSITIONS
            else budget.examples
        )
        steps = int(np.ceil(wanted * stage.walk_length / guided.populations))
        zero_policy = now.iteration == 0 and not now.warm_start and bool(stage.refinement_walks)
        return guided.sample_walks(now.policies, steps, zero_policy, rng, self.on_step), steps * guided.populations

    def _push_limit(self, now: LearningProgress, stage: CurriculumStage) -> float:
        """Newtons that samples are pushed with at most: beyond what policies withstood last."""
        withstood = [
            figures["push_n"] for figures in now.curve if figures["lesson"] == stage.name and "push_n" in figures
        ]
        first = self.budget.push_n * now.track.body.mass / 62.0
        return float(np.clip(_BEYOND * withstood[-1], _LEAST * first, _MOST * first)) if withstood else first

    def _fall_states(self, now: LearningProgress, stage: CurriculumStage) -> dict[int, Array]:
        """Entry states of the stage's get-ups: falls out of the cycles (6.2)."""
        rises = np.array([one.first for one in self.structure.chains if one.kind == "rise"], dtype=np.int64)
        if not np.isin(rises, stage.trainable).any():
            return {}
        cycles = [np.array(one.fragments) for one in self.structure.chains if one.kind == "cycle"]
        simulator = self._simulator(now.track, self._world(now.track, _FALLS))
        rng = self._rng(_FALL, now.stage, now.iteration, now.es_turn)
        starts = rng.choice(np.concatenate(cycles), size=_FALLS)
        return collect_fall_states(
            simulator, now.policies, starts, lambda some: stage.choose_next(some, rng), rises, rng, self.on_step
        )

    def _simulator(self, track: Track, world: World) -> FragmentSimulator:
        return FragmentSimulator(track, fragment_reference(track, world), world, Features(track.body))

    def _test_simulator(self, track: Track) -> FragmentSimulator:
        return self._simulator(track, self._world(track, _TEST_COPIES))

    def _world(self, track: Track, copies: int) -> World:
        if copies not in self._worlds:
            world = self.engine.compile(Stage((Character(track.body),)), copies)
            self._worlds[copies] = self.opened.enter_context(closing(world))
        return self._worlds[copies]

    def __post_init__(self) -> None:
        self._worlds: dict[int, World] = {}

    def _rng(self, *stream: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, *stream])


def _regress_policies(
    policies: Policies,
    tuples: SimulationTuples,
    stage: CurriculumStage,
    symmetry: FragmentSymmetry,
    features: Features,
) -> Policies:
    """The policies with those of the stage's fragments regressed from tuples; strides of gaits share theirs."""
    mirror_of, found, where = symmetry.structure.mirror_of, [], []
    for fragment in np.unique(mirror_of[stage.trainable]):
        states, actions = tuples.of(int(fragment))
        for second in np.flatnonzero((mirror_of == fragment) & (np.arange(len(mirror_of)) != fragment)):
            more = tuples.of(int(second))
            if len(more[0]):
                more = symmetry.mirror_tuples(*more)
                states = np.concatenate([states.reshape(-1, more[0].shape[1]), more[0]])
                actions = np.concatenate([actions.reshape(-1, more[1].shape[1]), more[1]])
        if len(states) >= _MIN_TUPLES:
            found.append(regress_policy(states, actions, features.scale))
            where.append(int(fragment))
    if not found:
        return policies
    return symmetry.symmetrize_policies(policies.with_fragments(np.array(where), stack_policies(found)))
