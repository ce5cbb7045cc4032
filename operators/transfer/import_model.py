# SPDX-License-Identifier: GPL-3.0-or-later
"""A robot's model as a character."""

import bpy
from bpy.props import FloatProperty, StringProperty

from ...bridge.jobs.preparing import Recipe
from ...bridge.transfer.recipes import import_recipe
from ..reporting import SlicedVerb


class SINEW_OT_import_model(SlicedVerb, bpy.types.Operator):
    """Add a robot's model (URDF or MJCF) to the scene: an armature with a bone a link, its meshes, and its own body."""

    bl_idname = "sinew.import_model"
    bl_label = "Import Robot"
    bl_options = {"REGISTER", "UNDO"}

    changes_at_end = True

    filepath: StringProperty(
        name="File", description="The model's file; its meshes lie in the same folder", subtype="FILE_PATH"
    )
    filter_glob: StringProperty(
        name="Kinds", description="Which files are shown", default="*.urdf;*.xml;*.mjcf", options={"HIDDEN"}
    )
    scale: FloatProperty(
        name="Metres a Unit", description="How long a unit of the model is", default=1.0, min=1e-6, max=1e6
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Object Mode, as all that adds objects."""
        if context.mode != "OBJECT":
            cls.poll_message_set("Go to Object Mode first")
            return False
        return True

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Let the file be chosen."""
        self.asked = True
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def recipe(self, scene: bpy.types.Scene) -> Recipe:
        """Read and add it, and choose it where no character is chosen."""
        return import_recipe(self.filepath, self.scale)
