# SPDX-License-Identifier: GPL-3.0-or-later
"""Learning a control graph as a method: from skills and transitions to a graph file, and a take of a random walk."""

from contextlib import ExitStack, closing
from dataclasses import dataclass, replace

import numpy as np

from ...motion import Clip, Take
from ...motion.take import Measurement
from ...settings import Settings, setting
from ...sim import engines
from ...sim.stage import Character, Stage
from ..character import build_job_body
from ..method import Method, Product, Run, Source, Watched
from ..tracking.source_preparation import add_findings
from ..work_meter import WorkMeter
from .learned_file import GRAPH
from .learning import checkpoint
from .learning.learner import GraphLearner
from .learning.progress import LearningBudget, LearningProgress
from .learning.retargeting import align_fragments
from .model.control_graph import ControlGraph
from .model.features import Features
from .model.io import graph_from_arrays, graph_to_arrays
from .model.structure import GraphStructure, convert_motion_graph
from .playing.baking import Place, bake_characters
from .playing.planners import RandomWalkPlanner
from .playing.take_making import take_of_bake
from .transitions.motion_graph import read_motion_graph

_BUDGETS = {
    "draft": LearningBudget(copies=256, population_size=16, examples=100, iterations=2, es_turns=1),
    "normal": LearningBudget(),
    "high": LearningBudget(population_size=48, iterations=6, settled=0.005, es_turns=12),
}
_SHOWN_S = 10.0
_LEARNED = 0.95  # of the whole, when all stages are done


@dataclass(frozen=True)
class GraphLearnSettings(Settings):
    """What an animator may set."""

    quality: str = setting(
        "normal",
        "Quality",
        "How long skills are practised",
        choices=(
            ("draft", "Draft", "Few trials, to see whether it works"),
            ("normal", "Normal", "Minutes for each second of motion"),
            ("high", "High", "Practised until nothing changes any more"),
        ),
    )
    symmetric: bool = setting(True, "Symmetric Gaits", "Let walks and runs do left as they do right")


class GraphLearn(Method):
    """Guided learning: clips become skills that keep their balance, and skills link into a graph."""

    name = "graph_learn"
    label = "Learn Skills"
    help = "Practise the collected skills and the ways between them until they stand by themselves"
    tooltip = (
        "Learn skills and transitions in the background. What is learned is kept in a file; a walk through it is baked"
    )
    uses_engine = True
    takes = Source.CLIPS
    makes = (Product.LEARNED_FILE, Product.TAKE)
    learned = GRAPH
    watched = (
        Watched("studied", "Studied", "{:.0%}"),
        Watched("push_n", "Stands pushes of", "{:.0f} N"),
        Watched("stood", "Ways that work", "{:.0%}"),
        Watched("change", "Change of policies", "{:.4f}", advanced=True),
        Watched("cost", "Cost", "{:.3f}", advanced=True),
    )
    result_name = "skills"
    settings_type = GraphLearnSettings

    def run(self, clip: Clip, settings: GraphLearnSettings, run: Run) -> Take:
        """Learn, hand over the graph, and bake a random walk on it."""
        seed = int(run.rng.integers(2**62))  # before a checkpoint puts the generator elsewhere
        motions = read_motion_graph(run, clip)
        if not settings.symmetric:
            motions = replace(motions, skills=tuple(replace(skill, gait=False) for skill in motions.skills))
        motions.require_connected()
        body, _ = build_job_body(clip, run)
        features = Features(body)
        if features.missing_parts:
            run.add_finding(
                "features", f"The body has no {', '.join(features.missing_parts)}: it learns to do without", ""
            )
        structure, track = convert_motion_graph(body, motions, lambda findings: add_findings(run, findings))
        budget = _BUDGETS[settings.quality]
        with ExitStack() as opened:
            learner = GraphLearner(structure, engines.get_engine(run.engine), budget, seed, opened=opened)
            _, now = checkpoint.load_progress(
                run, body, learner.initial_progress(track, _warm_start_graph(run, structure))
            )
            meter = WorkMeter(run, lambda: _figures(now, meter))
            learner.on_step = meter.step
            while now.stage < len(learner.stages(now)):  # a stage may be added on the way
                begin, end = learner.work_shares(now)
                meter.skip_to(_LEARNED * begin)
                meter.begin(_LEARNED * end, learner.expected_calls(now), learner.describe_step(now))
                now = learner.advance(now)
                checkpoint.save_progress(run, now.step(budget), now)
            meter.skip_to(_LEARNED)
            meter.begin(1.0, learner.expected_turn_calls(), "Learning to turn")
            turns, rates = learner.learn_turns(now)
            about = {"seed": seed, "engine": run.engine, "curve": [dict(one) for one in now.curve]}
            graph = ControlGraph(structure, now.track, now.policies, turns, motions.transitions, about, rates)
            run.add_product(GRAPH.name, *graph_to_arrays(graph))
            return _bake_random_walk(graph, clip, run, seed)


def _warm_start_graph(run: Run, structure: GraphStructure) -> ControlGraph | None:
    """The graph of another body to begin with, if the job has one."""
    attached = run.attachment(GRAPH.attachment)
    return None if attached is None else align_fragments(graph_from_arrays(*attached), structure)


def _figures(now: LearningProgress, meter: WorkMeter) -> dict[str, Measurement]:
    """Numbers for the live curves: of the last iteration, or of what is studied before the first."""
    if not now.curve:
        return {"studied": round(meter.part_share, 2)}
    last = now.curve[-1]
    return {name: float(last[name]) for name in ("change", "cost", "push_n", "stood") if name in last}


def _bake_random_walk(graph: ControlGraph, clip: Clip, run: Run, seed: int) -> Take:
    """A take of a random walk, which shows what was learned."""
    engine = engines.get_engine(run.engine)
    with closing(engine.compile(Stage((Character(graph.body),)), 1)) as world:
        planner = RandomWalkPlanner(graph, np.random.default_rng([seed, 1]))
        bake = bake_characters(world, [graph], [planner], [Place(np.zeros(2), 0.0)], [clip], _SHOWN_S, lambda _: None)
    return take_of_bake(bake, clip.fps, run)
