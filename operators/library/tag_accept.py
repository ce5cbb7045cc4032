# SPDX-License-Identifier: GPL-3.0-or-later
"""Take up style tags that Sinew has proposed."""

import bpy
from bpy.props import IntProperty

from ...bridge.library import action_tags
from .library_verb import LibraryVerb


class SINEW_OT_library_tag_accept(LibraryVerb, bpy.types.Operator):
    """Let a proposed style tag, or all of them, count as your own."""

    bl_idname = "sinew.library_tag_accept"
    bl_label = "Accept Proposed Styles"

    index: IntProperty(
        name="Tag",
        description="Which one of the list, counted from 0; -1 for all that are proposed",
        min=-1,
        default=-1,
    )

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """There must be a proposal."""
        return action_tags.why_no_tags(context.scene, proposed=True)

    def do(self, context: bpy.types.Context, obj: bpy.types.Object) -> str:
        """Take the question marks away."""
        count = action_tags.accept_action_tags(obj, self.index)
        return "1 style tag accepted" if count == 1 else f"{count} style tags accepted"
