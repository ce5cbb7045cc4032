# SPDX-License-Identifier: GPL-3.0-or-later
"""The Takes panel draws every state, names only what exists, and says what the verbs go by."""

import json
from types import SimpleNamespace

import blf
import bpy
import pytest

from sinew.panels import drawing
from sinew.panels import takes as panel

from ..helpers.interface import hero, simulate, tick_to_end
from ..helpers.panel_drawing import Layout, sized_context
from ..helpers.rigs import arm
from ..helpers.take_making import as_before, take


class ListLayout(Layout):
    """A layout with lists, foldable parts and long choices."""

    def operator(self, idname, text=None, icon="NONE", emboss=True, depress=False):
        values = super().operator(idname, text=text, icon=icon, emboss=emboss)
        self.page.buttons[-1].pressed = depress
        return values

    def label(self, text="", icon="NONE"):
        self.page.icons.append(icon)
        super().label(text=text, icon=icon)

    def prop(self, data, name, text=None, icon="NONE", emboss=True, expand=False, placeholder=""):
        super().prop(data, name, text=text, icon=icon)

    def template_list(self, kind, _, data, name, active_data, active_name, rows=5):
        assert active_data.bl_rna.properties[active_name].type == "INT"
        kind = getattr(bpy.types, kind)
        items = getattr(data, name)
        this = SimpleNamespace(filter_name="", bitflag_filter_item=1)
        flags, places = kind.filter_items(this, bpy.context, data, name)
        for index in sorted((i for i in range(len(items)) if flags[i]), key=places.__getitem__):
            item = items[index]
            self.page.listed.append(item.action_name)
            kind.draw_item(None, self.page.context, self._part(), data, item, 0, active_data, active_name, index)


def drawn(width=400):
    context = sized_context(width)
    page = SimpleNamespace(texts=[], icons=[], props=[], buttons=[], bars=[], listed=[], context=context)
    panel.SINEW_PT_takes.draw(SimpleNamespace(layout=ListLayout(page)), context)
    page.text = " ".join(page.texts)
    page.idnames = [button.idname for button in page.buttons]
    return page


@pytest.fixture(autouse=True)
def letters(monkeypatch):
    """In the background Blender has no fonts."""
    monkeypatch.setattr(blf, "dimensions", lambda font, text: (6.0 * len(text), 11.0))
    drawing._wrapped.cache_clear()
    yield
    drawing._wrapped.cache_clear()


def test_without_takes_it_says_how_to_get_some(addon):
    assert "Select an armature" in drawn().text
    hero()
    assert "No takes yet" in drawn().text and "Hero" in drawn().text


def test_every_row_has_its_buttons_and_the_chosen_one_its_story(addon):
    obj = hero()
    take(obj, "A")
    take(obj, "B", fell_at_s=2.5, variation=3)
    page = drawn()
    assert [button.index for button in page.buttons if button.idname == "sinew.take_keep"] == [0, 1]
    assert "#3" in page.texts and "seed 7" in page.texts and "seed 7" not in drawn(width=200).texts
    assert "120 N from the left" in page.texts
    assert "Lost it at 2.5 s and stayed down" in page.texts and "Wave" in page.texts and "1 min 01 s" in page.texts
    assert "Joint error" in page.texts and "3 cm" in page.texts
    assert "sinew.take_show_source" in page.idnames and "sinew.take_to_nla" in page.idnames
    obj.sinew_take_index = 99
    assert "Lost it at 2.5 s and stayed down" in drawn().texts, "an index beyond the end stands for the last"


