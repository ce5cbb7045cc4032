# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake a new motion from the learned graph."""

import bpy

from ...bridge.graph import asking, baking, files
from ...bridge.jobs import monitor
from ...bridge.setup.preferences import preferred_python
from ...core import jobs
from .graph_verb import GraphVerb


class SINEW_OT_graph_bake(GraphVerb, bpy.types.Operator):
    """Let the character do what was learned, on the stage as it is, and bake that as a new Action."""

    bl_idname = "sinew.graph_bake"
    bl_label = "Bake From Graph"

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """There must be a graph, and what the mode needs."""
        return asking.why_not_bake(context.scene)

    def do(self, context: bpy.types.Context, obj: bpy.types.Object) -> str:
        """Read the stage, make the job, start its worker and leave the rest to the monitor."""
        python = jobs.find_worker_python(preferred_python())
        job = baking.create(asking.baking(context.scene, obj), files.read(obj))
        return monitor.start(job, context.scene, python, "Baking")
