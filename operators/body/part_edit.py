# SPDX-License-Identifier: GPL-3.0-or-later
"""Begin to edit a part of the body."""

import bpy

from ...bridge.body import part_editing
from ...bridge.jobs import recipes
from ...bridge.jobs.preparing import Recipe
from ..reporting import SlicedVerb
from .part_verb import PartVerb


class SINEW_OT_body_part_edit(PartVerb, SlicedVerb, bpy.types.Operator):
    """Edit shape, mass, limits and stiffness of the active bone's part, starting from what was fitted."""

    bl_idname = "sinew.body_part_edit"
    bl_label = "Edit Part by Hand"
    bl_options = {"REGISTER", "UNDO"}

    changes_at_end = True

    def recipe(self, scene: bpy.types.Scene) -> Recipe:
        """Make the bone's line, or bring what is not ticked in it up to date."""
        return recipes.part_edit_recipe(scene.sinew.armature.name, part_editing.active_bone(bpy.context))
