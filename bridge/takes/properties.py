# SPDX-License-Identifier: GPL-3.0-or-later
"""An armature's takes, kept on its object: ``object.sinew_takes``.

A take points at its Action and so is a user of it: a take that is not kept is still there after saving and
loading, and goes into another file with its armature. Blender empties the pointer when the Action is deleted.
The rows stand directly on the object, because Blender 5.0 loses what a library override adds to a collection
inside a group.
"""

from contextlib import suppress

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    IntProperty,
    IntVectorProperty,
    PointerProperty,
)
from bpy.props import StringProperty as Text

from ...core.errors import SinewError

_EDITABLE = {"LIBRARY_OVERRIDABLE"}
_COMMON = {"options": set(), "override": _EDITABLE}

# The numbers stand in files.
SORTS = (
    ("TIME", "Time", "In the order in which they were asked for", "SORTTIME", 0),
    ("NAME", "Name", "By name", "SORTALPHA", 1),
    ("ERROR", "Error", "Those that stayed nearest to the source first", "SORTBYEXT", 2),
)


class SINEW_PG_take_prop(bpy.types.PropertyGroup):
    """A loose thing that was on the take's stage; ``name`` is what it was called then."""

    mark: Text(name="Mark", description="By what the thing is known whatever it is called", **_COMMON)
    action: PointerProperty(
        type=bpy.types.Action, name="Action", description="How it moved; empty if it did not", override=_EDITABLE
    )


class SINEW_PG_take(bpy.types.PropertyGroup):
    """A take; ``name`` is a key that no other take of the armature has. Plain copies of what the job said of it."""

    action: PointerProperty(
        type=bpy.types.Action, name="Action", description="The simulated motion", override=_EDITABLE
    )
    action_name: Text(name="Action Name", description="What the Action was called when it was last seen", **_COMMON)
    source: PointerProperty(
        type=bpy.types.Action, name="Source", description="The Action that was simulated", override=_EDITABLE
    )
    source_name: Text(name="Source Name", description="What the source was called", **_COMMON)
    # By mark and name, not by pointer: a copy that is appended elsewhere must not bring its model along.
    armature_mark: Text(name="Mark", description="The mark of the armature that this one is a copy of", **_COMMON)
    armature_name: Text(name="Copy Of", description="The armature that this one is a baked copy of", **_COMMON)
    copy_mark: Text(name="Copy's Mark", description="The mark of the baked copy that the take moves", **_COMMON)
    copy_name: Text(name="On Copy", description="The baked copy that it moves; empty for the armature", **_COMMON)
    job: Text(name="Job", description="The id of the job that made it", **_COMMON)
    made: Text(name="Made", description="When it was asked for: ISO 8601, UTC", **_COMMON)
    label: Text(name="Label", description="Which variation or seed it is", **_COMMON)
    variation: IntProperty(name="Variation", description="Its number in a batch, from 1; 0 without a batch", **_COMMON)
    fell: BoolProperty(name="Fell", description="Whether the character was down for good", **_COMMON)
    lost: BoolProperty(name="Lost", description="Whether the character ever was where its source never is", **_COMMON)
    error_m: FloatProperty(
        name="Error", description="Mean distance of the joints from the source in metres; -1 if unknown", **_COMMON
    )
    props: CollectionProperty(
        type=SINEW_PG_take_prop,
        name="Props",
        description="Loose things that moved in it",
        override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"},
    )
    report: Text(name="Report", description="What was done and measured, as JSON", **_COMMON)


class SINEW_PG_takes_view(bpy.types.PropertyGroup):
    """How takes are listed in this scene."""

    sort: EnumProperty(items=SORTS, name="Sort By", description="The order of the takes in the list", options=set())
    only_up: BoolProperty(
        name="Only Those That Stayed Up", description="Hide the takes in which the character was lost", options=set()
    )
    follow_range: BoolProperty(
        name="Preview Range",
        description="Let the preview range follow what shows, so that a take plays from its beginning to its end. One "
        "that you set yourself stays",
        default=True,
        options=set(),
    )
    followed: IntVectorProperty(
        name="Followed", description="The preview range that was set for what shows", size=2, options={"HIDDEN"}
    )


def _chosen(self: bpy.types.Object) -> int:
    return int(self.sinew_take_index)


def _click(self: bpy.types.Object, index: int) -> None:
    """Choose a row and show its take. Why it cannot be shown is said by the buttons, which can report."""
    from . import take_operations

    self.sinew_take_index = index
    if 0 <= index < len(self.sinew_takes):
        with suppress(SinewError):
            take_operations.show_chosen(self)


_CLASSES = (SINEW_PG_take_prop, SINEW_PG_take, SINEW_PG_takes_view)


def register() -> None:
    """Give every object its ``sinew_takes``, and every scene a way to list them."""
    for cls in _CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.Object.sinew_takes = CollectionProperty(
        type=SINEW_PG_take,
        name="Takes",
        description="What was simulated for this armature",
        override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"},
    )
    bpy.types.Object.sinew_take_index = IntProperty(
        name="Active Take", description="The take that is chosen in the list", min=0, **_COMMON
    )
    # What the list sets by a click. A script that only wants to choose sets the index, and nothing is shown.
    bpy.types.Object.sinew_take_clicked = IntProperty(
        name="Clicked Take",
        description="The take that is chosen in the list, and shown",
        get=_chosen,
        set=_click,
        **_COMMON,
    )
    bpy.types.Action.sinew_note = Text(
        name="Note", description="What you want to remember of this take; it is kept with its Action", options=set()
    )
    bpy.types.Object.sinew_mark = Text(
        name="Mark", description="By what takes know the object, whatever it is called", **_COMMON
    )
    bpy.types.Object.sinew_hidden = Text(
        name="Set Aside",
        description="How it was hidden in viewports and renders before a take on its baked copy set it aside",
        **_COMMON,
    )
    bpy.types.Scene.sinew_takes_view = PointerProperty(
        type=SINEW_PG_takes_view, name="Takes View", description="How takes are listed in this scene"
    )


def unregister() -> None:
    """Take it away; what files hold of it stays in them."""
    del bpy.types.Scene.sinew_takes_view
    del bpy.types.Action.sinew_note
    for name in ("sinew_hidden", "sinew_mark", "sinew_take_clicked", "sinew_take_index", "sinew_takes"):
        delattr(bpy.types.Object, name)
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
