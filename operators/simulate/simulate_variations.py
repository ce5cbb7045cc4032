# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulate the chosen Action several times over, each time a little different."""

import bpy

from ...bridge.jobs import batches, monitor, notices, requests
from ...bridge.jobs.scene_request import variations_of
from ...bridge.setup.preferences import preferred_python
from ...core import jobs
from ..reporting import NeedsMotion, explains_errors, tell_doubts, waiting
from .simulate import asked_for, hold_source


class SINEW_OT_simulate_variations(NeedsMotion, bpy.types.Operator):
    """Make takes to choose from: the same Action with pushes from other sides, at other times, one after the other."""

    bl_idname = "sinew.simulate_variations"
    bl_label = "Simulate Variations"
    bl_options = {"REGISTER", "UNDO"}  # as for one take

    @explains_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Read the motion once, make all jobs, and leave them to the queue."""
        scene, request = context.scene, asked_for(context.scene)
        with waiting(context):
            jobs.find_worker_python(preferred_python())  # before jobs are made that could not start
            rig = requests.read(request)
            doubts = notices.doubts_about(rig.clip)
            made = batches.create_all(batches.plan(request, rig, variations_of(scene)))
        for job in made:
            monitor.watch(job, scene)
        hold_source(scene.sinew)
        tell_doubts(self, request, doubts, f"Simulating {len(made)} variations of '{rig.clip.name}'")
        return {"FINISHED"}
