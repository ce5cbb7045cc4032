# SPDX-License-Identifier: GPL-3.0-or-later
"""Property groups made of settings' fields, and their values read back.

A new method's settings become properties without a line written for them.
"""

import dataclasses
import zlib
from collections.abc import Iterable
from typing import Any

import bpy
import numpy as np
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty

from ...core.settings import Settings

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
    return property_group(name, kind.__doc__, {field.name: property_of(field) for field in dataclasses.fields(kind)})


def property_group(name: str, doc: str | None, properties: dict[str, Any]) -> type[bpy.types.PropertyGroup]:
    """A property group called ``name`` with these properties."""
    return type(name, (bpy.types.PropertyGroup,), {"__annotations__": properties, "__doc__": doc})


def plain_values(group: bpy.types.PropertyGroup, kind: type[Settings]) -> dict[str, Any]:
    """What a group made by ``settings_group`` holds."""
    return {field.name: shortest_decimal(getattr(group, field.name)) for field in dataclasses.fields(kind)}


def shortest_decimal(value: Any) -> Any:
    """A property's value without what single precision adds to it: 0.1, not 0.10000000149."""
    return float(str(np.float32(value))) if isinstance(value, float) else value
