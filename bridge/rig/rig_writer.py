# SPDX-License-Identifier: GPL-3.0-or-later
"""The door back into Blender: a ``Take`` becomes a new Action beside the old one.

Every bone is keyed once a frame in its own rotation mode. Everything else that the source Action
animates (the object itself, custom properties, constraint influences) is copied, so that the armature
stands and its drivers run as they did. The source Action is never changed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import bpy

from ...core.errors import RigError
from ...core.motion import Take
from ..scene.time_slicing import run_all_slices
from . import actions, keying, nla
from .baked_copy import copy_character, copy_followers, remove_character_copy
from .keying import KeyedAction
from .rest_bones import BONE_CHANNEL
from .rig_reader import RigMotion

PLACES = (
    ("AUTO", "Automatic", "On the armature, or on a baked copy where the rig's constraints would fight the keys"),
    ("ACTION", "New Action", "As the armature's active Action"),
    ("NLA", "NLA Strip", "As a strip on a new track; the source Action is kept on a muted track"),
    ("COPY", "Baked Copy", "On a copy of the armature and its meshes, without constraints"),
)


@dataclass(frozen=True)
class WrittenAction:
    """What was made: the Action, the object that it moves and where it went ('ACTION', 'NLA' or 'COPY').

    others, props: what was made with it of the same take, for the other characters and the loose things.
    """

    action: bpy.types.Action
    obj: bpy.types.Object
    where: str
    others: tuple["WrittenAction", ...] = ()
    props: tuple["WrittenAction", ...] = ()


def write_take(
    obj: bpy.types.Object,
    take: Take,
    rig: RigMotion,
    *,
    name: str,
    source_action: bpy.types.Action | None = None,
    where: str = "AUTO",
    keyed: KeyedAction | None = None,
    copy: bpy.types.Object | None = None,
    tolerance_m: float = 0.0,
) -> WrittenAction:
    """Write the take as a new Action called ``name``; ``rig`` is what ``read_rig`` gave for its source.

    keyed: what ``keying`` made of it before, which is used if it still fits. copy: the armature's baked copy, which is
    used where the take goes onto one; None for a new one. tolerance_m: as for ``keying.key_take``.
    """
    is_new = False
    try:
        require_writable(obj, take.motion.skeleton.names, where)
        where = resolve_place(obj, where)
        source = source_action or (obj.animation_data.action if obj.animation_data else None)
        target = obj
        if where == "COPY":
            is_new = copy is None
            target = copy if copy is not None else copy_character(obj, f"{obj.name} baked")
            if not is_new:
                copy_followers(obj, target)
    except BaseException:
        keying.remove_keyed(keyed)
        raise
    if keyed is not None and not keying.still_fits(keyed, target):
        keying.remove_keyed(keyed)
        keyed = None
    try:
        if keyed is None:
            copied = source if where != "COPY" else None
            steps = keying.key_take(
                target, take, rig, name=name, source=copied, tolerance_m=tolerance_m, slice_s=float("inf")
            )
            keyed = run_all_slices(steps)
        action = keying.publish_action(keyed, name, target)
        assign_result(target, action, action.slots[0], source, where)
    except BaseException:
        keying.remove_keyed(keyed)
        if is_new:
            remove_character_copy(target)
        raise
    return WrittenAction(action, target, where)


def resolve_place(obj: bpy.types.Object, where: str) -> str:
    """What 'AUTO' comes to for this armature: one of ``PLACES``."""
    return ("COPY" if rig_overrides_keys(obj) else "ACTION") if where == "AUTO" else where


def require_writable(obj: bpy.types.Object, bones: Sequence[str], where: str = "AUTO") -> None:
    """Refuse what cannot be written, naming it and the fix."""
    if obj.library is not None and where != "COPY":
        raise RigError(
            f"Armature '{obj.name}' is linked from '{obj.library.filepath}' and cannot get a new Action",
            "Make a library override of it (Object > Library Override > Make), or put the result on a baked copy",
        )
    if where != "COPY":
        actions.require_no_tweak_mode(obj)
    missing = [name for name in bones if name not in obj.pose.bones]
    if missing:
        raise RigError(
            f"Armature '{obj.name}' has no bone '{missing[0]}', which the take moves",
            "Choose the armature that the take was made from",
        )


def rig_overrides_keys(obj: bpy.types.Object) -> bool:
    """Whether something on the rig would change a pose keyed on its bones: constraints, drivers, a mixed-in NLA."""
    if any(c.enabled and not c.mute for bone in obj.pose.bones for c in bone.constraints):
        return True
    data = obj.animation_data
    if data is None:
        return False
    if any(BONE_CHANNEL.match(driver.data_path) and not driver.mute for driver in data.drivers):
        return True
    return data.action_blend_type != "REPLACE" or data.action_influence < 1.0


def assign_result(obj: Any, action: Any, slot: Any, source: Any, where: str) -> None:
    """Let the new Action move the object; nothing that moved it before gets lost."""
    actions.protect_current_action(obj)
    if where == "NLA":
        data = obj.animation_data or obj.animation_data_create()
        if source is not None and data.action == source:
            stash = data.nla_tracks.new()
            stash.name, stash.mute = source.name, True
            kept = stash.strips.new(source.name, int(source.frame_range[0]), source)
            kept.action_slot = actions.slot_for(source, obj)
        nla.add_strip(obj, action, slot)
    else:
        actions.assign(obj, action, slot)
    actions.add_fake_users([source, action])
