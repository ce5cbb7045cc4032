# SPDX-License-Identifier: GPL-3.0-or-later
"""A click on a row shows its take, notes stay with the Action, and the preview range goes along."""

import bpy
import pytest

from sinew.bridge.takes import take_operations, views
from sinew.operators.takes.show import SINEW_OT_take_show

from ..helpers.interface import hero, simulate, tick_to_end
from ..helpers.take_making import moved_by, take


@pytest.fixture
def two(addon):
    """Hero with takes A and B of its Action 'Wave'; B shows."""
    obj = hero()
    take(obj, "A")
    take(obj, "B")
    return obj


def test_a_click_on_a_row_shows_its_take(two):
    two.sinew_take_clicked = 0
    assert moved_by(two) == "A" and two.sinew_take_index == two.sinew_take_clicked == 0
    take_operations.show_take_source(two)
    two.sinew_take_clicked = 0  # the chosen one is clicked again
    assert moved_by(two) == "A"


def test_a_script_that_only_chooses_shows_nothing(two):
    two.sinew_take_index = 0
    assert moved_by(two) == "B"


def test_deleting_the_shown_one_shows_the_source_and_not_its_neighbour(two):
    assert bpy.ops.sinew.take_delete(index=1) == {"FINISHED"}
    assert moved_by(two) == "Wave" and two.sinew_take_clicked == 0


def test_a_row_that_cannot_be_shown_is_chosen_all_the_same(two):
    bpy.data.actions.remove(bpy.data.actions["A"])
    two.sinew_take_clicked = 0
    assert two.sinew_take_index == 0 and moved_by(two) == "B"
    two.sinew_take_clicked = 7  # beyond the end
    assert moved_by(two) == "B"


def test_one_that_plays_in_the_nla_goes_on_there(two):
    assert bpy.ops.sinew.take_to_nla(index=0) == {"FINISHED"}
    two.sinew_take_clicked = 0
    assert two.animation_data.action is None


def test_clicks_are_undone_and_redone_like_anything_else(two):
    bpy.ops.ed.undo_push(message="Takes")
    two.sinew_take_clicked = 0
    bpy.ops.ed.undo_push(message="Click")  # as Blender does after a click in a list
    bpy.ops.ed.undo()
    assert moved_by(bpy.data.objects["Hero"]) == "B" and bpy.data.objects["Hero"].sinew_take_clicked == 1
    bpy.ops.ed.redo()
    assert moved_by(bpy.data.objects["Hero"]) == "A" and bpy.data.objects["Hero"].sinew_take_clicked == 0


def test_a_note_is_kept_with_the_action_and_found(two, tmp_path):
    bpy.data.actions["A"].sinew_note = "Lands on the wrong foot"
    path = str(tmp_path / "noted.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    obj = bpy.data.objects["Hero"]
    assert views.view_take(obj, obj.sinew_takes[0]).note == "Lands on the wrong foot"
    assert views.take_mapping(obj, obj.sinew_takes[0])["note"] == "Lands on the wrong foot"
    assert views.arrange_takes(obj.sinew_takes, "TIME", search="wrong FOOT")[0] == [True, False]


def test_a_note_is_the_rows_tooltip(two):
    bpy.data.actions["A"].sinew_note = "The good one"
    told = SINEW_OT_take_show.description(bpy.context, type("Given", (), {"index": 0}))
    assert told.startswith("The good one\n") and SINEW_OT_take_show.__doc__ in told
    assert SINEW_OT_take_show.description(bpy.context, type("Given", (), {"index": 1})) == SINEW_OT_take_show.__doc__


def preview():
    scene = bpy.context.scene
    return (scene.frame_preview_start, scene.frame_preview_end) if scene.use_preview_range else None


def test_the_preview_range_follows_what_shows(two):
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 250
    two.sinew_take_clicked = 0
    assert preview() == (5, 15)
    take_operations.show_take_source(two)
    assert preview() == (1, 20)
    bpy.context.scene.frame_end = 20  # what shows is all there is
    take_operations.show_take_source(two)
    assert preview() is None


def test_a_preview_range_of_the_animators_own_stays(two):
    scene = bpy.context.scene
    scene.use_preview_range, scene.frame_preview_start, scene.frame_preview_end = True, 30, 40
    two.sinew_take_clicked = 0
    assert preview() == (30, 40)
    scene.use_preview_range = False
    two.sinew_take_clicked = 1
    assert preview() == (5, 15)
    scene.frame_preview_end = 12  # changed by hand: from now on it is the animator's
    two.sinew_take_clicked = 0
    assert preview() == (5, 12)


def test_it_can_be_switched_off(two):
    bpy.context.scene.sinew_takes_view.follow_range = False
    two.sinew_take_clicked = 0
    assert preview() is None


def test_a_range_far_from_the_last_one_is_set_whole(two):
    bpy.context.scene.frame_preview_start, bpy.context.scene.frame_preview_end = 100, 200
    two.sinew_take_clicked = 0
    assert preview() == (5, 15)


def test_a_result_that_comes_in_is_followed(addon):
    obj = hero()
    simulate()
    tick_to_end()
    assert moved_by(obj) == "Wave passthrough" and preview() == (1, 20)
