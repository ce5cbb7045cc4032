# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep a learned file with the .blend."""

import bpy

from ...bridge.jobs.preparing import Recipe
from ...bridge.scene.chosen_armature import why_no_armature
from ..family_verb import FamilyRecipeVerb


class BringAlongVerb(FamilyRecipeVerb):
    """Copies the learned file into a folder beside the .blend."""

    changes_at_end = True

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """There must be a file, and a place for it."""
        if reason := why_no_armature(context.scene):
            return reason
        obj, file = context.scene.sinew.armature, cls.adapter().file
        if file.path_of(obj) is None:
            return f"'{obj.name}' has no {file.kind.label} yet: {file.kind.learn_hint.format(whose='its')}"
        if not bpy.data.filepath:
            return "The .blend was never saved: save it first"
        return "" if file.is_elsewhere(obj) else f"The {file.kind.label} is beside the .blend already"

    def recipe(self, context: bpy.types.Context, obj: bpy.types.Object) -> Recipe:
        """Copy it."""
        return self.adapter().bring_along(obj)
