# SPDX-License-Identifier: GPL-3.0-or-later
"""Key how much muscle the character has."""

import bpy
from bpy.props import BoolProperty

from ...bridge.scene.report_lines import report_line
from ...bridge.takes import muscle_keys
from ..reporting import SaysWhyNot, explains_errors


class SINEW_OT_key_muscle(SaysWhyNot, bpy.types.Operator):
    """Key the muscle at this frame, in the Action that is simulated, also while a take of it is shown."""

    bl_idname = "sinew.key_muscle"
    bl_label = "Key Muscle"
    bl_options = {"REGISTER", "UNDO"}

    remove: BoolProperty(
        name="Remove", description="Take away the key at this frame instead", options={"HIDDEN", "SKIP_SAVE"}
    )

    @classmethod
    def description(cls, context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        """Say which of the two it does."""
        return "Remove the key of muscle at this frame" if properties.remove else cls.__doc__

    @explains_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Set or remove the key."""
        scene = context.scene
        said = muscle_keys.key_muscle(
            scene.sinew.armature, scene.sinew.action, scene.frame_current_final, remove=self.remove
        )
        report_line(self, "INFO", said)
        return {"FINISHED"}
