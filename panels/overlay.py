# SPDX-License-Identifier: GPL-3.0-or-later
"""What is shown over the scene."""

import bpy

from ..bridge.body import fitted_bodies
from ..bridge.overlay import draw_handler
from .drawing import SidebarPanel, message_box, paragraph, write_line


class SINEW_PT_overlay(SidebarPanel, bpy.types.Panel):
    """Bodies, balance, contacts, pushes and ghosts in the viewport."""

    bl_idname = "SINEW_PT_overlay"
    bl_parent_id = "SINEW_PT_character"
    bl_label = "Overlay"
    bl_options = {"DEFAULT_CLOSED"}

    def draw_header(self, context: bpy.types.Context) -> None:
        """Offer the switch of all of it."""
        self.layout.prop(context.scene.sinew_overlay, "show", text="")

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the switches, and what is wrong."""
        layout, own = self.layout, context.scene.sinew_overlay
        layout.use_property_split = True
        layout.use_property_decorate = False
        _draw_state(layout, context)
        layout.prop(own, "body")
        if own.body:
            layout.prop(own, "tint")
            layout.prop(own, "opacity")
        for name in ("joint", "handles", "balance", "contacts", "pushes", "bounds", "cues", "rehearsal", "ghost"):
            layout.prop(own, name)
        if own.ghost or own.rehearsal:
            layout.prop(own, "ghost_distance")
        layout.prop(own, "in_front")
        layout.operator("sinew.overlay_refit", icon="FILE_REFRESH")


def _draw_state(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Say why nothing is to be seen, if so."""
    own, obj = context.scene.sinew_overlay, context.scene.sinew.armature
    if draw_handler.draw_error():
        message_box(
            layout, context, f"Drawing failed: {draw_handler.draw_error()}", "Press Fit Again to retry", is_error=True
        )
    if not own.show:
        paragraph(layout, context, "Off: tick Overlay to see what is chosen here", icon="HIDE_ON")
    elif obj is None:
        paragraph(layout, context, "Choose an armature to see its body", icon="INFO")
    else:
        _draw_fitted(layout, context, obj)


def _draw_fitted(layout: bpy.types.UILayout, context: bpy.types.Context, obj: bpy.types.Object) -> None:
    """Say how far fitting is, or what came of it."""
    fitted = fitted_bodies.known_fit(obj)
    if fitted is None or (fitted.body is None and fitted.problem is None):
        paragraph(layout, context, "Fitting the body", icon="SORTTIME")
    elif fitted.problem is not None:
        message_box(layout, context, fitted.problem.message, fitted.problem.hint, is_error=True)
    elif fitted.body is not None:
        mass, count = fitted.body.mass, len(fitted.body.links)
        write_line(layout, f"{count} parts, {mass:.1f} kg", icon="OUTLINER_OB_ARMATURE")
