# SPDX-License-Identifier: GPL-3.0-or-later
"""Graphs that nobody had to learn, and jobs that are done without having been worked at."""

import bpy
import numpy as np

from sinew.bridge.graph import skills, transitions
from sinew.core.control.graph.model.control_graph import ControlGraph
from sinew.core.control.graph.model.features import Features, state_names
from sinew.core.control.graph.model.io import graph_to_arrays
from sinew.core.control.graph.model.policies import zero_policies
from sinew.core.control.graph.model.structure import convert_motion_graph
from sinew.core.jobs import worker
from sinew.core.jobs.events import append_event
from sinew.core.jobs.running import WorkerRun
from sinew.core.motion import Take

from .skilled_mannequin import mannequin


def unlearned(*clips, about=None):
    """(armature, graph): the mannequin with these stock clips as skills, and a graph of them without feedback."""
    obj = mannequin(*clips)
    bpy.ops.sinew.graph_skill_add_all()
    if len(clips) > 1:
        bpy.ops.sinew.graph_propose()
    return obj, graph_of(obj, about)


def graph_of(obj, about=None) -> ControlGraph:
    """What the armature's skills are before anything is learned."""
    read = skills.read_skills_at_once(obj)
    graph = transitions.graph_of(obj, read)
    body = transitions.plain_body_builder(obj, read)()
    structure, track = convert_motion_graph(body, graph)
    features = Features(body)
    acts = len(features.action_dofs)
    policies = zero_policies(np.zeros((structure.count, len(state_names(features)))), acts)
    turns = np.zeros((structure.count, acts))
    return ControlGraph(structure, track, policies, turns, graph.transitions, about or {})


def learned_by(job, graph: ControlGraph, take: Take | None = None) -> None:
    """Let the job be done, with this graph and a walk that is its first skill's clip."""
    run = WorkerRun(job, 1)
    run.add_product("graph", *graph_to_arrays(graph))
    append_event(job.events, "started", 1)
    append_event(job.events, "done", 1, **worker._write_result(run, take or Take(job.clip(), own_clock=True)))
