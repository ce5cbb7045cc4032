# SPDX-License-Identifier: GPL-3.0-or-later
"""What a .blend stores for Sinew's properties is what they can be, or it is taken out.

Blender 4.5 keeps the values of properties among the custom ones, where anything may stand under their names: a script,
another add-on, a newer Sinew or whoever made the file may have put it there. Most of it Blender reads as nothing, but a
list of texts in place of rows it takes for rows, and reads memory that is none; a choice that is none it reads as ''.
So files are looked through when they are opened, and when something fails that should not.
"""

import logging
import math
from collections.abc import Iterator
from typing import Any

import bpy
from bpy.app.handlers import persistent
from idprop.types import IDPropertyArray, IDPropertyGroup

from ...core.errors import SinewError, not_enough_memory

_OWNERS = ("scenes", "objects", "actions")
_PREFIX = "sinew"
_PLAIN: dict[str, tuple[type, ...]] = {
    "STRING": (str, bytes),
    "INT": (int,),
    "FLOAT": (float, int),
    "BOOLEAN": (bool, int),
    "ENUM": (int,),
}
_NEAR = 1e-5  # Blender's numbers are of single precision, and so are their limits

_log = logging.getLogger(__name__)


def remove_junk() -> int:
    """Take out what the open file stores for Sinew and cannot be; gives how many values that were."""
    found = list(_find_junk())
    for store, name in found:
        del store[name]
    return len(found)


def explain_junk(error: Exception) -> str:
    """What to say of an error in something that should not fail, '' for a bug of ours.

    A ``SinewError`` speaks for itself, and memory that is at its end is nobody's bug. Any other is the file's fault if
    it stores what cannot be, which is then taken out as soon as Blender lets us.
    """
    if isinstance(error, MemoryError):
        error = not_enough_memory()
    if isinstance(error, SinewError):
        return str(error)
    if next(_find_junk(), None) is None:
        return ""
    _log.warning("Something that the file stores is of no use: %s: %s", type(error).__name__, error)
    if not bpy.app.timers.is_registered(_remove_soon):
        bpy.app.timers.register(_remove_soon, first_interval=0.0)
    return "This file stores values that cannot be: they are set to their defaults"


def _remove_soon() -> None:
    remove_junk()


def _find_junk() -> Iterator[tuple[Any, str]]:
    """(where it is stored, its name) of every value that cannot be."""
    for kind in _OWNERS:
        for owner in getattr(bpy.data, kind):
            known = [prop for prop in owner.bl_rna.properties if prop.identifier.startswith(_PREFIX)]
            yield from _junk_in(_store_of(owner), known)


def _store_of(owner: bpy.types.ID) -> Any:
    """Where the values of properties are: among the custom ones, and from Blender 5.0 on in a place of their own."""
    return owner.bl_system_properties_get() if hasattr(owner, "bl_system_properties_get") else owner


def _junk_in(store: Any, known: Any) -> Iterator[tuple[Any, str]]:
    for prop in known:
        name = prop.identifier
        if store is None or name not in store:
            continue
        value = store[name]
        if not _can_be(prop, value):
            yield store, name
        elif prop.type == "POINTER" and isinstance(value, IDPropertyGroup):
            yield from _junk_in(value, prop.fixed_type.properties)
        elif prop.type == "COLLECTION":
            for row in value:
                yield from _junk_in(row, prop.fixed_type.properties)


def _can_be(prop: bpy.types.Property, value: Any) -> bool:
    if prop.type == "COLLECTION":
        return isinstance(value, list) and all(isinstance(row, IDPropertyGroup) for row in value)
    if prop.type == "POINTER":
        return value is None or isinstance(value, IDPropertyGroup | bpy.types.ID)
    if getattr(prop, "is_array", False):
        whole = isinstance(value, IDPropertyArray) and len(value) == prop.array_length
        return whole and all(_is_within(prop, one) for one in value)
    return isinstance(value, _PLAIN[prop.type]) and _is_within(prop, value)


def _is_within(prop: bpy.types.Property, value: Any) -> bool:
    """Whether a number is one that the property takes, and a choice one that it has."""
    if prop.type in ("INT", "FLOAT"):
        low, high = prop.hard_min, prop.hard_max
        return math.isfinite(value) and low - _NEAR * abs(low) <= value <= high + _NEAR * abs(high)
    if prop.type == "ENUM" and not prop.is_enum_flag:
        known = {item.value for item in prop.enum_items_static}
        return not known or value in known
    return True


@persistent
def _on_load(_path: str) -> None:
    if count := remove_junk():
        _log.warning("%d values that cannot be were set to their defaults", count)


def register() -> None:
    """Look through files when they are opened, before anything else of Sinew's does."""
    bpy.app.handlers.load_post.insert(0, _on_load)


def unregister() -> None:
    """Leave files as they are."""
    bpy.app.handlers.load_post.remove(_on_load)
    if bpy.app.timers.is_registered(_remove_soon):
        bpy.app.timers.unregister(_remove_soon)
