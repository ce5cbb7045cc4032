# SPDX-License-Identifier: GPL-3.0-or-later
"""Baking from a learned graph as a method: all characters on the stage are simulated with its policies."""

from contextlib import closing
from dataclasses import dataclass

import numpy as np

from ...body.poses import pose_of_clip
from ...errors import GraphError
from ...motion import Clip, Take
from ...settings import Settings, setting
from ...sim import engines
from ...sim.assembly import require_apart
from ..cast import load_cast
from ..method import Method, Run, Source
from ..staging import build_job_stage
from ..tracking.facing import upright_rotation
from ..tracking.skeleton_matching import describe_skeleton_difference
from .learned_file import GRAPH, attached_graph
from .model.control_graph import ControlGraph
from .playing.baking import bake_characters, place_of_pose, start_state
from .playing.planners import (
    ApproachPlanner,
    PathPlanner,
    RandomWalkPlanner,
    RoutePlanner,
    SequenceItem,
    SequencePlanner,
    parse_sequence,
)
from .playing.player import MotionPlanner
from .playing.take_making import take_of_bake

_STRAYED_M = 1.0  # from its path, which is worth saying
PATH = "path"
"""Name of the job's attachment: points (P, 3) in metres to go along, whether 'closed'."""


@dataclass(frozen=True)
class GraphBakeSettings(Settings):
    """What an animator may set."""

    mode: str = setting(
        "walk",
        "What",
        "What the character does",
        choices=(
            ("walk", "Random Walk", "All skills in random order, each about as often; the seed decides"),
            ("sequence", "Sequence", "The skills of the list, one after the other"),
            ("path", "Along Path", "The skills of the list, steered along a curve; round and round if it is closed"),
            ("meet", "Meet", "Everybody on the stage goes for the nearest other"),
        ),
    )
    seconds: float = setting(10.0, "Seconds", "How long the take is", minimum=0.1, maximum=3600.0, unit="s")
    skills: str = setting("", "Skills", "Names with seconds, such as: walk 3, run 2.5, kick. None: the first skill")


class GraphBake(Method):
    """A take from a learned graph: no search, no training, in a fraction of the time that it lasts."""

    name = "graph_bake"
    label = "Bake From Graph"
    help = "Let the character do what it has learned, and bake that as a new Action"
    tooltip = "Let the character do what was learned, on the stage as it is, and bake that as a new Action"
    uses_engine = True
    takes = Source.LEARNED_FILE
    learned = GRAPH
    simulates_cast = True
    settings_type = GraphBakeSettings

    def run(self, clip: Clip, settings: GraphBakeSettings, run: Run) -> Take:
        """Place the characters on the stage, play them, and make takes."""
        graph = attached_graph(run)
        clips = [clip, *(member.clip for member in load_cast(run))]
        for one in clips:
            if different := describe_skeleton_difference(graph.body.skeleton, one.skeleton):
                raise GraphError(
                    f"The graph was learned for another skeleton than that of '{one.name}': {different}",
                    "Learn the skills for this armature, or bake with one that is like it",
                )
        stage = build_job_stage(run, *(graph.body for _ in clips))
        places = [place_of_pose(pose_of_clip(graph.body, one)[0][0], upright_rotation(graph.body)) for one in clips]
        planners = [self._make_planner(graph, settings, run, index) for index in range(len(clips))]
        first = [_first(graph, settings)] * len(clips)
        with closing(engines.get_engine(run.engine).compile(stage, 1)) as world:
            qpos, _ = world.pose_of(start_state(world, [graph] * len(clips), places, first)[None])
            if len(clips) > 1:
                require_apart(stage, qpos[0])

            def on_progress(share: float) -> None:
                run.progress(round(1000 * share), 1000)

            bake = bake_characters(
                world, [graph] * len(clips), planners, places, clips, settings.seconds, on_progress, first
            )
        falls = sum(bake.falls)
        if falls:
            word = "once" if falls == 1 else f"{falls} times"
            hint = "" if any(chain.kind == "rise" for chain in graph.structure.chains) else "Add a get-up to the graph"
            run.add_finding("falls", f"Somebody fell {word}", hint)
        for planner in planners:
            if isinstance(planner, PathPlanner) and (planner.largest_deviation_m or 0.0) > _STRAYED_M:
                run.add_finding(
                    "path",
                    f"It was up to {planner.largest_deviation_m:.1f} m from the path",
                    "Give the path wider bends than the skill turns by, or choose a slower one",
                )
        return take_of_bake(bake, clip.fps, run)

    def _make_planner(self, graph: ControlGraph, settings: GraphBakeSettings, run: Run, index: int) -> MotionPlanner:
        """The planner of a character."""
        listed = _items(graph, settings)
        if settings.mode == "walk":
            seed = int(np.random.default_rng([int(run.rng.integers(2**62)), index]).integers(2**62))
            return RandomWalkPlanner(graph, np.random.default_rng(seed))
        planner: RoutePlanner = SequencePlanner(graph, listed)
        if settings.mode == "meet":
            return ApproachPlanner(planner)
        if settings.mode == "path":
            attached = run.attachment(PATH)
            if attached is None:
                raise GraphError("There is no path to go along", "Choose a curve")
            arrays, about = attached
            return PathPlanner(planner, arrays["points"], bool(about.get("closed", False)))
        return planner


def _items(graph: ControlGraph, settings: GraphBakeSettings) -> list[SequenceItem]:
    """The list of skills; the first that is no get-up where nothing is said."""
    if settings.skills.strip():
        return parse_sequence(settings.skills, [chain.name for chain in graph.skills])
    return [SequenceItem(next(chain.name for chain in graph.skills if chain.kind != "rise"))]


def _first(graph: ControlGraph, settings: GraphBakeSettings) -> int:
    """The fragment that all characters begin with."""
    name = _items(graph, settings)[0].skill
    return graph.structure.chain(name).first
