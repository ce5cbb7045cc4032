# SPDX-License-Identifier: GPL-3.0-or-later
"""Make the other side of the body alike."""

import bpy

from ...bridge.body import part_editing
from ...bridge.jobs import recipes
from ...bridge.jobs.preparing import Recipe
from ..reporting import SlicedVerb
from .part_verb import EditedPartVerb


class SINEW_OT_body_part_mirror(EditedPartVerb, SlicedVerb, bpy.types.Operator):
    """Give the part on the other side of the body what was edited here, mirrored."""

    bl_idname = "sinew.body_part_mirror"
    bl_label = "Mirror to Other Side"
    bl_options = {"REGISTER", "UNDO"}

    changes_at_end = True

    def recipe(self, scene: bpy.types.Scene) -> Recipe:
        """Write the other bone's line."""
        return recipes.part_mirror_recipe(scene.sinew.armature.name, part_editing.active_bone(bpy.context))
