# SPDX-License-Identifier: GPL-3.0-or-later
"""Verbs about what is around a character: the stage, and how much muscle it has when."""

from collections.abc import Mapping
from typing import Any

import bpy
from mathutils import Vector

from ...core.control.character import build_plain_body
from ...core.errors import BadSettings
from ...core.sim.variations import trunk_bone
from ..body.body_inputs import read_body_request
from ..rig.rig_reader import read_rig
from ..stage import stage_editing
from ..stage.properties import LABELS
from ..takes.muscle_keys import key_muscle
from .characters import Who, character

_VALUES = ("friction", "mass", "shape", "start_frame", "speed", "aim", "bone", "intent", "force", "duration")


def put_on_stage(obj: bpy.types.Object | str, role: str, **values: Any) -> bpy.types.Object:
    """Make an object part of the stage, or of none any more: what the buttons of the panel Stage do.

    role: 'obstacle', 'terrain', 'prop', 'projectile', 'character' or 'none'. values: of its box in the panel, such as
    ``mass=4.0`` (kg), ``friction=0.5``, ``speed=12.0`` (m/s), ``start_frame=30``, ``shape='box'``.
    """
    found = stage_editing.find_in_scene(bpy.context.scene, obj if isinstance(obj, str) else obj.name)
    if role.upper() not in LABELS:
        raise BadSettings(f"There is no role '{role}'", f"Choose one of: {', '.join(name.lower() for name in LABELS)}")
    if role.upper() == "NONE":
        stage_editing.clear_roles([found])
    else:
        stage_editing.assign_role([found], role.upper(), bpy.context.scene.frame_current)
    _set_values(found, values)
    return found


def place_push(
    who: Who = None,
    bone: str = "",
    *,
    force: float = 200.0,
    frame: int = 1,
    duration: float = 0.2,
    towards: tuple[float, float, float] = (0.0, 1.0, 0.0),
    intent: str = "force",
) -> bpy.types.Object:
    """Put an arrow on the stage that pushes a bone: what Add Push does; gives the arrow, which can be keyed.

    bone: '' for the upper trunk. force: newtons. frame: when it begins. duration: seconds. towards: which way it
    pushes, in the world. intent: 'force', or 'brace', 'stagger' or 'fall' for a force that is found by trying.
    """
    meant = character(who)
    obj, scene = meant.obj, bpy.context.scene
    metres = meant.scale * scene.unit_settings.scale_length
    arrow = stage_editing.add_push(scene, obj, bone or _trunk_of(obj, meant.scale), metres)
    direction = Vector(towards).normalized()
    tip = arrow.location + Vector((0.0, arrow.empty_display_size, 0.0))
    arrow.location = tip - arrow.empty_display_size * direction
    arrow.rotation_euler = direction.to_track_quat("Z", "Y").to_euler()
    _set_values(arrow, {"force": force, "start_frame": frame, "duration": duration, "intent": intent})
    bpy.context.view_layer.update()
    return arrow


def key_strength(who: Who, keys: Mapping[int, float], action: str = "") -> None:
    """Key how much of its strength a character uses, by frame, from 0 (limp) to 1: the dot beside Muscle."""
    obj = character(who).obj
    for frame, value in keys.items():
        obj.sinew_body.muscle = value
        key_muscle(obj, bpy.data.actions[action] if action else None, float(frame))


def _trunk_of(obj: bpy.types.Object, scale: float) -> str:
    clip = read_rig(obj, scale=scale).clip
    return trunk_bone(build_plain_body(clip, read_body_request(obj).checked()))


def _set_values(obj: bpy.types.Object, values: Mapping[str, Any]) -> None:
    """What stands in the object's box of the panel; enums in small letters."""
    for name, value in values.items():
        if name not in _VALUES:
            raise BadSettings(f"'{name}' is nothing of the stage", f"Choose one of: {', '.join(_VALUES)}")
        word = value.upper() if name in ("shape", "aim", "intent") else value
        try:
            setattr(obj.sinew, name, word)
        except TypeError as error:
            raise BadSettings(f"'{name}' cannot be {value!r}", str(error)) from None
