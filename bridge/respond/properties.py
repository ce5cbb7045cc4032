# SPDX-License-Identifier: GPL-3.0-or-later
"""What a character is asked for, kept on the armature: ``object.sinew_cues`` and ``object.sinew_respond``."""

from typing import Any

import bpy
from bpy.props import CollectionProperty, IntProperty, PointerProperty
from bpy.props import StringProperty as Text

from ..scene.viewport import redraw_viewports
from .cue_markers import show_cues

_EDITABLE = {"LIBRARY_OVERRIDABLE"}
_COMMON: dict[str, Any] = {"options": set(), "override": _EDITABLE}
_ON_OBJECTS = ("sinew_cues", "sinew_cue_index", "sinew_respond")


def _show_cues(self: Any, context: bpy.types.Context) -> None:
    show_cues(self.id_data)
    redraw_viewports()


def _is_other(self: Any, obj: bpy.types.Object) -> bool:
    return obj != self.id_data


class SINEW_PG_cue(bpy.types.PropertyGroup):
    """A deed at a frame."""

    deed: Text(
        name="Deed",
        description="What to do: a deed of the library, whose key moment falls on the frame, or a style such as walk",
        update=_show_cues,
        **_COMMON,
    )
    frame: IntProperty(
        name="Frame",
        description="When its key moment is to be",
        default=100,
        min=-1048574,
        max=1048574,
        update=_show_cues,
        **_COMMON,
    )
    target: PointerProperty(
        type=bpy.types.Object,
        poll=_is_other,
        name="Place",
        description="Where the character is to be then; empty for anywhere. It may be animated",
        update=redraw_viewports,
        override=_EDITABLE,
    )
    hit: PointerProperty(
        type=bpy.types.Object,
        poll=_is_other,
        name="Hit",
        description="What the hand or foot that does the deed is to hit; empty for nothing. It may be animated",
        update=redraw_viewports,
        override=_EDITABLE,
    )


class SINEW_PG_respond(bpy.types.PropertyGroup):
    """The library that a character has its deeds from, and where its take begins."""

    file: Text(
        name="Library",
        description="The file with the library of motion; // at its beginning is the folder of the .blend",
        subtype="FILE_PATH",
        options={"PATH_SUPPORTS_BLEND_RELATIVE"},
        override=_EDITABLE,
    )
    markers: Text(
        name="Markers",
        description="Which markers of the timeline stand for cues",
        options={"HIDDEN"},
        override=_EDITABLE,
    )
    frame_start: IntProperty(
        name="First Frame",
        description="Where the take begins; the character starts where it stands then",
        default=1,
        min=-1048574,
        max=1048574,
        **_COMMON,
    )
    seed: IntProperty(
        name="Seed", description="The same seed trains the same; another one gives another try", min=0, **_COMMON
    )
    bake_seed: IntProperty(
        name="Seed", description="The same seed bakes the same; another one gives another take", min=0, **_COMMON
    )


_CLASSES = (SINEW_PG_cue, SINEW_PG_respond)


def register() -> None:
    """Give every object its cues."""
    for cls in _CLASSES:
        bpy.utils.register_class(cls)
    kind = bpy.types.Object
    kind.sinew_cues = CollectionProperty(
        type=SINEW_PG_cue,
        name="Cues",
        description="What the character is asked for, and when",
        override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"},
    )
    kind.sinew_cue_index = IntProperty(
        name="Active Cue",
        description="The cue that is chosen in the list",
        min=0,
        update=redraw_viewports,
        **_COMMON,
    )
    kind.sinew_respond = PointerProperty(
        type=SINEW_PG_respond, name="Respond", description="What the character responds with", override=_EDITABLE
    )


def unregister() -> None:
    """Take it away; what files hold of it stays in them."""
    for name in reversed(_ON_OBJECTS):
        delattr(bpy.types.Object, name)
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
