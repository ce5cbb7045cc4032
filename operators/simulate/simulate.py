# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulate the chosen Action in a worker process."""

from dataclasses import replace

import bpy

from ...bridge.jobs import monitor, notices, preparing, requests
from ...bridge.jobs.requests import Request
from ...bridge.jobs.scene_request import request_of
from ...bridge.setup.preferences import preferred_python
from ...core import jobs
from ..reporting import InPieces, NeedsMotion, explains_errors, tell_doubts, waiting


class SINEW_OT_simulate(InPieces, NeedsMotion, bpy.types.Operator):
    """Send the chosen armature's Action to a worker and bake what comes back as a new Action beside it."""

    bl_idname = "sinew.simulate"
    bl_label = "Simulate Selected Action"
    # A started job cannot be undone; the step is there so that undoing its bake stops right before the bake.
    bl_options = {"REGISTER", "UNDO"}

    @explains_errors
    def prepare(self, context: bpy.types.Context) -> set[str]:
        """Begin to read the motion, and leave the rest to timers."""
        scene, request = context.scene, asked_for(context.scene)
        begun = preparing.simulate(
            request, scene, lambda job, here, python: monitor.start(job, here, python, "Simulating")
        )
        hold_source(scene.sinew)
        self.report({"INFO"}, f"Reading '{begun.view.title}'")
        return {"FINISHED"}

    @explains_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Read the motion, make the job, start its worker and leave the rest to the monitor."""
        scene, request = context.scene, asked_for(context.scene)
        with waiting(context):
            python = jobs.find_worker_python(preferred_python())  # before a job is made that could not start
            rig = requests.read(request)
            doubts = notices.doubts_about(rig.clip)
            job = requests.create(request, rig)
            said = monitor.start(job, scene, python, "Simulating")
        hold_source(scene.sinew)
        tell_doubts(self, request, doubts, said)
        return {"FINISHED"}


def asked_for(scene: bpy.types.Scene) -> Request:
    """What the animator asks for, with the name of what moves the armature now where no Action is chosen."""
    request, data = request_of(scene), scene.sinew.armature.animation_data
    moved = data is not None and data.action is not None
    return replace(request, action=data.action.name) if moved and not request.action else request


def hold_source(chosen: bpy.types.PropertyGroup) -> None:
    """Choose the source in the panel: once its result is baked, it is no longer what moves the armature."""
    data = chosen.armature.animation_data
    if chosen.action is None and data is not None and data.action is not None:
        chosen.action = data.action
