# SPDX-License-Identifier: GPL-3.0-or-later
"""The active bone's part of the body: what was fitted, and what is to be otherwise."""

import bpy

from ..bridge.body import part_editing
from ..bridge.body.edits import override_row
from .drawing import SidebarPanel, paragraph, write_line

_SIZES = {"capsule": ("radius", "length"), "sphere": ("radius",), "box": ("edges",)}


class SINEW_PT_body_part(SidebarPanel, bpy.types.Panel):
    """Shape, size, mass, limits, stiffness and role of the active bone."""

    bl_idname = "SINEW_PT_body_part"
    bl_parent_id = "SINEW_PT_body"
    bl_label = "Active Bone"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        """Draw what was fitted, and the fields of what is edited."""
        layout, obj = self.layout, context.scene.sinew.armature
        reason = part_editing.why_no_part(context)
        if reason:
            paragraph(layout, context, reason, icon="INFO")
            return
        bone = part_editing.active_bone(context)
        view, row = part_editing.view_part(obj, bone), override_row(obj, bone)
        write_line(layout, bone, icon="BONE_DATA")
        if view is not None:
            _draw_fitted(layout, context, view)
        if row is not None:
            _draw_fields(layout, row, root=view is not None and view.hinge is None)
        _draw_buttons(layout, edited=row is not None)


def _draw_fitted(layout: bpy.types.UILayout, context: bpy.types.Context, view: part_editing.PartView) -> None:
    if not view.is_link:
        paragraph(layout, context, f"Moves with '{view.bone}'", icon="INFO")
        return
    column = layout.column(align=True)
    column.scale_y = 0.8
    for name, value in (("Fitted as", view.role.replace("_", " ")), *view.facts):
        split = column.split(factor=0.35)
        write_line(split, name)
        write_line(split, value)


def _draw_fields(layout: bpy.types.UILayout, row: bpy.types.PropertyGroup, *, root: bool) -> None:
    box = layout.box()
    box.use_property_split = True
    box.use_property_decorate = False
    box.prop(row, "role")
    _draw_ticked(box, row, "use_shape", ("shape", *_SIZES[row.shape]))
    _draw_ticked(box, row, "use_offset", ("offset",))
    _draw_ticked(box, row, "use_mass", ("mass_kg",))
    if root:  # nothing holds it, so there is nothing to limit
        return
    _draw_ticked(box, row, "use_limits", ("lower", "upper") if row.is_hinge else ("reach",))
    _draw_ticked(box, row, "use_stiffness", ("stiffness",))


def _draw_ticked(layout: bpy.types.UILayout, row: bpy.types.PropertyGroup, use: str, fields: tuple[str, ...]) -> None:
    """A tick box, and below it what it switches; as long as it is off, what was fitted stands above."""
    column = layout.column(align=True, heading=row.bl_rna.properties[use].name)
    column.prop(row, use, text="By Hand")
    if getattr(row, use):
        for name in fields:
            column.prop(row, name)


def _draw_buttons(layout: bpy.types.UILayout, *, edited: bool) -> None:
    column = layout.column(align=True)
    if not edited:
        column.operator("sinew.body_part_edit", icon="GREASEPENCIL")
    else:
        column.operator("sinew.body_part_mirror", icon="MOD_MIRROR")
        column.operator("sinew.body_part_reset", icon="LOOP_BACK")
    column.operator("sinew.body_reset", icon="TRASH")
