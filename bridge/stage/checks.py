# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wrong with an object on the stage, as far as its properties tell: for the reader and for the panel."""

import difflib

import bpy

from ...core.errors import BadStage
from .meshes import MESHABLE
from .properties import LABELS

_SOLID = {"TERRAIN", "OBSTACLE", "PROP", "PROJECTILE"}


def can_have_role(obj: bpy.types.Object, role: str) -> bool:
    """Whether an object of this type can have the role."""
    if role in _SOLID:
        return obj.type in MESHABLE or (obj.type == "EMPTY" and obj.instance_type == "COLLECTION")
    return role != "CHARACTER" or obj.type == "ARMATURE"


def find_stage_problem(obj: bpy.types.Object, character: bpy.types.Object | None) -> BadStage | None:
    """The first problem, with its fix; None if there is none. Cheap enough for ``draw``.

    character: whom an object without an armature of its own is about.
    """
    part = obj.sinew
    what = f"{LABELS[part.role]} '{obj.name}'"
    if not can_have_role(obj, part.role):
        kind = "armature" if part.role == "CHARACTER" else "mesh"
        return BadStage(f"{what} is no {kind}", f"Mark {'an' if kind == 'armature' else 'a'} {kind} in its place")
    if part.role in {"PROP", "PROJECTILE"} and part.mass <= 0.0:
        return BadStage(f"{what} has no mass", "Give it a mass above zero")
    if part.role == "PUSH":
        if not part.bone:
            return BadStage(f"{what} has no bone", "Choose the bone that it pushes")
        if part.duration <= 0.0:
            return BadStage(f"{what} lasts no time", "Give it a duration above zero")
    if part.role == "PUSH" or (part.role == "PROJECTILE" and part.bone and part.aim == "TARGET"):
        return _bone_problem(what, part.bone, part.armature or character)
    return None


def _bone_problem(what: str, bone: str, armature: bpy.types.Object | None) -> BadStage | None:
    if armature is None:
        return BadStage(f"{what} has no armature", "Choose the armature that the bone belongs to")
    bones = armature.data.bones
    if bone in bones:
        return None
    near = difflib.get_close_matches(bone, bones.keys(), 1)
    fix = f"Did you mean '{near[0]}'?" if near else "Choose a bone of that armature"
    return BadStage(f"{what} is about bone '{bone}', which '{armature.name}' does not have", fix)
