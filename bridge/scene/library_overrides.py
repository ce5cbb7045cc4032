# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator sets on a library override stays set.

Blender 5.0 loses on loading what an override has changed in a group of properties of which the linked character itself
has nothing set. So each override keeps a second copy of that as a text of its own, written when the file is saved and
taken up when it is opened. Blender 4.5 has then nothing to take up.
"""

import json
from contextlib import suppress
from typing import Any

import bpy
from bpy.app.handlers import persistent

from ...core.files import parse_json

_GROUPS = ("sinew", "sinew_body", "sinew_bounds", "sinew_graph")
_KEPT = "sinew_override"
_WHERE = {"Action": "actions", "Object": "objects"}  # collections of bpy.data that pointers of the groups lead to

Plain = dict[str, Any]


def store_overrides() -> None:
    """Let every override of the file have the copy of what it changes."""
    for obj in _overrides():
        said = {name: _changed(getattr(obj, name), getattr(obj.override_library.reference, name)) for name in _GROUPS}
        said = {name: values for name, values in said.items() if values}
        text = json.dumps(said, sort_keys=True) if said else ""
        if getattr(obj, _KEPT) != text:
            setattr(obj, _KEPT, text)


def restore_overrides() -> None:
    """Let every override of the file have again what its copy says."""
    for obj in _overrides():
        try:
            said = parse_json(getattr(obj, _KEPT) or "{}")
        except ValueError:
            continue  # not ours; what Blender itself has kept holds
        for name in _GROUPS:
            _restore(getattr(obj, name), said.get(name) if isinstance(said, dict) else None)


def _overrides() -> list[bpy.types.Object]:
    return [
        obj
        for obj in bpy.data.objects
        if obj.library is None and obj.override_library is not None and obj.override_library.reference is not None
    ]


def _changed(own: bpy.types.PropertyGroup, linked: bpy.types.PropertyGroup) -> Plain:
    """By name the plain values that are other than those of the linked character."""
    ours, theirs = _plain(own), _plain(linked)
    return {name: value for name, value in ours.items() if value != theirs[name]}


def _plain(group: bpy.types.PropertyGroup) -> Plain:
    found: Plain = {}
    for prop in group.bl_rna.properties:
        if prop.identifier == "rna_type" or (prop.is_readonly and prop.type != "COLLECTION"):
            continue
        value = getattr(group, prop.identifier)
        if prop.type == "COLLECTION":
            value = [_plain(row) for row in value]
        elif prop.type == "POINTER":
            value = value.name if value is not None else ""
        elif getattr(prop, "is_array", False):
            value = list(value)
        found[prop.identifier] = value
    return found


def _restore(group: bpy.types.PropertyGroup, values: Plain | None) -> None:
    now = _plain(group)
    for name, value in values.items() if isinstance(values, dict) else ():
        if name not in now or now[name] == value:
            continue  # of another version of Sinew, or as it is to be
        prop = group.bl_rna.properties[name]
        if prop.type == "COLLECTION":
            _restore_rows(getattr(group, name), value)
            continue
        # A choice that this version does not have is left alone, and so is a value that is none.
        with suppress(TypeError, ValueError, OverflowError, AttributeError):
            setattr(group, name, _pointed_at(prop, value) if prop.type == "POINTER" else value)


def _pointed_at(prop: bpy.types.PointerProperty, name: str) -> bpy.types.ID | None:
    where = _WHERE.get(prop.fixed_type.identifier)
    return getattr(bpy.data, where).get(name) if where and isinstance(name, str) else None


def _restore_rows(rows: bpy.types.bpy_prop_collection, values: list[Plain]) -> None:
    """Rows are told apart by their names. The linked character's own can be changed, but neither moved nor removed."""
    for row in values if isinstance(values, list) else ():
        if not isinstance(row, dict) or not isinstance(row.get("name"), str):
            continue
        index = rows.find(row["name"])
        _restore(rows[index] if index >= 0 else rows.add(), row)


@persistent
def _on_save(_path: str) -> None:
    store_overrides()


@persistent
def _on_load(_path: str) -> None:
    restore_overrides()


def register() -> None:
    """Give every object room for the copy, and look after it when files are saved and opened."""
    bpy.types.Object.sinew_override = bpy.props.StringProperty(
        name="Override",
        description="What a library override changes of the linked character, as JSON",
        options={"HIDDEN"},
        override={"LIBRARY_OVERRIDABLE"},
    )
    bpy.app.handlers.save_pre.append(_on_save)
    bpy.app.handlers.load_post.append(_on_load)


def unregister() -> None:
    """Take it away; what files hold of it stays in them."""
    bpy.app.handlers.load_post.remove(_on_load)
    bpy.app.handlers.save_pre.remove(_on_save)
    del bpy.types.Object.sinew_override
