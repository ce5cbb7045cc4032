# SPDX-License-Identifier: GPL-3.0-or-later
"""Graphs that nobody had to learn, and jobs that are done without having been worked at."""

import bpy

from sinew.bench.heavy_scenes import unlearned_graph
from sinew.core.control.graph.model.control_graph import ControlGraph
from sinew.core.control.graph.model.io import graph_to_arrays
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
    return obj, unlearned_graph(obj, about)


def learned_by(job, graph: ControlGraph, take: Take | None = None) -> None:
    """Let the job be done, with this graph and a walk that is its first skill's clip."""
    run = WorkerRun(job, 1)
    run.add_product("graph", *graph_to_arrays(graph))
    append_event(job.events, "started", 1)
    append_event(job.events, "done", 1, **worker._write_result(run, take or Take(job.clip(), own_clock=True)))
