# SPDX-License-Identifier: GPL-3.0-or-later
"""Look at the chosen motion before simulating it."""

import bpy

from ...bridge.jobs import recipes
from ...bridge.jobs.preparing import Recipe
from ...bridge.jobs.scene_request import request_of
from ..reporting import MotionVerb


class SINEW_OT_check_source(MotionVerb, bpy.types.Operator):
    """Read the chosen Action and say what looks wrong with it: its keys, its size, its frame rate."""

    bl_idname = "sinew.check_source"
    bl_label = "Check Motion"
    bl_options = {"REGISTER"}

    def recipe(self, scene: bpy.types.Scene) -> Recipe:
        """Look at it."""
        return recipes.motion_check_recipe(request_of(scene))
