# SPDX-License-Identifier: GPL-3.0-or-later
"""What is on the stage, and what that is made of."""

import bpy

from ..bridge.scene.report_lines import fit_line
from ..bridge.stage.properties import ICONS, LABELS
from ..bridge.stage.views import StageItem, gravity_text, pushes_off_stage, stage_items
from .drawing import SidebarPanel, paragraph, write_line
from .presets import SINEW_PT_push_presets
from .searching import draw_search, filter_sought

_MARKS = ("OBSTACLE", "TERRAIN", "PROP", "PROJECTILE", "CHARACTER")
_FIELDS = {
    "TERRAIN": ("friction",),
    "OBSTACLE": ("friction",),
    "PROP": ("mass", "friction", "shape"),
    "PROJECTILE": ("intent", "mass", "speed", "start_frame", "friction", "shape"),
    "PUSH": ("intent", "force", "duration", "start_frame"),
    "CHARACTER": (),
}

_STRENGTHS = {"PROJECTILE": "mass", "PUSH": "force"}  # what is found where there is an intent


class SINEW_PT_stage(SidebarPanel, bpy.types.Panel):
    """Ground, obstacles, props, projectiles and pushes."""

    bl_idname = "SINEW_PT_stage"
    bl_parent_id = "SINEW_PT_happens"
    bl_label = "Stage"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the ground, the list, the active object's values and what can be added."""
        layout, scene = self.layout, context.scene
        found, off = stage_items(scene), pushes_off_stage(scene)
        _draw_ground(layout, scene, found)
        if found or off:
            box = layout.box()
            draw_search(box, scene, len(found))
            for item in filter_sought(scene, found, lambda item: f"{item.name} {item.text}"):
                _draw_item(box, context, item)
            for name in off:
                _draw_off(box, name)
        active = context.active_object
        if active is not None and active.sinew.role != "NONE":
            _draw_active(layout, scene, active)
        _draw_buttons(layout)


def _draw_ground(layout: bpy.types.UILayout, scene: bpy.types.Scene, found: list[StageItem]) -> None:
    own = scene.sinew.stage
    column = layout.column()
    if any(item.icon == ICONS["TERRAIN"] and item.shows for item in found):
        column.label(text="Terrain instead of the ground", icon=ICONS["TERRAIN"])
    else:
        row = column.row(align=True)
        row.prop(own, "ground")
        if own.ground:
            row.prop(own, "friction", text="Friction")
    column.prop(scene, "use_gravity", text=fit_line(gravity_text(scene)))
    column.prop(own, "self_collision")


def _draw_item(box: bpy.types.UILayout, context: bpy.types.Context, item: StageItem) -> None:
    wrong = item.problem is not None and item.shows
    row = box.row(align=True)
    split = row.split(factor=0.5)
    name = split.row()
    name.alignment = "LEFT"
    icon = "ERROR" if wrong else item.icon
    name.operator("sinew.stage_select", text=fit_line(item.name), icon=icon, emboss=False).name = item.name
    write_line(split, item.text if item.shows else "hidden")
    row.operator("sinew.stage_clear", text="", icon="X", emboss=False).name = item.name
    if wrong:
        paragraph(box, context, str(item.problem), icon="BLANK1", alert=True)


def _draw_off(box: bpy.types.UILayout, name: str) -> None:
    """A push that was taken off the stage: its arrow is still there."""
    row = box.row(align=True)
    split = row.split(factor=0.5)
    split.active = False
    write_line(split, name, icon=ICONS["PUSH"])
    split.label(text="off the stage")
    row.operator("sinew.stage_restore", text="", icon="LOOP_BACK", emboss=False).name = name


def _draw_active(layout: bpy.types.UILayout, scene: bpy.types.Scene, obj: bpy.types.Object) -> None:
    part = obj.sinew
    box = layout.box()
    title = box.row()
    write_line(title, f"{LABELS[part.role]}: {obj.name}", icon=ICONS[part.role])
    if part.role == "PUSH":
        SINEW_PT_push_presets.draw_panel_header(title)
    column = box.column()
    column.use_property_split = True
    column.use_property_decorate = part.role == "PUSH"  # the dots that set keys
    if part.role == "PROJECTILE":
        column.prop(part, "aim")
    if part.role == "PUSH" or (part.role == "PROJECTILE" and part.aim == "TARGET"):
        column.prop(part, "armature")
        armature = part.armature or scene.sinew.armature
        if armature is not None:
            text = "Bone" if part.role == "PUSH" else "Target Bone"
            column.prop_search(part, "bone", armature.data, "bones", text=fit_line(text))
    for name in _FIELDS[part.role]:
        row = column.row()
        row.active = part.intent == "FORCE" or name != _STRENGTHS.get(part.role)
        row.prop(part, name)


def _draw_buttons(layout: bpy.types.UILayout) -> None:
    column = layout.column(align=True)
    column.label(text="Put the selected objects on the stage as:")
    grid = column.grid_flow(row_major=True, columns=2, even_columns=True, align=True)
    for role in _MARKS:
        grid.operator("sinew.stage_mark", text=fit_line(LABELS[role]), icon=ICONS[role]).role = role
    grid.operator("sinew.stage_clear", text="Nothing", icon="X").name = ""
    layout.operator("sinew.stage_add_push", icon=ICONS["PUSH"])
    layout.operator("sinew.stage_check", icon="VIEWZOOM")
