# SPDX-License-Identifier: GPL-3.0-or-later
"""A panel for every family of methods that has none of its own: what its methods declare, in the order of work."""

import os

import bpy

from ..bridge.jobs.scene_request import settings_group_of
from ..bridge.methods.adapters import get_adapter
from ..bridge.methods.declared import Family, Product, Source, families
from ..bridge.methods.properties import OWN
from .advanced import draw_rare
from .drawing import chosen_character, paragraph
from .library import draw_library_offer
from .method_sections import (
    draw_bake_button,
    draw_learn_button,
    draw_learn_settings,
    draw_learned,
    draw_problem,
    draw_settings,
)
from .what import WhatPanel

EXAMPLES = "SINEW_EXAMPLES"
"""Set in the environment, it shows the panels of examples too."""


class FamilyPanel(WhatPanel):
    """Learn, see what was learned, and bake from it."""

    bl_options = {"HIDE_HEADER"}
    whats = ("ITSELF",)
    family: Family

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Examples are for developers."""
        return super().poll(context) and (not cls.family.is_example or bool(os.environ.get(EXAMPLES)))


def _draw_family(layout: bpy.types.UILayout, context: bpy.types.Context, family: Family) -> None:
    """Draw what is learned from, learning, what was learned, and baking."""
    obj = chosen_character(layout, context)
    if obj is None:
        return
    adapter = get_adapter(family.name)
    own = adapter.group(obj)
    if family.learn is not None and family.learn.takes in (Source.CLIPS, Source.LIBRARY):
        layout.prop(own, "actions", placeholder="All")
    library = getattr(adapter, "library", None)
    if library is not None and library.path_of(obj) is None:
        draw_library_offer(layout, context, library, obj)
    else:
        draw_learn_settings(layout, context, adapter, obj, "Learning", f"SINEW_PT_{family.name}_settings")
        draw_learn_button(layout, context, adapter, obj)
    draw_problem(layout, context, adapter, obj)
    if draw_learned(layout, context, adapter, obj) and family.method(Product.TAKE) is not None:
        layout.separator()
        _draw_tasks(layout, context, family.name)
        draw_settings(layout, context, adapter, Product.TAKE)
        for place in adapter.drawn_places(obj):
            layout.prop(own, place)
        layout.prop(own, "frame_start")
        draw_rare(layout, context.scene, own, ("bake_seed",))
        draw_bake_button(layout, context, adapter)


def _draw_tasks(layout: bpy.types.UILayout, context: bpy.types.Context, family: str) -> None:
    """Tasks that what was learned can learn, in a closed sub-panel; nothing for a family without any."""
    name, settings_drawn = f"{family}_task", getattr(get_adapter(family), "task_settings", ())
    if not settings_drawn:
        return
    header, body = layout.panel(f"SINEW_PT_{name}", default_closed=True)
    header.label(text="Learn a Task")
    if body is not None:
        settings = settings_group_of(context.scene, name)
        for one in settings_drawn:
            body.prop(settings, one)
        if advice := get_adapter(family).task_advice(context.scene):
            paragraph(body, context, advice, icon="INFO")
        body.operator(f"sinew.{name}", icon="PLAY")


def _panel(family: Family) -> type[bpy.types.Panel]:
    name = f"SINEW_PT_{family.name}"
    words = {"bl_idname": name, "bl_label": family.label, "__doc__": f"{family.label}.", "family": family}

    def draw(self: FamilyPanel, context: bpy.types.Context) -> None:
        _draw_family(self.layout, context, family)

    return type(name, (FamilyPanel, bpy.types.Panel), {**words, "draw": draw, "__module__": __name__})


CLASSES = tuple(_panel(family) for family in families() if family.name not in OWN)
