# SPDX-License-Identifier: GPL-3.0-or-later
"""Learn a motion within its bounds in a worker process."""

import bpy

from ...bridge.bounds import asking, training, views
from ...bridge.jobs import monitor, requests
from ...bridge.setup import readiness
from ...bridge.setup.preferences import preferred_python
from ...core import jobs
from .bounds_verb import BoundsVerb


class SINEW_OT_bounds_train(BoundsVerb, bpy.types.Operator):
    """Practise the Action within its bounds in the background. What is learned is kept in a file; a take shows it."""

    bl_idname = "sinew.bounds_train"
    bl_label = "Train"

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """There must be a motion."""
        return views.why_not_train(context.scene)

    def do(self, context: bpy.types.Context, obj: bpy.types.Object) -> str:
        """Read motion and bounds, make the job, start its worker and leave the rest to the monitor."""
        python = jobs.find_worker_python(preferred_python())  # before a job is made that could not start
        readiness.require_learning()
        request = asking.training(context.scene, obj)
        job = training.create(request, requests.read(request), more=asking.begun_with(request, obj))
        return monitor.start(job, context.scene, python, "Training")
