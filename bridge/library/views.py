# SPDX-License-Identifier: GPL-3.0-or-later
"""What the Library panel shows, and why something cannot be done yet. Cheap enough for ``draw``."""

import bpy

from ..learned.learned_file import learned_file
from ..rig import actions, sources
from ..scene.chosen_armature import why_editing, why_no_armature

FAMILY = "direct"
"""Whose learned file an armature's library is."""


def why_not_build(scene: bpy.types.Scene) -> str:
    """Why no library can be built, with the fix; '' if it can."""
    if reason := why_no_armature(scene):
        return reason
    if reason := why_editing(scene.sinew.armature):
        return reason
    return "" if bpy.data.actions else "This file has no Actions: import or make some"


def why_no_library(scene: bpy.types.Scene) -> str:
    """Why there is nothing to draw, with the fix."""
    return why_no_armature(scene) or learned_file(FAMILY).why_none(scene.sinew.armature)


def may_be_in_library(obj: bpy.types.Object, action: bpy.types.Action) -> bool:
    """Whether an Action is offered in the list: it could move the armature, and is no take. A first look only."""
    return actions.slot_for(action, obj) is not None and not sources.is_take(action)


def picture_of(obj: bpy.types.Object) -> bpy.types.Image | None:
    """The picture that was drawn last; None where there is none."""
    return bpy.data.images.get(f"{obj.name} library")
