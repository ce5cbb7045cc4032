# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulate the chosen Action in a worker process."""

import bpy

from ..bridge import monitor, notices, preparing, requests
from ..bridge.preferences import worker_python
from ..bridge.properties import request_of
from ..core import jobs
from .reporting import NeedsMotion, explains_errors, tell_doubts, waiting


class SINEW_OT_simulate(NeedsMotion, bpy.types.Operator):
    """Send the chosen armature's Action to a worker and bake what comes back as a new Action beside it."""

    bl_idname = "sinew.simulate"
    bl_label = "Simulate Selected Action"
    # A started job cannot be undone; the step is there so that undoing its bake stops right before the bake.
    bl_options = {"REGISTER", "UNDO"}

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """A click: everything is done a little at a time, so that a long motion keeps nobody waiting."""
        return self.prepare(context)

    @explains_errors
    def prepare(self, context: bpy.types.Context) -> set[str]:
        """Begin to read the motion, and leave the rest to timers."""
        scene = context.scene
        name_the_action(scene.sinew)
        begun = preparing.simulate(
            request_of(scene), scene, lambda job, here, python: monitor.start(job, here, python, "Simulating")
        )
        self.report({"INFO"}, f"Reading '{begun.view.title}'")
        return {"FINISHED"}

    @explains_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Read the motion, make the job, start its worker and leave the rest to the monitor."""
        scene = context.scene
        name_the_action(scene.sinew)
        request = request_of(scene)
        with waiting(context):
            python = jobs.worker_python(worker_python())  # before a job is made that could not start
            rig = requests.read(request)
            doubts = notices.doubts_about(rig.clip)
            job = requests.create(request, rig)
            said = monitor.start(job, scene, python, "Simulating")
        tell_doubts(self, request, doubts, said)
        return {"FINISHED"}


def name_the_action(chosen: bpy.types.PropertyGroup) -> None:
    """Keep hold of the source: once its result is baked, it is no longer what moves the armature."""
    data = chosen.armature.animation_data
    if chosen.action is None and data is not None and data.action is not None:
        chosen.action = data.action
