# SPDX-License-Identifier: GPL-3.0-or-later
"""What the Bounds panel shows: plain texts and numbers, and why something cannot be done yet."""

import bpy

from ..rig import sources
from ..scene.chosen_armature import why_editing, why_no_armature


def chosen_source(scene: bpy.types.Scene, obj: bpy.types.Object) -> bpy.types.Action | None:
    """The Action that would be learned: the chosen one, or what moves the armature when no take does."""
    return scene.sinew.action or sources.prior_animation(obj).action


def shows_take(obj: bpy.types.Object) -> bool:
    """Whether a take moves the armature now, and not what bounds are keyed in."""
    action = obj.animation_data.action if obj.animation_data else None
    return action is not None and sources.is_take(action)


def why_no_motion(scene: bpy.types.Scene) -> str:
    """Why nothing can be trained yet, with the fix; '' if it can. Cheap enough for ``draw``."""
    if reason := why_no_armature(scene):
        return reason
    chosen, obj = scene.sinew, scene.sinew.armature
    if reason := why_editing(obj):
        return reason
    if chosen_source(scene, obj) is None and not chosen.use_range:
        return f"'{obj.name}' has no Action: choose one"
    if chosen.use_range and chosen.frame_end <= chosen.frame_start:
        return "The frame range is empty: let it end after it starts"
    return ""
