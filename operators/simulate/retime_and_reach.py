# SPDX-License-Identifier: GPL-3.0-or-later
"""Let the chosen Action be at a place, facing a direction, at a frame, with its key pose kept."""

import bpy

from ...bridge.jobs.preparing import Recipe
from ...bridge.retime.moments import retime_request
from ...bridge.retime.recipes import retime_recipe
from ..reporting import MotionVerb
from .simulate import keep_source_chosen, requested_motion


class SINEW_OT_retime_and_reach(MotionVerb, bpy.types.Operator):
    """Make an Action of its own in which the key moment is when, where and as it is wanted, with its pose kept."""

    bl_idname = "sinew.retime_and_reach"
    bl_label = "Retime and Reach"
    bl_options = {"REGISTER", "UNDO"}

    def recipe(self, scene: bpy.types.Scene) -> Recipe:
        """Edit the chosen motion as the panel says."""
        return retime_recipe(retime_request(scene, requested_motion(scene)))

    def begun(self, scene: bpy.types.Scene) -> None:
        """The source stays chosen."""
        keep_source_chosen(scene.sinew)
