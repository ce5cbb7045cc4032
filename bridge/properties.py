# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator sets, kept in the scene as ``scene.sinew``.

Every method's settings become a property group drawn from its settings' fields, so that a new method
needs no edit here.
"""

import dataclasses
import zlib
from collections.abc import Iterable
from typing import Any

import bpy
import numpy as np
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from ..core.control import registry
from ..core.settings import Settings
from ..core.sim.variations import VariationSettings
from .body.body_inputs import asked_of
from .bounds import properties as bounds_properties
from .graph import properties as graph_properties
from .jobs.requests import Request
from .rig import actions
from .rig.rig_writer import PLACES
from .stage import properties as stage_properties
from .takes import properties as take_properties

ENGINES = (
    ("auto", "Automatic", "The fastest engine that the worker's Python has"),
    ("mujoco", "MuJoCo", "Simulate with MuJoCo"),
    ("bullet", "Bullet", "Simulate with PyBullet"),
)

# Blender's own length and mass units follow the scene's unit scale, which a method's metres do not.
_UNITS: dict[str, dict[str, str]] = {"s": {"unit": "TIME_ABSOLUTE"}, "rad": {"subtype": "ANGLE", "unit": "ROTATION"}}


def enum_items(choices: Iterable[tuple[str, str, str]]) -> list[tuple[str, str, str, int]]:
    """Blender's items for (value, label, help) choices.

    A .blend keeps a choice as a number, so the number follows from the value: a list that grows or is
    sorted anew changes nobody's files.
    """
    return [(value, label, text, zlib.crc32(value.encode()) & 0x7FFFFFFF) for value, label, text in choices]


def property_of(field: "dataclasses.Field[Any]") -> Any:
    """The Blender property that mirrors one field of a method's settings."""
    meta, kind = field.metadata, type(field.default)
    unit = meta["unit"]
    label = meta["label"] if not unit or unit in _UNITS else f"{meta['label']} ({unit})"
    common = {"name": label, "description": meta["help"], "default": field.default, "options": set()}
    if meta["choices"]:
        return EnumProperty(items=enum_items(meta["choices"]), **common)
    if kind is bool:
        return BoolProperty(**common)
    limits = {"min": meta["minimum"], "max": meta["maximum"]}
    limits = {name: kind(value) for name, value in limits.items() if value is not None}
    if kind is int:
        return IntProperty(**limits, **common)
    if kind is float:
        return FloatProperty(precision=3, **limits, **_UNITS.get(unit, {}), **common)
    return StringProperty(**common)


def settings_group(name: str, kind: type[Settings]) -> type[bpy.types.PropertyGroup]:
    """A property group called ``name`` that mirrors the settings."""
    return _group(name, kind.__doc__, {field.name: property_of(field) for field in dataclasses.fields(kind)})


def _group(name: str, doc: str | None, properties: dict[str, Any]) -> type[bpy.types.PropertyGroup]:
    return type(name, (bpy.types.PropertyGroup,), {"__annotations__": properties, "__doc__": doc})


_METHODS = {name: registry.get(name) for name in registry.all_names()}
_SETTINGS = {
    name: settings_group(f"SINEW_PG_settings_{name}", method.settings_type) for name, method in _METHODS.items()
}
SINEW_PG_variations = settings_group("SINEW_PG_variations", VariationSettings)
SINEW_PG_methods = _group(
    "SINEW_PG_methods",
    "The settings of every method, each under the method's name",
    {
        name: PointerProperty(type=group, name=_METHODS[name].label, description=_METHODS[name].help)
        for name, group in _SETTINGS.items()
    },
)


def _is_armature_here(self: Any, obj: bpy.types.Object) -> bool:
    return obj.type == "ARMATURE" and self.id_data.objects.get(obj.name) == obj


def _can_move_armature(self: Any, action: bpy.types.Action) -> bool:
    return self.armature is None or actions.slot_for(action, self.armature) is not None


class SINEW_PG_job(bpy.types.PropertyGroup):
    """A job that this file waits for; ``name`` is its id. What it is and how it stands is in its folder."""

    armature: StringProperty(name="Armature", description="The armature that the job was made for", options=set())
    action: StringProperty(name="Action", description="The Action that the job was made from", options=set())


