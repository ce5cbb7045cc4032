# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake a new motion from the learned controller."""

import bpy

from ...bridge.bounds import asking, baking, files
from ...bridge.jobs import monitor
from ...bridge.setup.preferences import preferred_python
from ...core import jobs
from .bounds_verb import BoundsVerb


class SINEW_OT_bounds_bake(BoundsVerb, bpy.types.Operator):
    """Let the character do what was learned within the bounds, and bake that as a new Action."""

    bl_idname = "sinew.bounds_bake"
    bl_label = "Bake From Controller"

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """There must be a controller."""
        return asking.why_not_bake(context.scene)

    def do(self, context: bpy.types.Context, obj: bpy.types.Object) -> str:
        """Read the stage, make the job, start its worker and leave the rest to the monitor."""
        python = jobs.find_worker_python(preferred_python())
        job = baking.create(asking.baking(context.scene, obj), files.read(obj))
        return monitor.start(job, context.scene, python, "Baking")
