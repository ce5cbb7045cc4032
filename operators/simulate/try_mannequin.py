# SPDX-License-Identifier: GPL-3.0-or-later
"""See Sinew work, from nothing."""

import bpy

from ...bridge.mannequin import example_walker
from ...bridge.scene import viewport
from ...bridge.scene.report_lines import report_line
from ...bridge.setup import readiness
from ...bridge.takes import preview_range
from ..reporting import explains_errors


class SINEW_OT_try_mannequin(bpy.types.Operator):
    """Add a mannequin with a walk to the scene, play it, and simulate it. Nothing else in the scene is changed."""

    bl_idname = "sinew.try_mannequin"
    bl_label = "Try It on the Mannequin"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """There must be an engine, as far as is known, and Object Mode."""
        known = readiness.current_readiness()
        if known is not None and not known.simulates:
            cls.poll_message_set("Simulating needs a physics engine: install what is missing first")
            return False
        if context.mode != "OBJECT":
            cls.poll_message_set("Go to Object Mode first")
            return False
        return True

    @explains_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Make the mannequin, show it, and simulate its walk as the panel's own button would."""
        scene = context.scene
        armature = example_walker.add_walker(scene)
        _select(context, armature)
        chosen = scene.sinew
        chosen.armature, chosen.action = armature, armature.animation_data.action
        chosen.property_unset("method")
        preview_range.follow_action(armature, chosen.action)
        _show(context, armature)
        try:
            bpy.ops.sinew.simulate("EXEC_DEFAULT" if bpy.app.background else "INVOKE_DEFAULT")
        except RuntimeError as error:
            # What it reports as an error arrives here. The mannequin is there and may be simulated once that is mended.
            report_line(self, "WARNING", str(error).strip().removeprefix("Error: "))
        return {"FINISHED"}


def _select(context: bpy.types.Context, armature: bpy.types.Object) -> None:
    for obj in context.selected_objects:
        obj.select_set(False)
    armature.select_set(True)
    context.view_layer.objects.active = armature


def _show(context: bpy.types.Context, armature: bpy.types.Object) -> None:
    """Let the view see everywhere it goes and the animation play, where there is a window."""
    area = context.area
    if context.window is None or area is None or area.type != "VIEW_3D":
        return
    viewport.frame_points(area, example_walker.motion_points(context.scene, armature))
    if not context.screen.is_animation_playing:
        bpy.ops.screen.animation_play()
