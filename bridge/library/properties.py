# SPDX-License-Identifier: GPL-3.0-or-later
"""What a library is to be made of, kept on the armature: ``object.sinew_library``."""

import bpy
from bpy.props import BoolProperty, IntProperty, PointerProperty
from bpy.props import StringProperty as Text

from ...core.errors import RigError
from ..methods.job_inputs import chosen_actions

_EDITABLE = {"LIBRARY_OVERRIDABLE"}


class SINEW_PG_library(bpy.types.PropertyGroup):
    """Which Actions are in the library, and whether they are there mirrored, too."""

    actions: Text(
        name="Actions",
        description="Names of the Actions to take, separated by commas; * stands for any letters. Empty for all",
        options=set(),
        override=_EDITABLE,
    )
    action_index: IntProperty(
        name="Action", description="The line of the list that is chosen", options=set(), override=_EDITABLE
    )
    mirror: BoolProperty(
        name="Mirrored Copies",
        description="Have every clip once more, left for right: twice the motion, and turns to both sides",
        default=True,
        options=set(),
        override=_EDITABLE,
    )


def picked_actions(obj: bpy.types.Object) -> list[str]:
    """The names of the Actions that are to be in the library; refuses where there are none."""
    names = [name for name in chosen_actions(obj, words_of(obj)) if bpy.data.actions[name].sinew_in_library]
    if not names:
        raise RigError(
            f"No Action of '{obj.name}' is picked for the library", "Pick some in the list of the panel Library"
        )
    return names


def words_of(obj: bpy.types.Object) -> tuple[str, ...]:
    """The names and patterns that are asked for, none for all."""
    return tuple(word.strip() for word in obj.sinew_library.actions.split(",") if word.strip())


def register() -> None:
    """Give every object what its library needs."""
    bpy.utils.register_class(SINEW_PG_library)
    bpy.types.Object.sinew_library = PointerProperty(
        type=SINEW_PG_library, name="Library", description="What the character's library is made of", override=_EDITABLE
    )
    bpy.types.Action.sinew_in_library = BoolProperty(
        name="In Library", description="Whether the library has this Action", default=True, options=set()
    )


def unregister() -> None:
    """Take it away; what files hold of it stays in them."""
    del bpy.types.Action.sinew_in_library
    del bpy.types.Object.sinew_library
    bpy.utils.unregister_class(SINEW_PG_library)
