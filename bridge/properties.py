# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator sets, kept in the scene as ``scene.sinew``; what reads it is ``jobs/scene_request.py``.

Every method's settings become a property group drawn from its settings' fields, so that a new method
needs no edit here.
"""

from typing import Any

import bpy
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
from ..core.sim import engines
from ..core.sim.variations import VariationSettings
from .bounds import properties as bounds_properties
from .direct import properties as direct_properties
from .graph import properties as graph_properties
from .library import properties as library_properties
from .methods import properties as family_properties
from .respond import properties as respond_properties
from .retime import properties as retime_properties
from .rig import actions
from .rig.placing import PLACES
from .scene.settings_groups import enum_items, property_group, settings_group
from .setup import preferences
from .stage import properties as stage_properties
from .takes import properties as take_properties

ENGINES = (
    ("auto", "Automatic", "The fastest engine that the worker's Python has"),
    *((name, row.label, f"Simulate with {row.library}") for name, row in engines.ENGINES.items()),
)


_METHODS = {name: registry.get_method(name) for name in registry.all_method_names()}
_SETTINGS = {
    name: settings_group(f"SINEW_PG_settings_{name}", method.settings_type) for name, method in _METHODS.items()
}
SINEW_PG_variations = settings_group("SINEW_PG_variations", VariationSettings)
SINEW_PG_methods = property_group(
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


WHATS = (
    ("ACTION", "This Action", "Simulate: one motion, with weight, contacts and pushes", "ACTION", 0),
    ("SKILLS", "Skills", "Skills: motions that it can do in any order, and keep its balance", "STRANDS", 1),
    (
        "BOUNDS",
        "Bounds and Style",
        "Bounds and Style: one motion, practised until it lasts, within limits of yours",
        "DRIVER_DISTANCE",
        2,
    ),
    (
        "LIBRARY",
        "A Library",
        "Direct: it goes along a curve or after an object, with the motions of a library",
        "ASSET_MANAGER",
        3,
    ),
    ("CUES", "On Cue", "Respond: it does deeds of a library, such as a kick, at frames of yours", "MARKER_HLT", 4),
    (
        "ITSELF",
        "By Itself",
        "Improvise: it moves as it has learned to, without being told anything",
        "OUTLINER_OB_ARMATURE",
        5,
    ),
)
"""What a character can do: identifier, label, meaning, icon, number."""


class SINEW_PG_job(bpy.types.PropertyGroup):
    """A job that this file waits for; ``name`` is its id. What it is and how it stands is in its folder."""

    armature: StringProperty(name="Armature", description="The armature that the job was made for", options=set())
    action: StringProperty(name="Action", description="The Action that the job was made from", options=set())
    digest: StringProperty(
        name="Digest", description="By what the very job is known that this file asked for", options=set()
    )


class SINEW_PG_scene(bpy.types.PropertyGroup):
    """Everything that Sinew keeps in a scene."""

    show_advanced: BoolProperty(
        name="Advanced",
        description="Show everything that can be set, also what is rarely touched, and the numbers of running jobs. "
        "Remembered for all files",
        get=lambda self: preferences.wants_advanced(),
        set=lambda self, value: preferences.show_advanced(value),
        options=set(),
    )
    what: EnumProperty(items=WHATS, name="What", description="What the character does", options=set())
    search: StringProperty(
        name="Search",
        description="Show only what has this in its name",
        options={"SKIP_SAVE", "TEXTEDIT_UPDATE"},
    )
    armature: PointerProperty(
        type=bpy.types.Object,
        poll=_is_armature_here,
        name="Armature",
        description="The character to simulate",
    )
    live_goal: PointerProperty(
        type=bpy.types.Object,
        name="Goes After",
        description="An object, such as an empty, that who is live and can be steered goes to, wherever it is moved",
    )
    action: PointerProperty(
        type=bpy.types.Action,
        poll=_can_move_armature,
        name="Action",
        description="The motion to simulate; empty for whatever moves the armature now",
    )
    method: EnumProperty(
        items=enum_items((name, _METHODS[name].label, _METHODS[name].help) for name in registry.clip_method_names()),
        default=registry.default_method_name(),
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
    keep_rest: BoolProperty(
        name="Keep the Rest",
        description="Let the take have the whole Action, with the simulated frames faded into it; "
        "otherwise it has these frames alone",
        options=set(),
    )
    fade_s: FloatProperty(
        name="Fade",
        description="How long the simulated frames take to blend with the rest of the Action, within their range",
        default=0.25,
        min=0.0,
        max=10.0,
        unit="TIME_ABSOLUTE",
        options=set(),
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
    retime: PointerProperty(
        type=retime_properties.SINEW_PG_retime,
        name="Retime and Reach",
        description="When, where and how a key moment of the motion is wanted",
    )


_CLASSES = (
    SINEW_PG_job,
    *_SETTINGS.values(),
    SINEW_PG_methods,
    SINEW_PG_variations,
    retime_properties.SINEW_PG_retime,
    SINEW_PG_scene,
)


def register() -> None:
    """Give every scene and every object its ``sinew``."""
    stage_properties.register()
    take_properties.register()
    graph_properties.register()
    bounds_properties.register()
    direct_properties.register()
    respond_properties.register()
    library_properties.register()
    family_properties.register()
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
    family_properties.unregister()
    library_properties.unregister()
    respond_properties.unregister()
    direct_properties.unregister()
    bounds_properties.unregister()
    graph_properties.unregister()
    take_properties.unregister()
    stage_properties.unregister()