class SINEW_PG_scene(bpy.types.PropertyGroup):
    """Everything that Sinew keeps in a scene."""

    armature: PointerProperty(
        type=bpy.types.Object,
        poll=_is_armature_here,
        name="Armature",
        description="The character to simulate",
    )
    action: PointerProperty(
        type=bpy.types.Action,
        poll=_can_move_armature,
        name="Action",
        description="The motion to simulate; empty for whatever moves the armature now",
    )
    method: EnumProperty(
        items=enum_items((name, _METHODS[name].label, _METHODS[name].help) for name in registry.names()),
        default=registry.default_name(),
        name="Method",
        description="How the motion gets its body",
        options=set(),
    )
    engine: EnumProperty(
        items=enum_items(ENGINES), name="Engine", description="The physics engine to simulate with", options=set()
    )
    seed: IntProperty(
        name="Seed",
        description="The same seed gives the same result; another one gives another try",
        min=0,
        options=set(),
    )
    use_range: BoolProperty(
        name="Frame Range",
        description="Simulate only these frames rather than the whole Action",
        options=set(),
    )
    frame_start: IntProperty(
        name="First", description="First frame to simulate", default=1, min=-1048574, max=1048574, options=set()
    )
    frame_end: IntProperty(
        name="Last", description="Last frame to simulate", default=250, min=-1048574, max=1048574, options=set()
    )
    true_fps: FloatProperty(
        name="True Frame Rate",
        description="Frames a second at which the motion is right, where its file had a wrong one; 0 for the scene's",
        min=0.0,
        max=1000.0,
        precision=2,
        options=set(),
    )
    scale: FloatProperty(
        name="Metres a Unit",
        description="How many metres a Blender unit is for this character, on top of the scene's unit scale",
        default=1.0,
        min=1e-4,
        soft_min=0.001,
        max=1e4,
        soft_max=100.0,
        precision=3,
        options=set(),
    )
    place: EnumProperty(
        items=enum_items(PLACES), name="Result", description="Where the simulated motion goes", options=set()
    )
    stage: PointerProperty(
        type=stage_properties.SINEW_PG_stage, name="Stage", description="What the stage has without any object"
    )
    jobs: CollectionProperty(type=SINEW_PG_job, name="Jobs", description="The jobs that this file waits for")
    methods: PointerProperty(type=SINEW_PG_methods, name="Methods", description="The settings of every method")
    variations: PointerProperty(
        type=SINEW_PG_variations, name="Variations", description="How the variations of a motion differ"
    )


_CLASSES = (SINEW_PG_job, *_SETTINGS.values(), SINEW_PG_methods, SINEW_PG_variations, SINEW_PG_scene)


def settings_type(method: str) -> type[Settings]:
    """The settings of a method."""
    return _METHODS[method].settings_type


def group_of(scene: bpy.types.Scene, method: str) -> bpy.types.PropertyGroup:
    """The property group with a method's settings."""
    return getattr(scene.sinew.methods, method)


def method_group(scene: bpy.types.Scene) -> bpy.types.PropertyGroup:
    """The property group with the chosen method's settings."""
    return group_of(scene, scene.sinew.method)


def setting_names(scene: bpy.types.Scene) -> tuple[str, ...]:
    """The chosen method's settings in the order in which they were declared."""
    return tuple(field.name for field in dataclasses.fields(_METHODS[scene.sinew.method].settings_type))


def uses_engine(scene: bpy.types.Scene) -> bool:
    """Whether the chosen method simulates on a physics engine."""
    return _METHODS[scene.sinew.method].uses_engine


def settings_of(scene: bpy.types.Scene) -> dict[str, Any]:
    """The chosen method's settings as plain values, as ``--set`` and ``spec.json`` have them."""
    return plain_values(method_group(scene), settings_type(scene.sinew.method))


def variations_of(scene: bpy.types.Scene) -> VariationSettings:
    """How the variations are to differ: by no more than their seeds where the method has no physics."""
    values = plain_values(scene.sinew.variations, VariationSettings)
    if not uses_engine(scene):
        return VariationSettings(values["count"], 0.0, 0.0)
    return VariationSettings(**values)


def plain_values(group: bpy.types.PropertyGroup, kind: type[Settings]) -> dict[str, Any]:
    """What a group made by ``settings_group`` holds."""
    return {field.name: plain(getattr(group, field.name)) for field in dataclasses.fields(kind)}


def request_of(scene: bpy.types.Scene) -> Request:
    """What the animator asks for."""
    chosen = scene.sinew
    return Request(
        armature=chosen.armature.name if chosen.armature else "",
        action=chosen.action.name if chosen.action else "",
        method=chosen.method,
        settings=settings_of(scene),
        engine=chosen.engine,
        seed=chosen.seed,
        frames=(chosen.frame_start, chosen.frame_end) if chosen.use_range else None,
        true_fps=plain(chosen.true_fps) or None,
        scale=plain(chosen.scale),
        place=chosen.place,
        body=asked_of(chosen.armature) if chosen.armature and uses_engine(scene) else None,
    )


def why_not(scene: bpy.types.Scene) -> str:
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
    return f"The method '{_METHODS[scene.sinew.method].label}' has no physics, so only the seed varies: choose another"


def plain(value: Any) -> Any:
    """A property's value without what single precision adds to it: 0.1, not 0.10000000149."""
    return float(str(np.float32(value))) if isinstance(value, float) else value


def register() -> None:
    """Give every scene and every object its ``sinew``."""
    stage_properties.register()
    take_properties.register()
    graph_properties.register()
    bounds_properties.register()
    for cls in _CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.Scene.sinew = PointerProperty(
        type=SINEW_PG_scene, name="Sinew", description="What is to be simulated, and how"
    )


def unregister() -> None:
    """Take it away; what files hold of it stays in them."""
    del bpy.types.Scene.sinew
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
    bounds_properties.unregister()
    graph_properties.unregister()
    take_properties.unregister()
    stage_properties.unregister()
