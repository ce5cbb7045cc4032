# SPDX-License-Identifier: GPL-3.0-or-later
"""What happens to the character meanwhile: what stands around it and pushes it, and what is done to it live."""

from collections import Counter

import bpy

from ..bridge.stage.properties import ICONS, LABELS
from ..bridge.stage.views import stage_items
from .drawing import SidebarPanel, paragraph

_ROLES = {icon: LABELS[role] for role, icon in ICONS.items()}


class SINEW_PT_happens(SidebarPanel, bpy.types.Panel):
    """The stage, and what is done live."""

    bl_idname = "SINEW_PT_happens"
    bl_label = "What Happens"

    def draw(self, context: bpy.types.Context) -> None:
        """Draw in one line what is around the character."""
        paragraph(self.layout, context, stage_text(context.scene), icon="BLANK1")


def stage_text(scene: bpy.types.Scene) -> str:
    """What is on the stage: 'Flat ground, Push: 1, Obstacle: 3'."""
    found = [item for item in stage_items(scene) if item.shows]
    counts = Counter(_ROLES[item.icon] for item in found)
    ground = [] if LABELS["TERRAIN"] in counts else ["Flat ground" if scene.sinew.stage.ground else "No ground"]
    return ", ".join([*ground, *(f"{label}: {count}" for label, count in counts.items())])