def test_what_is_wrong_is_seen_by_a_sign_in_the_list_and_in_words_below(addon):
    obj = hero()
    lost, slides, sinks, fine = "ERROR", "FORWARD", "TRIA_DOWN_BAR", "CHECKMARK"  # no two differ by colour alone
    take(obj, "Good")
    assert drawn().icons.count(fine) == 3, "in its row, that it is up, and its feet: nobody measured the ground"
    take(obj, "Fell", fell_at_s=2.5)
    assert lost in drawn().icons and slides not in drawn().icons
    row = take(obj, "Bad")
    report = json.loads(row.report)
    report["measurements"] |= {"skate_m_s": 0.08, "penetration_max_m": 0.05}
    row.report = json.dumps(report)
    page = drawn()
    assert {slides, sinks} <= set(page.icons)
    assert "Feet slide 8.0 cm/s" in page.text and "Sinks 5.0 cm into the ground" in page.text
    assert "Stayed with the source: 3.0 cm on average" in page.text


def test_who_was_lost_and_came_back_is_marked_too(addon):
    obj = hero()
    row = take(obj, "Back")
    report = json.loads(row.report) | {"fell": False, "lost": True, "lost_at_s": 5.21}
    report["measurements"] |= {"lost_s": 1.3}
    row.report, row.lost = json.dumps(report), True
    page = drawn()
    assert "ERROR" in page.icons and "Lost it at 5.2 s, for 1.3 s" in page.texts
    bpy.context.scene.sinew_takes_view.only_up = True
    assert drawn().listed == []


def test_source_or_take_is_one_click_and_the_pressed_one_is_shown(addon):
    obj = hero()
    take(obj, "A")
    assert [button.idname for button in drawn().buttons if button.pressed] == ["sinew.take_show"]
    assert "sinew.take_compare" in drawn().idnames
    bpy.ops.sinew.take_compare()
    assert [button.idname for button in drawn().buttons if button.pressed] == ["sinew.take_show_source"]


def test_the_list_is_sorted_and_filtered(addon):
    obj = hero()
    take(obj, "C", error_m=0.02)
    take(obj, "A", error_m=0.05)
    take(obj, "B", error_m=0.01, fell_at_s=1.0)
    view = bpy.context.scene.sinew_takes_view
    orders = {}
    for sort in ("TIME", "NAME", "ERROR"):
        view.sort = sort
        orders[sort] = drawn().listed
    assert orders == {"TIME": ["C", "A", "B"], "NAME": ["A", "B", "C"], "ERROR": ["C", "A", "B"]}
    view.only_up = True
    assert drawn().listed == ["C", "A"]


def test_a_deleted_action_is_told_with_the_fix(addon):
    obj = hero()
    take(obj, "A")
    bpy.data.actions.remove(bpy.data.actions["A"])
    page = drawn()
    assert "The Action of 'A' was deleted" in page.text and "Bake it again" in page.text
    assert {"sinew.take_show", "sinew.take_rename"}.isdisjoint(page.idnames) and "sinew.take_delete" in page.idnames


def test_the_active_armature_goes_before_the_chosen_one(addon):
    take(hero(), "A")
    bob = arm("Bob")
    assert "No takes yet" in drawn().text
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    bpy.context.scene.collection.objects.link(camera)
    bpy.context.view_layer.objects.active = camera
    assert drawn().listed == ["A"]
    bpy.data.objects.remove(bob)


def test_copies_and_their_model_lead_to_each_other(addon):
    obj = hero()
    bpy.context.scene.sinew.place = "COPY"
    simulate()
    tick_to_end()
    assert drawn().listed == ["Wave passthrough"] and "sinew.take_visit" not in drawn().idnames
    as_before(obj)
    (button,) = [button for button in drawn().buttons if button.idname == "sinew.take_visit"]
    bpy.ops.sinew.take_visit(name=button.name)
    page = drawn()
    assert [button.name for button in page.buttons if button.idname == "sinew.take_visit"] == ["Hero"]
    assert "sinew.take_show_source" not in page.idnames


def test_a_note_is_written_in_the_panel_and_seen_in_the_list(addon):
    obj = hero()
    row = take(obj, "A")
    take(obj, "B")
    assert "sinew_note" in drawn().props and "TEXT" not in drawn().icons
    row.action.sinew_note = "for the fight, trim the end"
    assert drawn().icons.count("TEXT") == 1
