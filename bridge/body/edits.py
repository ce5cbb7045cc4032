# SPDX-License-Identifier: GPL-3.0-or-later
"""What a line of ``object.sinew_body.overrides`` says of a bone's part, read and written."""

from collections.abc import Sequence

import bpy
import numpy as np

from ...core.body.edits import main_shape, size_for_kind
from ...core.body.model import Link
from ...core.body.part_edit import PartEdit

AUTO = "auto"
"""The role of a bone that is whatever Sinew finds."""


def override_row(obj: bpy.types.Object, bone: str) -> bpy.types.PropertyGroup | None:
    """The bone's line, None if nothing is said of it."""
    index = obj.sinew_body.overrides.find(bone)
    return obj.sinew_body.overrides[index] if index >= 0 else None


def read_edit(row: bpy.types.PropertyGroup) -> PartEdit:
    """What is ticked in a line. Cheap enough for every redraw."""
    if not (row.use_shape or row.use_offset or row.use_mass or row.use_limits or row.use_stiffness):
        return _NOTHING
    return PartEdit(
        shape=row.shape if row.use_shape else None,
        size_m=_size(row) if row.use_shape else (),
        offset_m=_plain(row.offset) if row.use_offset else (0.0, 0.0, 0.0),
        mass_kg=_plain([row.mass_kg])[0] if row.use_mass else None,
        limits_rad=_limits(row) if row.use_limits else (),
        stiffness=_plain([row.stiffness])[0] if row.use_stiffness else 1.0,
    )


def show_fitted_values(row: bpy.types.PropertyGroup, link: Link) -> None:
    """Let a line show what was fitted to a link; what is ticked stays as it is."""
    shape = main_shape(link)
    if not row.use_shape:
        row.shape = shape.kind
        row.radius, row.length = size_for_kind(shape, "capsule")
        row.edges = size_for_kind(shape, "box")
    if not row.use_mass:
        row.mass_kg = link.mass
    if not row.use_limits:
        row.is_hinge = link.joint.kind == "hinge"
        row.lower, row.upper, row.reach = link.joint.lower, link.joint.upper, link.joint.max_angle


def write_edit(row: bpy.types.PropertyGroup, edit: PartEdit) -> None:
    """Tick and set in a line what the edit says, and nothing else."""
    row.use_shape = edit.shape is not None
    if edit.shape is not None:
        row.shape = edit.shape
        if edit.shape == "box" and edit.size_m:
            row.edges = edit.size_m
        elif edit.size_m:
            row.radius = edit.size_m[0]
            row.length = (*edit.size_m, row.length)[1]
    row.use_offset = any(edit.offset_m)
    row.offset = edit.offset_m
    row.use_mass = edit.mass_kg is not None
    if edit.mass_kg is not None:
        row.mass_kg = edit.mass_kg
    row.use_limits = bool(edit.limits_rad)
    if edit.limits_rad:
        row.is_hinge = len(edit.limits_rad) == 2
        if row.is_hinge:
            row.lower, row.upper = edit.limits_rad
        else:
            row.reach = edit.limits_rad[0]
    row.use_stiffness = edit.stiffness != 1.0
    row.stiffness = edit.stiffness


_NOTHING = PartEdit()


def _size(row: bpy.types.PropertyGroup) -> tuple[float, ...]:
    if row.shape == "box":
        return _plain(row.edges)
    return _plain([row.radius, row.length] if row.shape == "capsule" else [row.radius])


def _limits(row: bpy.types.PropertyGroup) -> tuple[float, ...]:
    """As far as the line's two angles can be limits at all: the interface lets them cross while one is dragged."""
    if not row.is_hinge:
        return _plain([row.reach])
    low, high = _plain([row.lower, row.upper])
    return (low, high) if low < high else (low, low + float(np.radians(1.0)))


def _plain(values: Sequence[float]) -> tuple[float, ...]:
    """Without what single precision adds to them: 0.1, not 0.10000000149."""
    return tuple(float(str(np.float32(value))) for value in values)
