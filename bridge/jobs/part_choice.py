# SPDX-License-Identifier: GPL-3.0-or-later
"""Which bones of the chosen character are simulated: a part that has a name, or what is selected in Pose Mode."""

import bpy

from ...core.body.named_parts import part_choices
from ...core.errors import RigError
from .scene_request import method_group, setting_names

WHOLE, SELECTED = "WHOLE", "SELECTED"
PART_ITEMS = (
    (WHOLE, "Whole Body", "Simulate everything"),
    (SELECTED, "Selected Bones", "Simulate the bones that are selected in Pose Mode"),
    *((name, label, f"Simulate only {label.lower()}") for name, label in part_choices()),
)


def can_choose_part(scene: bpy.types.Scene) -> bool:
    """Whether the chosen method can simulate some bones alone."""
    return "bones" in setting_names(scene)


def why_no_part_choice(scene: bpy.types.Scene) -> str:
    """Why no part can be chosen, with the fix; '' if it can."""
    if scene.sinew.armature is None:
        return "Choose an armature"
    return "" if can_choose_part(scene) else "This method simulates nothing: choose the method Simulate"


def choose_part(scene: bpy.types.Scene, part: str) -> str:
    """Let only this part be simulated; gives what is simulated then, '' for the whole body."""
    chosen = {WHOLE: "", SELECTED: ""}.get(part, part)
    if part == SELECTED:
        obj = scene.sinew.armature
        names = [bone.name for bone in obj.pose.bones if _is_selected(bone)]
        if not names:
            raise RigError(f"No bone of '{obj.name}' is selected", "Select some in Pose Mode")
        chosen = ", ".join(names)
    method_group(scene).bones = chosen
    return chosen


def _is_selected(bone: bpy.types.PoseBone) -> bool:
    """Selection went from the armature's bones to the pose's in Blender 5."""
    return bone.select if hasattr(bone, "select") else bone.bone.select
