# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a take goes, and its keys made for there: on the armature, on the rig's own controls, or on a baked copy."""

from dataclasses import replace

import bpy

from ...core.motion import Take
from ..scene.time_slicing import SLICE_S, Slices
from . import keying
from .control_keys import key_controls, why_no_controls
from .keying import ControlMatch, KeyedAction
from .rest_bones import BONE_CHANNEL
from .rig_reader import RigMotion

PLACES = (
    (
        "AUTO",
        "Automatic",
        "On the armature; of a rig that constraints move on its own controls where that matches, else on a baked copy",
    ),
    ("ACTION", "New Action", "As the armature's active Action"),
    ("NLA", "NLA Strip", "As a strip on a new track; the source Action is kept on a muted track"),
    ("COPY", "Baked Copy", "On a copy of the armature and its meshes, without constraints"),
    (
        "CONTROLS",
        "Own Controls",
        "On the rig's own controls, IK targets, poles and FK chains, however well the result matches",
    ),
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


def resolve_place(obj: bpy.types.Object, where: str) -> str:
    """What is to be tried for this armature first: one of ``PLACES`` but 'AUTO'."""
    if where not in {"AUTO", "CONTROLS"}:
        return where
    if not rig_overrides_keys(obj):
        return "ACTION"  # its bones are its controls
    return "CONTROLS" if where == "CONTROLS" or not why_no_controls(obj) else "COPY"


def key_at_place(
    obj: bpy.types.Object,
    take: Take,
    rig: RigMotion,
    *,
    name: str,
    source: bpy.types.Action | None,
    where: str,
    copy: bpy.types.Object | None = None,
    tolerance_m: float = 0.0,
    slice_s: float = SLICE_S,
) -> Slices[KeyedAction]:
    """Key the take for where it goes, on a new Action called ``name``; its ``place`` says where that is.

    copy: the armature's baked copy, if it has one. tolerance_m: as for ``keying.key_take``; controls are keyed every
    frame, because theirs are not the take's own curves.
    """
    place, match = resolve_place(obj, where), None
    obj_uid, copy_uid = obj.session_uid, copy.session_uid if copy is not None else None
    source_uid = source.session_uid if source is not None else None
    if place == "CONTROLS":
        keyed, match = yield from key_controls(obj, take, rig, name=name, source=source, slice_s=slice_s)
        if keyed is not None and (match.is_close or where == "CONTROLS"):
            return keyed
        keying.remove_keyed(keyed)
        place, match = "COPY", replace(match, why_not=match.why_not or _miss(match))
    elif place == "COPY" and where == "AUTO":
        match = ControlMatch(why_not=why_no_controls(obj))
    still = place == "COPY"
    its = keying.resolve_armature(copy_uid if still and copy_uid is not None else obj_uid)
    copied = keying.find_source(source_uid) if not still else None
    words = {"name": name, "source": copied, "stands_still": still, "tolerance_m": tolerance_m, "slice_s": slice_s}
    keyed = yield from keying.key_take(its, take, rig, **words)
    return replace(keyed, place=place, match=match)


def _miss(match: ControlMatch) -> str:
    return f"on its own controls it would be {match.text} off"
