# SPDX-License-Identifier: GPL-3.0-or-later
"""Mend what looks wrong with the chosen motion."""

import bpy
from bpy.props import FloatProperty, StringProperty

from ...bridge.jobs import recipes, source_fixes
from ...bridge.jobs.preparing import Recipe
from ...bridge.jobs.scene_request import request_of
from ..reporting import MotionVerb, explains_errors


class SINEW_OT_fix_source(MotionVerb, bpy.types.Operator):
    """Set what mends this, and look at the motion again. Neither the Action nor the scene is changed."""

    bl_idname = "sinew.fix_source"
    bl_label = "Fix All"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    fix: StringProperty(name="Fix", description="What to set; empty for all that is offered", options={"SKIP_SAVE"})
    value: FloatProperty(name="Value", description="What to set it to", options={"SKIP_SAVE"})

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """A click: the motion is looked at again in slices of time."""
        return self.fix_then(context, super().prepare)

    def execute(self, context: bpy.types.Context) -> set[str]:
        """All of it here and now."""
        return self.fix_then(context, super().execute)

    @explains_errors
    def fix_source(self, context: bpy.types.Context) -> set[str]:
        """Set it."""
        if self.fix:
            source_fixes.apply_fix(context.scene, self.fix, self.value)
        else:
            source_fixes.apply_all_fixes(context.scene)
        return {"FINISHED"}

    def fix_then(self, context: bpy.types.Context, look: object) -> set[str]:
        """Set it, and look at the motion again."""
        done = self.fix_source(context)
        return look(context) if done == {"FINISHED"} else done

    def recipe(self, scene: bpy.types.Scene) -> Recipe:
        """Look at it."""
        return recipes.motion_check_recipe(request_of(scene))
