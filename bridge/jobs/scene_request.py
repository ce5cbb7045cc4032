# SPDX-License-Identifier: GPL-3.0-or-later
"""What the animator has set in the scene, read: the method, its settings, and the request for a job."""

import dataclasses
from typing import Any

import bpy

from ...core.control import registry
from ...core.settings import Settings
from ...core.sim.variations import VariationSettings
from ..body.body_inputs import read_body_request
from ..scene.settings_groups import plain_values, shortest_decimal
from .requests import Request


def settings_type(method: str) -> type[Settings]:
    """The settings of a method."""
    return registry.get_method(method).settings_type


def settings_group_of(scene: bpy.types.Scene, method: str) -> bpy.types.PropertyGroup:
    """The property group with a method's settings."""
    return getattr(scene.sinew.methods, method)


def method_group(scene: bpy.types.Scene) -> bpy.types.PropertyGroup:
    """The property group with the chosen method's settings."""
    return settings_group_of(scene, scene.sinew.method)


def setting_names(scene: bpy.types.Scene) -> tuple[str, ...]:
    """The chosen method's settings in the order in which they were declared."""
    return tuple(field.name for field in dataclasses.fields(registry.get_method(scene.sinew.method).settings_type))


def uses_engine(scene: bpy.types.Scene) -> bool:
    """Whether the chosen method simulates on a physics engine."""
    return registry.get_method(scene.sinew.method).uses_engine


def method_settings(scene: bpy.types.Scene) -> dict[str, Any]:
    """The chosen method's settings as plain values, as ``--set`` and ``spec.json`` have them."""
    return plain_values(method_group(scene), settings_type(scene.sinew.method))


def variations_of(scene: bpy.types.Scene) -> VariationSettings:
    """How the variations are to differ: by no more than their seeds where the method has no physics."""
    values = plain_values(scene.sinew.variations, VariationSettings)
    if not uses_engine(scene):
        return VariationSettings(values["count"], 0.0, 0.0)
    return VariationSettings(**values)


def request_of(scene: bpy.types.Scene) -> Request:
    """What the animator asks for."""
    chosen = scene.sinew
    return Request(
        armature=chosen.armature.name if chosen.armature else "",
        action=chosen.action.name if chosen.action else "",
        method=chosen.method,
        settings=method_settings(scene),
        engine=chosen.engine,
        seed=chosen.seed,
        frames=(chosen.frame_start, chosen.frame_end) if chosen.use_range else None,
        fade_s=shortest_decimal(chosen.fade_s) if chosen.use_range and chosen.keep_rest else None,
        true_fps=shortest_decimal(chosen.true_fps) or None,
        scale=shortest_decimal(chosen.scale),
        place=chosen.place,
        body=read_body_request(chosen.armature) if chosen.armature and uses_engine(scene) else None,
    )


def why_no_request(scene: bpy.types.Scene) -> str:
    """Why nothing can be simulated yet, in a sentence with the fix; '' if it can. Cheap enough for ``draw``."""
    chosen, obj = scene.sinew, scene.sinew.armature
    if obj is None:
        return "Choose an armature"
    if scene.objects.get(obj.name) != obj:
        return f"'{obj.name}' is not in this scene: choose another armature"
    if obj.mode == "EDIT":
        return f"'{obj.name}' is in Edit Mode: leave it with Tab"
    data = obj.animation_data
    moved = data is not None and (data.action is not None or any(track.strips for track in data.nla_tracks))
    if not (chosen.action or moved or chosen.use_range):
        return f"'{obj.name}' has no Action: choose one"
    if chosen.use_range and chosen.frame_end <= chosen.frame_start:
        return "The frame range is empty: let it end after it starts"
    return ""


def why_no_variations(scene: bpy.types.Scene) -> str:
    """Why variations can only differ by their seeds, with the fix; '' if they can differ by more."""
    if uses_engine(scene):
        return ""
    label = registry.get_method(scene.sinew.method).label
    return f"The method '{label}' has no physics, so only the seed varies: choose another"
