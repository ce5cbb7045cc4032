# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions become skills, skills link into a graph, and a graph bakes new motion: in the order of work."""

import bpy

from ..bridge.graph import views
from ..bridge.graph.figures import figures_of
from ..bridge.methods.adapter import FamilyAdapter
from ..bridge.methods.adapters import get_adapter
from ..bridge.methods.declared import Product
from .advanced import draw_rare
from .drawing import chosen_character, write_line
from .method_sections import (
    draw_bake_button,
    draw_learn_button,
    draw_learn_settings,
    draw_learned,
    draw_problem,
    draw_settings,
)
from .searching import list_flags
from .what import WhatPanel

_KINDS = {"AUTO": "AUTO", "CYCLE": "FILE_REFRESH", "ONCE": "FORWARD", "RISE": "SORT_DESC"}


class SINEW_UL_skills(bpy.types.UIList):
    """Skills: name, Action, kind."""

    bl_idname = "SINEW_UL_skills"

    def draw_item(
        self,
        context: bpy.types.Context,
        layout: bpy.types.UILayout,
        data: bpy.types.Object,
        item: bpy.types.PropertyGroup,
        icon: int,
        active_data: bpy.types.Object,
        active_property: str,
        index: int = 0,
    ) -> None:
        """Draw one line; a skill without its Action is red."""
        layout.use_property_split = False
        row = layout.split(factor=0.6, align=True)
        row.alert = item.action is None
        row.prop(item, "name", text="", icon="ERROR" if item.action is None else "ACTION", emboss=False)
        row.prop(item, "kind", text="")


class SINEW_UL_transitions(bpy.types.UIList):
    """Transitions: in use or not, from, to, how far apart."""

    bl_idname = "SINEW_UL_transitions"

    def draw_item(
        self,
        context: bpy.types.Context,
        layout: bpy.types.UILayout,
        data: bpy.types.Object,
        item: bpy.types.PropertyGroup,
        icon: int,
        active_data: bpy.types.Object,
        active_property: str,
        index: int = 0,
    ) -> None:
        """Draw one line; a transition of a skill that is not there is red."""
        layout.use_property_split = False
        row = layout.row(align=True)
        row.prop(item, "use", text="")
        text = row.row()
        text.alert = any(name not in data.sinew_skills for name in (item.source, item.target))
        write_line(text, views.transition_text(item))
        far = row.row()
        far.alignment = "RIGHT"
        if not item.use:
            far.label(text="left out")
        elif item.distance >= 0.0:
            write_line(far, f"{100.0 * item.distance:.0f} cm")

    def filter_items(
        self, context: bpy.types.Context, data: bpy.types.Object, name: str
    ) -> tuple[list[int], list[int]]:
        """Only those that say what is sought."""
        return list_flags(
            self.bitflag_filter_item, self.filter_name, (views.transition_text(row) for row in getattr(data, name))
        ), []


class SINEW_PT_skills(WhatPanel, bpy.types.Panel):
    """Teach the character skills that keep their balance, and bake new motion from them."""

    bl_idname = "SINEW_PT_skills"
    bl_label = "Skills"
    bl_options = {"HIDE_HEADER"}
    whats = ("SKILLS",)

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the skills, the transitions, learning, what was learned, and baking."""
        layout = self.layout
        obj = chosen_character(layout, context)
        if obj is None:
            return
        _draw_skills(layout, obj)
        _draw_transitions(layout, obj)
        adapter = get_adapter("graph")
        draw_learn_settings(
            layout, context, adapter, obj, "Learning", "SINEW_PT_learn_settings", more=[("known", "Nothing")]
        )
        draw_learn_button(layout, context, adapter, obj)
        draw_problem(layout, context, adapter, obj)
        if draw_learned(layout, context, adapter, obj, about=lambda box: _draw_figures(box, adapter, obj)):
            _draw_baking(layout, context, obj)


def _draw_skills(layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
    row = layout.row()
    row.template_list("SINEW_UL_skills", "", obj, "sinew_skills", obj, "sinew_skill_index", rows=3)
    buttons = row.column(align=True)
    buttons.operator("sinew.graph_skill_add", text="", icon="ADD")
    buttons.operator("sinew.graph_skill_remove", text="", icon="REMOVE")
    buttons.separator()
    buttons.operator("sinew.graph_skill_add_all", text="", icon="ACTION")
    if obj.sinew_skills:
        skill = obj.sinew_skills[min(obj.sinew_skill_index, len(obj.sinew_skills) - 1)]
        layout.prop(skill, "action")
        if skill.kind in ("AUTO", "CYCLE"):
            layout.prop(skill, "gait")
        if skill.looks and "AUTO" in (skill.kind, skill.gait):
            write_line(layout, f"Looks like a {skill.looks}", icon="INFO")


def _draw_transitions(layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
    if len(obj.sinew_skills) < 2 and not obj.sinew_transitions:
        return
    column = layout.column(align=True)
    column.operator("sinew.graph_propose", icon="AUTOMERGE_ON")
    row = layout.row()
    row.template_list("SINEW_UL_transitions", "", obj, "sinew_transitions", obj, "sinew_transition_index", rows=3)
    buttons = row.column(align=True)
    buttons.operator("sinew.graph_transition_add", text="", icon="ADD")
    buttons.operator("sinew.graph_transition_remove", text="", icon="REMOVE")
    buttons.separator()
    buttons.operator("sinew.graph_distances", text="", icon="IMAGE_DATA")
    if obj.sinew_transitions:
        way = obj.sinew_transitions[min(obj.sinew_transition_index, len(obj.sinew_transitions) - 1)]
        column = layout.column(align=True)
        column.use_property_split = False
        for word, skill, frame in (("From", "source", "leave_frame"), ("To", "target", "enter_frame")):
            split = column.split(factor=0.18, align=True)
            write_line(split, word)
            ends = split.split(factor=0.65, align=True)
            ends.prop_search(way, skill, obj, "sinew_skills", text="")
            ends.prop(way, frame, text="")


def _draw_figures(box: bpy.types.UILayout, adapter: FamilyAdapter, obj: bpy.types.Object) -> None:
    graph = adapter.file.view_of(obj).model
    column = box.column(align=True)
    column.scale_y = 0.8
    for skill in figures_of(graph):
        split = column.split(factor=0.58)
        write_line(split, skill.name, icon=_KINDS.get(skill.kind.upper(), "DOT"))
        write_line(split, skill.text)
    count = len(graph.transitions)
    write_line(column, f"{count} transition{'' if count == 1 else 's'}", icon="BLANK1")


def _draw_baking(layout: bpy.types.UILayout, context: bpy.types.Context, obj: bpy.types.Object) -> None:
    own, adapter = obj.sinew_graph, get_adapter("graph")
    layout.separator()
    layout.prop(own, "mode")
    if own.mode == "SEQUENCE":
        layout.prop(own, "sequence", placeholder="walk 3, run 2")
    if own.mode == "PATH":
        layout.prop(own, "curve")
        layout.prop(own, "from_start")
    if own.mode in ("PATH", "PUSHED", "MEET"):
        layout.prop(own, "skill", placeholder="The first one")
    layout.prop(own, "seconds")
    layout.prop(own, "frame_start")
    draw_rare(layout, context.scene, own, ("bake_seed",))
    draw_settings(layout, context, adapter, Product.TAKE)
    draw_bake_button(layout, context, adapter)
