# SPDX-License-Identifier: GPL-3.0-or-later
"""The armature that the panels are about: why it cannot be worked on, each time in the same words with the fix."""

import bpy


def why_linked(obj: bpy.types.Object) -> str:
    """Why nothing of an object may be changed, '' if it may be."""
    if obj.is_editable:
        return ""
    return f"'{obj.name}' is linked from another file: make a library override of it (Object > Library Override > Make)"


def why_no_armature(scene: bpy.types.Scene) -> str:
    """Why there is nobody to work on, with the fix; '' if there is. Cheap enough for ``draw`` and ``poll``."""
    obj = scene.sinew.armature
    if obj is None:
        return "Choose an armature"
    if scene.objects.get(obj.name) != obj:
        return f"'{obj.name}' is not in this scene: choose another armature"
    return why_linked(obj)


def why_editing(obj: bpy.types.Object) -> str:
    """Why an armature cannot be read now, '' if it can be: bones that are being edited are not where they seem."""
    return f"'{obj.name}' is in Edit Mode: leave it with Tab" if obj.mode == "EDIT" else ""
