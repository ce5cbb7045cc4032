# SPDX-License-Identifier: GPL-3.0-or-later
"""A motion on another character."""

import bpy

from ...bridge.jobs.preparing import Recipe
from ...bridge.jobs.scene_request import request_of, why_no_request
from ...bridge.transfer.recipes import put_on_recipe
from ..reporting import SaysWhyNot, SlicedVerb


class SINEW_OT_put_on_selected(SaysWhyNot, SlicedVerb, bpy.types.Operator):
    """Put the chosen motion on the selected armature, by the roles of its bones, and choose that for simulation."""

    bl_idname = "sinew.put_on_selected"
    bl_label = "Put on Selected Armature"
    bl_options = {"REGISTER", "UNDO"}

    changes_at_end = True

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """There must be a motion, and another armature that is to do it."""
        active = context.active_object
        if reason := why_no_request(context.scene):
            return reason
        if active is None or active.type != "ARMATURE" or active == context.scene.sinew.armature:
            return "Select the armature that is to do it: another one than the chosen"
        return ""

    def recipe(self, scene: bpy.types.Scene) -> Recipe:
        """Read the motion, put it on, and choose the other character."""
        return put_on_recipe(request_of(scene), bpy.context.active_object.name, scene.sinew.scale)
