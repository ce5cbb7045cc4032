# SPDX-License-Identifier: GPL-3.0-or-later
"""Take a style tag off the armature's Action."""

import bpy
from bpy.props import IntProperty

from ...bridge.library import action_tags
from .library_verb import LibraryVerb


class SINEW_OT_library_tag_remove(LibraryVerb, bpy.types.Operator):
    """Take this style tag off, with its markers; the motion stays as it is."""

    bl_idname = "sinew.library_tag_remove"
    bl_label = "Remove Style Tag"

    index: IntProperty(name="Tag", description="Which one of the list, counted from 0", min=0)

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """There must be a tag."""
        return action_tags.why_no_tags(context.scene)

    def do(self, context: bpy.types.Context, obj: bpy.types.Object) -> str:
        """Remove its markers."""
        return f"Style tag '{action_tags.remove_action_tag(obj, self.index)}' is gone"
