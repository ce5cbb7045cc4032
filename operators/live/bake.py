# SPDX-License-Identifier: GPL-3.0-or-later
"""Make a take of what was recorded."""

import bpy

from ...bridge.jobs.preparing import Recipe
from ...bridge.live import running
from ...bridge.live.recipes import bake_recipe
from ..reporting import SlicedVerb


class SINEW_OT_live_bake(SlicedVerb, bpy.types.Operator):
    """Do what was recorded again without a window, and bake it as a new Action of everybody and everything."""

    bl_idname = "sinew.live_bake"
    bl_label = "Bake Recording"
    bl_options = {"REGISTER", "INTERNAL"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Something is recorded."""
        session = running.running()
        if session is None or session.recording is None:
            cls.poll_message_set("Nothing is recorded: Start Live and press Record, twice")
            return False
        return True

    def recipe(self, scene: bpy.types.Scene) -> Recipe:
        """Make the job, and leave the rest to the monitor."""
        return bake_recipe()

    def reading(self, title: str) -> str:
        """Nothing is read anew."""
        return "Getting ready to make it again"
