# SPDX-License-Identifier: GPL-3.0-or-later
"""What the character does: one of six things, and then that one alone."""

import bpy

from ..bridge.properties import WHATS
from ..bridge.scene.chosen_armature import why_no_armature
from ..bridge.setup.help_pages import PAGES
from .drawing import SidebarPanel, paragraph

_MEANINGS = {identifier: meaning for identifier, _, meaning, *_ in WHATS}


class SINEW_PT_what(SidebarPanel, bpy.types.Panel):
    """Choose what the character does; below stands what that takes."""

    bl_idname = "SINEW_PT_what"
    bl_label = "What"

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the choice in words, or who is missing for it."""
        layout, scene = self.layout, context.scene
        if reason := why_no_armature(scene):
            paragraph(layout, context, reason, icon="INFO")
            return
        grid = layout.grid_flow(row_major=True, columns=2, even_columns=True, align=True)
        for identifier in _MEANINGS:
            grid.prop_enum(scene.sinew, "what", identifier)
        row = layout.row()
        paragraph(row, context, _MEANINGS[scene.sinew.what], icon="BLANK1")
        row.operator("sinew.open_help", text="", icon="HELP", emboss=False).page = PAGES[scene.sinew.what]


class WhatPanel(SidebarPanel):
    """A panel below that choice, which is there while one of its own is chosen and somebody is there to do it."""

    bl_parent_id = "SINEW_PT_what"
    whats: tuple[str, ...] = ()

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """It must be chosen, by somebody."""
        return context.scene.sinew.what in cls.whats and not why_no_armature(context.scene)
