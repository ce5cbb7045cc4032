# SPDX-License-Identifier: GPL-3.0-or-later
"""Look at the stage before simulating on it."""

import bpy

from ...bridge.jobs import recipes
from ...bridge.jobs.preparing import Recipe
from ...bridge.jobs.scene_request import request_of
from ..reporting import MotionVerb


class SINEW_OT_stage_check(MotionVerb, bpy.types.Operator):
    """Read everything on the stage and say what cannot be simulated, or not as it looks."""

    bl_idname = "sinew.stage_check"
    bl_label = "Check Stage"
    bl_options = {"REGISTER"}

    def recipe(self, scene: bpy.types.Scene) -> Recipe:
        """Look at it."""
        return recipes.stage_check_recipe(request_of(scene))

    def reading(self, title: str) -> str:
        """The stage takes the longer part."""
        return f"Reading '{title}' and the stage"
