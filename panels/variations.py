# SPDX-License-Identifier: GPL-3.0-or-later
"""How many takes to choose from, and how they differ."""

import bpy

from ..bridge.jobs.scene_request import uses_engine, why_no_variations
from ..bridge.scene.report_lines import fit_line
from .drawing import paragraph
from .presets import SINEW_PT_disturbance_presets
from .what import WhatPanel

_MORE = ("throw", "mass", "friction", "gravity")


class SINEW_PT_variations(WhatPanel, bpy.types.Panel):
    """Simulate the Action several times over, each time a little different."""

    bl_idname = "SINEW_PT_variations"
    bl_label = "Variations"
    bl_options = {"DEFAULT_CLOSED"}
    whats = ("ACTION",)

    def draw_header_preset(self, context: bpy.types.Context) -> None:
        """Offer the presets."""
        SINEW_PT_disturbance_presets.draw_panel_header(self.layout)

    def draw(self, context: bpy.types.Context) -> None:
        """Draw how many, what pushes, what else varies, and the button."""
        layout, scene = self.layout, context.scene
        own = scene.sinew.variations
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.prop(own, "count")
        if uses_engine(scene):
            _draw_pushes(layout, scene)
            _draw_more(layout, own)
        else:
            paragraph(layout, context, why_no_variations(scene), icon="INFO")
        button = layout.column()
        button.scale_y = 1.3
        button.operator("sinew.simulate_variations", text=fit_line(f"Simulate {own.count} Variations"), icon="PLAY")


def _draw_pushes(layout: bpy.types.UILayout, scene: bpy.types.Scene) -> None:
    own = scene.sinew.variations
    column = layout.column(align=True)
    column.prop(own, "least_n")
    column.prop(own, "most_n", text="to (N)")
    if not (own.most_n > 0.0 or own.throw):
        layout.label(text="Nobody is pushed: give a force", icon="INFO")
        return
    when = layout.column()
    when.prop(own, "side")
    if scene.sinew.armature is not None:
        when.prop_search(own, "bone", scene.sinew.armature.data, "bones")
    when.prop(own, "duration_s")
    moments = when.column(align=True)
    moments.prop(own, "earliest", slider=True)
    moments.prop(own, "latest", slider=True)


def _draw_more(layout: bpy.types.UILayout, own: bpy.types.PropertyGroup) -> None:
    header, body = layout.panel("SINEW_PT_variations_more", default_closed=True)
    header.label(text="Also Vary")
    if body is None:
        return
    for name in _MORE:
        body.prop(own, name)
