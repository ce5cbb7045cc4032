# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator collects to be learned, kept on the armature: ``object.sinew_skills`` and what belongs to them.

The lists stand directly on the object, because Blender 5.0 loses what a library override adds to a collection inside a
group. Transitions name their skills rather than point at them, so that a skill's Action may be exchanged.
"""

from typing import Any

import bpy
from bpy.props import BoolProperty, CollectionProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty
from bpy.props import StringProperty as Text

from ..rig import actions
from .modes import MODES

_EDITABLE = {"LIBRARY_OVERRIDABLE"}
_COMMON = {"options": set(), "override": _EDITABLE}
_GROWING = {"LIBRARY_OVERRIDABLE", "USE_INSERTION"}

# The numbers stand in files.
KINDS = (
    ("AUTO", "Automatic", "As the motion looks", 0),
    ("CYCLE", "Cycle", "Ends as it begins and is played on and on, such as a walk", 1),
    ("ONCE", "Once", "Is played through and then left, such as a kick", 2),
    ("RISE", "Get-Up", "Begins lying and ends standing; who falls gets up by it", 3),
)
GAITS = (
    ("AUTO", "Automatic", "As the motion looks", 0),
    ("YES", "Gait", "A walk or run that is the same on both sides, and is learned so", 1),
    ("NO", "No Gait", "Is not made the same on both sides", 2),
)


def _can_move(self: Any, action: bpy.types.Action) -> bool:
    return actions.slot_for(action, self.id_data) is not None


def _is_curve(self: Any, obj: bpy.types.Object) -> bool:
    return obj.type == "CURVE"


def _rename(self: Any, _context: bpy.types.Context) -> None:
    """Let the transitions follow a skill that got another name, and no two skills have the same one."""
    others = [skill.name for skill in self.id_data.sinew_skills if skill != self]
    free = free_name(self.name.strip() or self.known_as or "skill", others)
    if free != self.name:
        self.name = free  # calls this once more
        return
    if self.known_as and self.known_as != self.name:
        for way in self.id_data.sinew_transitions:
            for end in ("source", "target"):
                if getattr(way, end) == self.known_as:
                    setattr(way, end, self.name)
    self.known_as = self.name


def free_name(wanted: str, taken: list[str]) -> str:
    """The name, or one like it that nobody has yet: 'walk 2'."""
    number, name = 1, wanted
    while name in taken:
        number += 1
        name = f"{wanted} {number}"
    return name


class SINEW_PG_skill(bpy.types.PropertyGroup):
    """An Action that the character is to learn."""

    name: Text(name="Skill", description="What the skill is called; no two have one name", update=_rename, **_COMMON)
    known_as: Text(name="Known As", description="What transitions call it", **_COMMON)
    action: PointerProperty(
        type=bpy.types.Action,
        poll=_can_move,
        name="Action",
        description="The motion to learn, over its own frames",
        override=_EDITABLE,
    )
    kind: EnumProperty(items=KINDS, name="Kind", description="How the skill is played", **_COMMON)
    looks: Text(name="Looks Like", description="What the motion looked like when it was last read", **_COMMON)
    gait: EnumProperty(items=GAITS, name="Gait", description="Whether it is a symmetric walk or run", **_COMMON)


class SINEW_PG_transition(bpy.types.PropertyGroup):
    """A way from one skill to another."""

    source: Text(name="From", description="The skill that it leaves", **_COMMON)
    leave_frame: IntProperty(
        name="At Frame", description="The frame of that skill's Action at which it leaves", **_COMMON
    )
    target: Text(name="To", description="The skill that it enters", **_COMMON)
    enter_frame: IntProperty(name="At Frame", description="The frame of that skill's Action that it enters", **_COMMON)
    use: BoolProperty(name="Use", description="Learn this transition", default=True, **_COMMON)
    distance: FloatProperty(
        name="Distance",
        description="How far apart pose and speed are there, in metres; -1 for one that was not measured",
        default=-1.0,
        **_COMMON,
    )


class SINEW_PG_graph(bpy.types.PropertyGroup):
    """The learned graph of one character, and what is to be baked from it."""

    file: Text(
        name="Graph",
        description="The file with what was learned; // at its beginning is the folder of the .blend",
        subtype="FILE_PATH",
        options={"PATH_SUPPORTS_BLEND_RELATIVE"},
        override=_EDITABLE,
    )
    known: Text(
        name="Begin With",
        description="A graph of the same skills, learned for another body, to begin with; empty to begin from nothing",
        subtype="FILE_PATH",
        options={"PATH_SUPPORTS_BLEND_RELATIVE"},
        override=_EDITABLE,
    )
    seed: IntProperty(
        name="Seed", description="The same seed learns the same; another one gives another try", min=0, **_COMMON
    )
    mode: EnumProperty(items=MODES, name="Bake", description="What the character is to do with its skills", **_COMMON)
    sequence: Text(
        name="Skills",
        description="Skills in their order, each with seconds or how many times, such as: walk 3, run 2, kick",
        **_COMMON,
    )
    skill: Text(name="Skill", description="The skill that goes on all the time; empty for the graph's first", **_COMMON)
    curve: PointerProperty(
        type=bpy.types.Object,
        poll=_is_curve,
        name="Curve",
        description="The curve that the character goes along",
        override=_EDITABLE,
    )
    from_start: BoolProperty(
        name="Begin on Curve",
        description="Begin where the curve does, facing along it, rather than where the character stands",
        default=True,
        **_COMMON,
    )
    seconds: FloatProperty(
        name="Length",
        description="How long the baked motion lasts, in seconds",
        default=10.0,
        min=0.5,
        soft_max=120.0,
        max=3600.0,
        unit="TIME_ABSOLUTE",
        **_COMMON,
    )
    bake_seed: IntProperty(
        name="Seed", description="The same seed bakes the same; another one takes other ways", min=0, **_COMMON
    )
    frame_start: IntProperty(
        name="First Frame",
        description="Where the baked motion begins; the character starts where it stands then",
        default=1,
        min=-1048574,
        max=1048574,
        **_COMMON,
    )


_CLASSES = (SINEW_PG_skill, SINEW_PG_transition, SINEW_PG_graph)
_ON_OBJECTS = ("sinew_skills", "sinew_skill_index", "sinew_transitions", "sinew_transition_index", "sinew_graph")


def register() -> None:
    """Give every object its skills."""
    for cls in _CLASSES:
        bpy.utils.register_class(cls)
    kind = bpy.types.Object
    kind.sinew_skills = CollectionProperty(
        type=SINEW_PG_skill, name="Skills", description="Actions that the character is to learn", override=_GROWING
    )
    kind.sinew_skill_index = IntProperty(
        name="Active Skill", description="The skill that is chosen in the list", min=0, **_COMMON
    )
    kind.sinew_transitions = CollectionProperty(
        type=SINEW_PG_transition, name="Transitions", description="Ways from skill to skill", override=_GROWING
    )
    kind.sinew_transition_index = IntProperty(
        name="Active Transition", description="The transition that is chosen in the list", min=0, **_COMMON
    )
    kind.sinew_graph = PointerProperty(
        type=SINEW_PG_graph, name="Graph", description="What was learned of the skills", override=_EDITABLE
    )


def unregister() -> None:
    """Take it away; what files hold of it stays in them."""
    for name in reversed(_ON_OBJECTS):
        delattr(bpy.types.Object, name)
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
