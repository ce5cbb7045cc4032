# SPDX-License-Identifier: GPL-3.0-or-later
"""Give frames of the armature's Action a style tag."""

import bpy
from bpy.props import IntProperty, StringProperty

from ...bridge.library import action_tags
from .library_verb import LibraryVerb


class SINEW_OT_library_tag_add(LibraryVerb, bpy.types.Operator):
    """Tag frames of the Action with a style, as two markers in the Dope Sheet that can be moved."""

    bl_idname = "sinew.library_tag_add"
    bl_label = "Add Style Tag"

    name: StringProperty(name="Style", description="What these frames are: walk, run, tired", default="walk")
    first: IntProperty(name="First", description="The first frame with this style")
    last: IntProperty(name="Last", description="The last frame with this style")

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """There must be an Action."""
        return action_tags.why_no_action(context.scene)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Ask, beginning with the frames from the current one to the end of the Action."""
        self.first, self.last = action_tags.suggest_frames(context.scene)
        return context.window_manager.invoke_props_dialog(self)

    def do(self, context: bpy.types.Context, obj: bpy.types.Object) -> str:
        """Mark them."""
        action_tags.add_action_tag(obj, self.name, self.first, self.last)
        return f"Frames {self.first} to {self.last} are '{self.name}'"
