# SPDX-License-Identifier: GPL-3.0-or-later
"""The tab's three questions: what is drawn is what is chosen, what is rarely touched is one switch away."""

from pathlib import Path
from types import SimpleNamespace

import bpy

import sinew
from sinew.bridge.properties import WHATS
from sinew.panels import advanced, drawing, happens, jobs, searching, simulate, takes, what
from sinew.panels.jobs import SINEW_PT_jobs
from sinew.panels.what import WhatPanel

from ..helpers.interface import hero
from ..helpers.panel_drawing import Layout, Page

DOCS = Path(sinew.__file__).parent / "docs"


class ChoiceLayout(Layout):
    """A layout with the buttons of an enumeration."""

    def prop_enum(self, data, name, value):
        assert value in data.bl_rna.properties[name].enum_items
        self.page.props.append(value)


def shown():
    """The panels below What that show."""
    direct = WhatPanel.__subclasses__()
    every = [*direct, *(kind for base in direct for kind in base.__subclasses__())]
    return {kind.bl_idname for kind in every if issubclass(kind, bpy.types.Panel) and kind.poll(bpy.context)}


def test_without_a_character_there_is_one_line(addon):
    page = Page(what.SINEW_PT_what, layout=ChoiceLayout)
    assert page.texts == ["Choose an armature"] and not page.props and not shown()
    assert not takes.SINEW_PT_takes.poll(bpy.context) and not SINEW_PT_jobs.poll(bpy.context)


def test_only_what_is_chosen_is_drawn(addon):
    hero()
    wanted = {
        "ACTION": {"simulate", "variations", "retime"},
        "SKILLS": {"skills"},
        "BOUNDS": {"bounds"},
        "LIBRARY": {"direct", "library"},
        "CUES": {"respond", "library"},
        "ITSELF": {"improvise", "library"},
    }
    assert list(wanted) == [row[0] for row in WHATS]
    for identifier, names in wanted.items():
        bpy.context.scene.sinew.what = identifier
        assert shown() == {f"SINEW_PT_{name}" for name in names}
        page = Page(what.SINEW_PT_what, layout=ChoiceLayout)
        assert page.props == list(wanted) and len(page.texts) == 1
        assert (DOCS / f"{page.button('sinew.open_help').page}.md").is_file()


def test_advanced_is_remembered_for_all_files_and_hides_nothing_that_was_changed(addon):
    hero()
    chosen, sampling = bpy.context.scene.sinew, bpy.context.scene.sinew.methods.sampling
    chosen.method = "sampling"
    drawn = Page(simulate.SINEW_PT_simulate)
    assert "quality" in drawn.props and not {"trim", "seed", "place", "method"} & set(drawn.props)
    sampling.trim, chosen.seed = "off", 5
    assert {"trim", "seed"} <= set(Page(simulate.SINEW_PT_simulate).props)
    chosen.show_advanced = True
    assert {"trim", "place", "method", "engine"} <= set(Page(simulate.SINEW_PT_simulate).props)
    assert bpy.context.preferences.addons["sinew"].preferences.advanced and bpy.context.preferences.is_dirty
    other = bpy.data.scenes.new("Other")
    assert other.sinew.show_advanced and jobs.SINEW_PT_jobs.poll(bpy.context)
    other.sinew.show_advanced = False
    assert not advanced.shows_advanced(bpy.context.scene)


def test_what_happens_is_a_line(addon):
    assert happens.stage_text(bpy.context.scene) == "Flat ground"
    bpy.context.scene.sinew.stage.ground = False
    bpy.ops.mesh.primitive_cube_add()
    bpy.context.object.sinew.role = "OBSTACLE"
    assert happens.stage_text(bpy.context.scene) == "No ground, Obstacle: 1"
    bpy.context.object.sinew.role = "TERRAIN"
    assert happens.stage_text(bpy.context.scene) == "Terrain: 1"


def test_long_lists_are_searched_and_short_ones_shown(addon):
    scene = bpy.context.scene
    scene.sinew.search = "kick"
    rows = [SimpleNamespace(name=f"{'Kick' if number % 3 else 'Walk'} {number}") for number in range(9)]
    assert len(searching.filter_sought(scene, rows, lambda row: row.name)) == 6
    assert len(searching.filter_sought(scene, rows[:8], lambda row: row.name)) == 8
    page = Page(SimpleNamespace(draw=lambda own, context: searching.draw_search(own.layout, scene, 9)))
    assert page.props == ["search"]
    assert searching.list_flags(4, "KICK", (row.name for row in rows)) == [0, 4, 4] * 3


def test_a_long_text_is_folded_and_kept_whole(addon):
    opened = []

    class Folding(Layout):
        def panel(self, idname, default_closed=False):
            opened.append((idname, default_closed))
            return self._part(), None

    def draw(own, context):
        drawing.folded(own.layout, context, "SINEW_PT_test", ("One", "Two", "Three"), icon="INFO")

    assert Page(SimpleNamespace(draw=draw)).texts == ["One", "Two", "More", "Three"]
    assert Page(SimpleNamespace(draw=draw), layout=Folding).texts == ["One", "Two", "More"]
    assert opened == [("SINEW_PT_test", True)]
