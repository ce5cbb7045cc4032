# SPDX-License-Identifier: GPL-3.0-or-later
"""Learn the skills in a worker process."""

import bpy

from ...bridge.graph import asking, learning, views
from ...bridge.jobs import monitor
from ...bridge.setup.preferences import preferred_python
from ...core import jobs
from .graph_verb import GraphVerb


class SINEW_OT_graph_learn(GraphVerb, bpy.types.Operator):
    """Learn skills and transitions in the background. What is learned is kept in a file; a walk through it is baked."""

    bl_idname = "sinew.graph_learn"
    bl_label = "Learn Skills"

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """The skills must make a graph."""
        return views.why_not_learn(context.scene)

    def do(self, context: bpy.types.Context, obj: bpy.types.Object) -> str:
        """Read the skills, make the job, start its worker and leave the rest to the monitor."""
        python = jobs.find_worker_python(preferred_python())  # before a job is made that could not start
        job = learning.create(obj, asking.learning(context.scene, obj))
        return monitor.start(job, context.scene, python, "Learning")
