# SPDX-License-Identifier: GPL-3.0-or-later
"""What the character's body is like, and what its bones are where names and shape mislead."""

import bpy

from .drawing import SidebarPanel
from .presets import SINEW_PT_body_presets, SINEW_PT_gains_presets


class SINEW_UL_bone_overrides(bpy.types.UIList):
    """Bones, and what they are told to be."""

    bl_idname = "SINEW_UL_bone_overrides"

    def draw_item(
        self,
        context: bpy.types.Context,
        layout: bpy.types.UILayout,
        data: bpy.types.PropertyGroup,
        item: bpy.types.PropertyGroup,
        icon: int,
        active_data: bpy.types.PropertyGroup,
        active_property: str,
        index: int = 0,
    ) -> None:
        """Draw one line: the bone and its role; a bone that is not there is red."""
        armature = data.id_data.data
        split = layout.split(factor=0.55, align=True)
        found = item.name in armature.bones
        split.alert = not found
        split.prop_search(item, "name", armature, "bones", text="", icon="BONE_DATA" if found else "ERROR")
        split.prop(item, "role", text="")


class SINEW_PT_body(SidebarPanel, bpy.types.Panel):
    """Build, muscles and mass of the chosen character."""

    bl_idname = "SINEW_PT_body"
    bl_parent_id = "SINEW_PT_character"
    bl_label = "Body"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """There must be a character."""
        return context.scene.sinew.armature is not None

    def draw_header_preset(self, context: bpy.types.Context) -> None:
        """Offer the presets."""
        SINEW_PT_body_presets.draw_panel_header(self.layout)

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the body and the list of bones."""
        layout, body = self.layout, context.scene.sinew.armature.sinew_body
        layout.use_property_split = True
        layout.use_property_decorate = False
        if body.given:
            row = layout.row(align=True)
            row.label(text="Given by its model", icon="CHECKMARK")
            row.operator("sinew.forget_given_body", text="", icon="X")
        else:
            layout.prop(body, "preset")
        muscles = layout.row(align=True)
        muscles.prop(body, "gains")
        SINEW_PT_gains_presets.draw_panel_header(muscles)
        layout.prop(body, "mass_kg")
        if not body.given:
            layout.prop(body, "use_mesh")
        layout.label(text="Bone Roles")
        row = layout.row()
        row.template_list(
            "SINEW_UL_bone_overrides", "", body, "overrides", body, "override_index", rows=3 if body.overrides else 2
        )
        buttons = row.column(align=True)
        buttons.operator("sinew.body_override_add", text="", icon="ADD")
        buttons.operator("sinew.body_override_remove", text="", icon="REMOVE")
