# SPDX-License-Identifier: GPL-3.0-or-later
"""Learn four styles of one motion, one after the other."""

import bpy

from ...bridge.bounds import asking, files, styling, views
from ...bridge.jobs import monitor, requests
from ...bridge.setup import readiness
from ...bridge.setup.preferences import preferred_python
from ...core import jobs
from .bounds_verb import BoundsVerb


class SINEW_OT_bounds_styles(BoundsVerb, bpy.types.Operator):
    """Learn the motion with more and less energy, and with more and less volume, each begun with this controller."""

    bl_idname = "sinew.bounds_styles"
    bl_label = "Learn Four Styles"

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """There must be a motion, and a controller to begin with."""
        return views.why_not_train(context.scene) or asking.why_no_controller(context.scene.sinew.armature)

    def do(self, context: bpy.types.Context, obj: bpy.types.Object) -> str:
        """Make the jobs; the monitor starts one after the other, and each comes home as a take."""
        jobs.find_worker_python(preferred_python())  # before jobs are made that could not start
        readiness.require_learning()
        request = asking.training(context.scene, obj)
        made = styling.variants(request, requests.read(request), files.read(obj).content)
        for job in made:
            monitor.watch(job, context.scene)
        return f"Learning {len(made)} styles of '{request.action}'"
