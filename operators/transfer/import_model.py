# SPDX-License-Identifier: GPL-3.0-or-later
"""A robot's model as a character."""

import bpy
from bpy.props import FloatProperty, StringProperty

from ...bridge.scene.report_lines import report_line
from ...bridge.transfer import other_bodies
from ..reporting import explains_errors, waiting


class SINEW_OT_import_model(bpy.types.Operator):
    """Add a robot's model (URDF or MJCF) to the scene: an armature with a bone a link, its meshes, and its own body."""

    bl_idname = "sinew.import_model"
    bl_label = "Import Robot"
    bl_options = {"REGISTER", "UNDO"}

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
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    @explains_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Read and add it, and choose it where no character is chosen."""
        with waiting(context):
            obj, notes = other_bodies.import_character(context.scene, self.filepath, self.scale)
        if context.scene.sinew.armature is None:
            context.scene.sinew.armature = obj
        for selected in context.selected_objects:
            selected.select_set(False)
        obj.select_set(True)
        context.view_layer.objects.active = obj
        for note in notes:
            report_line(self, "WARNING", note)
        if not notes:
            report_line(self, "INFO", f"'{obj.name}' has {len(obj.data.bones)} links")
        return {"FINISHED"}
