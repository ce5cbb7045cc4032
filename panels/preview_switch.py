# SPDX-License-Identifier: GPL-3.0-or-later
"""What panels draw while a policy is trained: whether its motion by now is seen in the viewport."""

import bpy


def draw_preview_switch(layout: bpy.types.UILayout, scene: bpy.types.Scene) -> None:
    """Whether it is seen in the viewport what the policy does by now."""
    own = scene.sinew_overlay
    layout.row(heading="Show").prop(own, "rehearsal", text="In Viewport")
    if own.rehearsal and not own.show:
        layout.prop(own, "show", text="The overlay is off", icon="HIDE_ON", toggle=True)
