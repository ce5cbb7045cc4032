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
from .keying import ControlMatch, KeyedAction
from .placing import key_at_place
from .rig_reader import RigMotion


@dataclass(frozen=True)
class WrittenAction:
    """What was made: the Action, the object that it moves and where it went ('ACTION', 'NLA', 'COPY' or 'CONTROLS').

    match: what came of keying the rig's own controls, None where that was not tried. switches: RNA paths of custom
    properties that the Action keys.
    others, props: what was made with it of the same take, for the other characters and the loose things.
    """

    action: bpy.types.Action
    obj: bpy.types.Object
    where: str
    others: tuple["WrittenAction", ...] = ()
    props: tuple["WrittenAction", ...] = ()
    match: ControlMatch | None = None
    switches: tuple[str, ...] = ()


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
    copy = copy if where in {"AUTO", "CONTROLS", "COPY"} else None
    is_new, target = False, obj
    try:
        require_writable(obj, take.motion.skeleton.names, where)
        source = source_action or (obj.animation_data.action if obj.animation_data else None)
        if keyed is not None and not keying.still_fits(keyed, copy or obj if keyed.place == "COPY" else obj):
            keying.remove_keyed(keyed)
            keyed = None
        if keyed is None:
            words = {"name": f".{name}", "source": source, "where": where, "copy": copy, "tolerance_m": tolerance_m}
            keyed = run_all_slices(key_at_place(obj, take, rig, slice_s=float("inf"), **words))
        if keyed.place == "COPY":
            is_new = copy is None
            target = copy if copy is not None else copy_character(obj, f"{obj.name} baked")
            if not is_new:
                copy_followers(obj, target)
        action = keying.publish_action(keyed, name, target)
        assign_result(target, action, action.slots[0], source, keyed.place)
    except BaseException:
        keying.remove_keyed(keyed)
        if is_new and target != obj:
            remove_character_copy(target)
        raise
    return WrittenAction(action, target, keyed.place, match=keyed.match, switches=keyed.switches)


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
