# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that a .blend holds of Sinew, as plain values."""

import hashlib
import json

import bpy

PROPERTIES = {
    "scenes": ("sinew", "sinew_overlay", "sinew_takes_view"),
    "objects": (
        "sinew",
        "sinew_body",
        "sinew_bounds",
        "sinew_bound_parts",
        "sinew_bound_part_index",
        "sinew_skills",
        "sinew_skill_index",
        "sinew_transitions",
        "sinew_transition_index",
        "sinew_graph",
        "sinew_takes",
        "sinew_take_index",
        "sinew_mark",
        "sinew_override",
    ),
}


def all_values():
    """By kind of data-block, name and property: numbers, texts, lists of rows; a data-block is its name."""
    return {
        kind: {owner.name: {name: value_of(owner, name) for name in names} for owner in getattr(bpy.data, kind)}
        for kind, names in PROPERTIES.items()
    }


def value_of(owner, name):
    """A property's value without anything of Blender's."""
    value, prop = getattr(owner, name), owner.bl_rna.properties[name]
    if prop.type == "COLLECTION":
        return [_values_of(row) for row in value]
    if prop.type == "POINTER":
        if isinstance(value, bpy.types.PropertyGroup):
            return _values_of(value)
        return value.name if value is not None else None
    return list(value) if getattr(prop, "is_array", False) else value


def _values_of(group):
    names = [prop.identifier for prop in group.bl_rna.properties if prop.identifier != "rna_type"]
    return {name: value_of(group, name) for name in names}


def curve_values(action, begins=""):
    """(data path, index) -> keys [frame, value] of an Action, of those whose data path begins so."""
    bags = [bag for layer in action.layers for strip in layer.strips for bag in strip.channelbags]
    return {
        (curve.data_path, curve.array_index): [list(key.co) for key in curve.keyframe_points]
        for bag in bags
        for curve in bag.fcurves
        if curve.data_path.startswith(begins)
    }


def curves_sha256(action, begins=""):
    """Of all keys of an Action, or of those whose data path begins so."""
    rows = [[*which, keys] for which, keys in curve_values(action, begins).items()]
    return hashlib.sha256(json.dumps(sorted(rows)).encode()).hexdigest()
