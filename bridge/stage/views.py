# SPDX-License-Identifier: GPL-3.0-or-later
"""What the panel shows of the stage, in plain words."""

from dataclasses import dataclass

import bpy
import numpy as np

from ...core.errors import BadStage
from ...core.sim.stage_parts import StageParts
from ..rig.setting_aside import shows_by_itself
from ..scene.chosen_armature import why_linked
from .checks import find_stage_problem
from .properties import ICONS, REACTIONS
from .reader import objects_on_stage, scene_gravity
from .stage_editing import former_role

_LABELS = {intent: label for intent, label, *_ in REACTIONS}


@dataclass(frozen=True)
class StageItem:
    """One thing on the stage. ``problem`` says what keeps it from being simulated."""

    name: str
    icon: str
    text: str
    shows: bool
    problem: BadStage | None


def has_ground_objects(scene: bpy.types.Scene) -> bool:
    """Whether somebody may stand on something else than the floor."""
    return any(obj.sinew.role in {"TERRAIN", "OBSTACLE"} for obj in objects_on_stage(scene))


def stage_items(scene: bpy.types.Scene) -> list[StageItem]:
    """Everything on the stage, in the order of the roles and then by name."""
    order = list(ICONS)
    found = sorted(objects_on_stage(scene), key=lambda obj: order.index(obj.sinew.role))
    return [
        StageItem(
            obj.name,
            ICONS[obj.sinew.role],
            _text(obj),
            shows_by_itself(obj),
            find_stage_problem(obj, scene.sinew.armature),
        )
        for obj in found
    ]


def pushes_off_stage(scene: bpy.types.Scene) -> list[str]:
    """Pushes that were taken off the stage, by name: arrows that push nobody until they are put back."""
    return sorted(obj.name for obj in scene.objects if obj.type == "EMPTY" and former_role(obj) == "PUSH")


def gravity_text(scene: bpy.types.Scene) -> str:
    """How strong gravity is on the stage."""
    return f"Gravity: {np.linalg.norm(scene_gravity(scene)):.2f} m/s²" if scene.use_gravity else "Gravity"


def summarize_stage(parts: StageParts) -> str:
    """What there is to say of a stage that nothing is wrong with."""
    counts = f"{len(parts.obstacles)} obstacles, {len(parts.props)} props and projectiles"
    return f"The stage looks right: {counts}, {len(parts.pushes)} pushes"


def _text(obj: bpy.types.Object) -> str:
    """The values that matter, in a few words."""
    part = obj.sinew
    if part.role == "PUSH":
        strength = f"{part.force:.0f} N" if part.intent == "FORCE" else _LABELS.get(part.intent, "?")
        return f"{strength}, {part.duration:.2g} s at {part.start_frame}"
    if part.role == "PROJECTILE":
        strength = f"{part.mass:.3g} kg" if part.intent == "FORCE" else _LABELS.get(part.intent, "?")
        return f"{strength}, {part.speed:.3g} m/s at {part.start_frame}"
    if part.role == "PROP":
        return f"{part.mass:.3g} kg"
    if part.role == "CHARACTER":
        return ""
    return f"friction {part.friction:.2g}"


def why_no_push(obj: bpy.types.Object | None) -> str:
    """Why an object's force and duration cannot be set, with the fix; '' if they can."""
    if obj is None or obj.sinew.role != "PUSH":
        return "Select a push: Add Push makes one"
    return why_linked(obj)
