# SPDX-License-Identifier: GPL-3.0-or-later
"""Make the take of a live session again."""

import bpy

from ...bridge.jobs.preparing import Recipe
from ...bridge.live.recipes import again_recipe, find_live_folder
from ..reporting import SlicedVerb


class SINEW_OT_live_again(SlicedVerb, bpy.types.Operator):
    """Do again what the shown take of a live session was made of: the same commands give the same bits."""

    bl_idname = "sinew.live_again"
    bl_label = "Make Again"
    bl_options = {"REGISTER", "INTERNAL"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """The chosen armature has such a take."""
        if find_live_folder(context.scene.sinew.armature) is None:
            cls.poll_message_set("Choose an armature that shows a take of a live session")
            return False
        return True

    def recipe(self, scene: bpy.types.Scene) -> Recipe:
        """Make the job, and leave the rest to the monitor."""
        return again_recipe(scene.sinew.armature)

    def reading(self, title: str) -> str:
        """Nothing is read anew."""
        return "Getting ready to make it again"
