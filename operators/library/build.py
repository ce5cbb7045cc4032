# SPDX-License-Identifier: GPL-3.0-or-later
"""Make a library of the armature's Actions."""

import bpy

from ...bridge.jobs.preparing import Recipe
from ...bridge.library import properties, recipes, views
from .library_verb import LibraryRecipeVerb


class SINEW_OT_library_build(LibraryRecipeVerb, bpy.types.Operator):
    """Gather the character's Actions in a library that can be directed; of one that is there only changes are read."""

    bl_idname = "sinew.library_build"
    bl_label = "Build Library"

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """There must be Actions."""
        return views.why_not_build(context.scene)

    def recipe(self, context: bpy.types.Context, obj: bpy.types.Object) -> Recipe:
        """Read, prepare and keep them."""
        names, mirror = properties.picked_actions(obj), obj.sinew_library.mirror
        return recipes.build_recipe(obj.name, names, mirror=mirror, scale=context.scene.sinew.scale)
