# SPDX-License-Identifier: GPL-3.0-or-later
"""Baked copies: a rig whose constraints would fight the keys has one, which all its takes move.

The takes are listed with the rig, and each says which copy it moves. They are listed with the copy too, so that
nothing is lost where the rig is deleted or the copy goes into another file alone; while both are there, the rig's list
is the one. In files of before each take has a copy of its own, which alone lists it.
"""

from typing import Any

import bpy

from ..rig.baked_copy import remove_character_copy
from ..rig.rest_bones import rig_fingerprint
from ..rig.setting_aside import bring_back, is_set_aside, set_aside
from .marks import find_marked


def moved_object(obj: bpy.types.Object, row: Any) -> bpy.types.Object | None:
    """What a take of this list moves: the armature itself or its baked copy; None once that is gone."""
    if not row.copy_name:
        return obj
    copy = find_marked(row.copy_name, row.copy_mark)
    return copy if copy is not None and copy.type == "ARMATURE" else None


def original_of(row: Any) -> bpy.types.Object | None:
    """The armature that a baked copy was made from, if it is still in a scene."""
    model = find_marked(row.armature_name, row.armature_mark) if row.armature_name else None
    return model if model is not None and model.type == "ARMATURE" else None


def list_owner(obj: bpy.types.Object) -> bpy.types.Object:
    """Whose list has this armature's takes: its own, or for a baked copy that of the armature it was made from."""
    for row in obj.sinew_takes:
        model = original_of(row)
        listed = model.sinew_takes.get(row.name) if model is not None and model != obj else None
        if listed is not None and moved_object(model, listed) == obj:
            return model
    return obj


def copies_listed(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """The baked copies that takes of the armature's list move."""
    rows = {row.copy_mark: row for row in obj.sinew_takes if row.copy_name}
    found = (moved_object(obj, row) for row in rows.values())
    return [copy for copy in found if copy is not None]


def shown_instead(obj: bpy.types.Object) -> bpy.types.Object:
    """The armature's baked copy while that shows instead of it, else the armature itself."""
    if not is_set_aside(obj):
        return obj
    return next((copy for copy in copies_listed(obj) if not is_set_aside(copy)), obj)


def reusable_copy(obj: bpy.types.Object) -> bpy.types.Object | None:
    """The armature's baked copy in this scene, for another take; None where there is none with the same bones."""
    if not hasattr(bpy.types.Object, "sinew_takes"):
        return None
    here = bpy.context.scene.objects
    for copy in reversed(copies_listed(obj)):
        if here.get(copy.name) == copy and copy.library is None and rig_fingerprint(copy) == rig_fingerprint(obj):
            return copy
    return None


def present(obj: bpy.types.Object, shown: bpy.types.Object) -> None:
    """Let either the armature show or one of its baked copies; the others are set aside."""
    bring_back(shown)
    hidden = [one for one in (obj, *copies_listed(obj)) if one != shown]
    for one in hidden:
        set_aside(one)
    layer = bpy.context.view_layer
    active = layer.objects.active
    # Who worked with the one goes on with the other; a mode is its user's to leave.
    if active in hidden and active.mode == "OBJECT" and layer.objects.get(shown.name) == shown:
        layer.objects.active = shown
        if not shown.hide_get():
            shown.select_set(True)


def is_presented(obj: bpy.types.Object, shown: bpy.types.Object) -> bool:
    """Whether it is this one that shows, of an armature and its baked copies."""
    return is_set_aside(obj) == (shown != obj)


def drop_from_copy(copy: bpy.types.Object, key: str) -> None:
    """Take a take off the list that its baked copy has itself."""
    place = copy.sinew_takes.find(key)
    if place >= 0:
        copy.sinew_takes.remove(place)
    copy.sinew_take_index = min(copy.sinew_take_index, max(len(copy.sinew_takes) - 1, 0))


def remove_unused_copy(copy: bpy.types.Object, model: bpy.types.Object | None) -> bool:
    """Remove a baked copy that no take moves any more, with all that was made for it; True if it is gone."""
    listing = (other for other in bpy.data.objects if other != copy and other.type == "ARMATURE")
    used = any(row.copy_mark == copy.sinew_mark for other in listing for row in other.sinew_takes if row.copy_mark)
    if used or copy.sinew_takes or copy.library is not None:
        return False
    remove_character_copy(copy, model)
    return True
