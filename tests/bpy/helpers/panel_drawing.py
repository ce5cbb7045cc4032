# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws panels without a window: a layout that refuses what is not there, and keeps what was drawn."""

from types import SimpleNamespace

import bpy

from sinew.bridge.jobs import monitor
from sinew.bridge.jobs.job_views import JobView
from sinew.panels import character, simulate
from sinew.panels import jobs as jobs_panel

PANELS = (character.SINEW_PT_character, simulate.SINEW_PT_simulate, jobs_panel.SINEW_PT_jobs)


class Layout:
    """Stands in for Blender's layout, which only exists while a window is drawn. Refuses what is not there."""

    def __init__(self, page):
        self.page = page

    def _part(self, **_):
        return type(self)(self.page)

    row = column = box = split = grid_flow = _part

    def panel(self, idname, default_closed=False):
        return self._part(), self._part()

    def label(self, text="", icon="NONE"):
        self._icon(icon)
        self.page.texts.append(text)

    def prop(self, data, name, text=None, icon="NONE", placeholder="", slider=False, toggle=False):
        found = data.bl_rna.properties[name]
        self._icon(icon)
        assert found.description, f"{name} has no tooltip"
        self.page.props.append(name)

    def prop_search(self, data, name, holder, among, text=None, icon="NONE"):
        self.prop(data, name, text, icon)
        assert among in holder.bl_rna.properties

    def operator(self, idname, text=None, icon="NONE", emboss=True):
        group, _, name = idname.partition(".")
        kind = getattr(getattr(bpy.ops, group), name).get_rna_type()
        self._icon(icon)
        assert kind.description, f"{idname} has no tooltip"
        button = SimpleNamespace(idname=idname, text=kind.name if text is None else text)
        self.page.buttons.append(button)
        return Values(button, kind)

    def operator_menu_enum(self, idname, name, text=None, icon="NONE"):
        self.operator(idname, text=text, icon=icon)
        assert getattr(bpy.ops.sinew, idname.partition(".")[2]).get_rna_type().properties[name].type == "ENUM"

    def popover(self, panel, icon="NONE", text=""):
        kind = getattr(bpy.types, panel)
        self._icon(icon)
        assert kind.preset_subdir.startswith("sinew/") and bpy.utils.preset_paths(kind.preset_subdir)

    def progress(self, factor, text):
        assert 0.0 <= factor <= 1.0
        self.page.bars.append((factor, text))

    @staticmethod
    def _icon(icon):
        assert icon in bpy.types.UILayout.bl_rna.functions["label"].parameters["icon"].enum_items


class Values:
    """What a button gives its operator."""

    def __init__(self, button, kind):
        object.__setattr__(self, "_button", button)
        object.__setattr__(self, "_kind", kind)

    def __setattr__(self, name, value):
        assert name in self._kind.properties, name
        setattr(self._button, name, value)


class Page:
    """What panels drew."""

    def __init__(self, *panels, layout=Layout):
        self.texts, self.props, self.buttons, self.bars = [], [], [], []
        context = SimpleNamespace(
            scene=bpy.context.scene,
            active_object=bpy.context.active_object,
            region=SimpleNamespace(width=320),
            preferences=bpy.context.preferences,
        )
        for panel in panels or PANELS:
            panel.draw(SimpleNamespace(layout=layout(self)), context)

    @property
    def text(self):
        return " ".join(self.texts)

    def button(self, idname):
        return next((button for button in self.buttons if button.idname == idname), None)


def show(monkeypatch, **view):
    """Let the monitor have one job to show."""
    view = JobView(**{"id": "1", "title": "Wave", "method": "Passthrough", "text": view["state"]} | view)
    monkeypatch.setattr(monitor, "watched_jobs", lambda: [view])
    return Page(jobs_panel.SINEW_PT_jobs)


def sized_context(width=4000):
    """A context for panels that measure their texts: in the background Blender's interface has no size."""
    style = SimpleNamespace(widget=SimpleNamespace(points=11.0))
    return SimpleNamespace(
        scene=bpy.context.scene,
        active_object=bpy.context.active_object,
        region=SimpleNamespace(width=width),
        preferences=SimpleNamespace(system=SimpleNamespace(ui_scale=1.0), ui_styles=[style]),
    )


def draw_wide(panel, layout):
    """What one panel draws where there is room enough, with its texts as one and the names of its buttons' verbs."""
    page = SimpleNamespace(texts=[], props=[], buttons=[], bars=[])
    panel.draw(SimpleNamespace(layout=layout(page)), sized_context())
    page.text = " ".join(page.texts)
    page.idnames = [button.idname.removeprefix("sinew.") for button in page.buttons]
    return page


class SearchLayout(Layout):
    """A layout with searches."""

    def prop_search(self, data, name, holder, collection, text=None, icon="NONE"):
        assert holder.bl_rna.properties[collection]
        self.prop(data, name, text=text, icon=icon)


class BodyLayout(SearchLayout):
    """A layout with lists whose items know nothing of their place."""

    def template_list(self, kind, _, data, name, active_data, active_name, rows=5):
        assert active_data.bl_rna.properties[active_name].type == "INT"
        for item in getattr(data, name):
            getattr(bpy.types, kind).draw_item(None, bpy.context, self._part(), data, item, 0, active_data, active_name)


class SkillsLayout(SearchLayout):
    """A layout with lists, searches and space between things."""

    def separator(self):
        pass

    def prop(self, data, name, text=None, icon="NONE", emboss=True, placeholder="", toggle=False):
        super().prop(data, name, text=text, icon=icon)

    def template_list(self, kind, _, data, name, active_data, active_name, rows=5):
        assert active_data.bl_rna.properties[active_name].type == "INT"
        for index, item in enumerate(getattr(data, name)):
            getattr(bpy.types, kind).draw_item(
                None, bpy.context, self._part(), data, item, 0, active_data, active_name, index
            )
