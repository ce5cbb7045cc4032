# SPDX-License-Identifier: GPL-3.0-or-later
"""Who moves, and how."""

import bpy

from ..bridge.scene.chosen_armature import why_linked
from ..bridge.scene.report_lines import fit_line
from .drawing import SidebarPanel, message_box, paragraph


class SINEW_PT_character(SidebarPanel, bpy.types.Panel):
    """Choose the armature and the Action to simulate."""

    bl_idname = "SINEW_PT_character"
    bl_label = "Who"

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the choice, and offer what is selected."""
        layout, chosen = self.layout, context.scene.sinew
        layout.use_property_split = True
        layout.use_property_decorate = False
        active = context.active_object
        if chosen.armature is None:
            if active is not None and active.type == "ARMATURE":
                layout.operator("sinew.pick_selected", text=fit_line(f"Use '{active.name}'"), icon="ARMATURE_DATA")
            else:
                paragraph(layout, context, "Select an armature, or choose one here", icon="INFO")
        row = layout.row(align=True)
        row.prop(chosen, "armature", icon="ARMATURE_DATA")
        if chosen.armature is not None:
            row.operator("sinew.pick_selected", text="", icon="RESTRICT_SELECT_OFF")
        layout.prop(chosen, "action", placeholder=fit_line(_what_moves(chosen.armature)))
        models = layout.row(align=True)
        models.operator("sinew.import_model", icon="IMPORT")
        if active is not None and active.type == "ARMATURE" and chosen.armature not in (None, active):
            models.operator("sinew.put_on_selected", text=fit_line(f"Put on '{active.name}'"), icon="ARMATURE_DATA")
        if chosen.armature is not None and (reason := why_linked(chosen.armature)):
            message_box(layout, context, reason, "Else the result can only go to a baked copy", is_error=False)


def _what_moves(armature: bpy.types.Object | None) -> str:
    """What is read when no Action is chosen."""
    data = armature.animation_data if armature is not None else None
    if data is None:
        return ""
    if data.action is not None:
        return data.action.name
    return "NLA" if any(track.strips for track in data.nla_tracks) else ""
