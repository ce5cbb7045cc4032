# SPDX-License-Identifier: GPL-3.0-or-later
"""What the overlay draws is kept between redraws as long as nothing has changed, and no longer."""

import bpy
import numpy as np
import pytest

from sinew.bridge import mannequin
from sinew.bridge.body import fitted_bodies
from sinew.bridge.overlay import draw_handler, frame_state
from sinew.bridge.overlay.canvas import flatten_solids

from ..helpers.overlay_scenes import a_take, pose, read_ghosts
from ..helpers.stage_objects import arrow


@pytest.fixture
def person(addon):
    """The mannequin plays a take, is pushed, and is posed by a hinge; everything is switched on and read."""
    scene = bpy.context.scene
    obj = scene.sinew.armature = mannequin.build(scene)
    obj.sinew_body.use_mesh = False
    arrow(bone="chest", force=200.0).name = "Push"
    a_take(obj)
    scene.frame_set(3)
    pose(obj, "shin.L")
    own = scene.sinew_overlay
    own.show = own.ghost = own.bounds = True
    frame_state.forget_frame_state()
    drawn()
    read_ghosts()
    return obj


def drawn():
    """All numbers that would be drawn now."""
    found = draw_handler.current_draw_list(bpy.context)
    pieces = [*found.lines, *found.triangles]
    return b"".join([flatten_solids(found.solids).tobytes(), *(array.tobytes() for piece in pieces for array in piece)])


def test_a_redraw_in_which_nothing_has_changed_works_nothing_out(person):
    first = draw_handler.current_draw_list(bpy.context)
    assert first.solids and first.lines and first.triangles
    assert draw_handler.current_draw_list(bpy.context) is first
    person.location.x = 1.0
    second = draw_handler.current_draw_list(bpy.context)
    assert second is not first and draw_handler.current_draw_list(bpy.context) is second


def test_it_looks_again_after_a_while_all_the_same(person, monkeypatch):
    first = draw_handler.current_draw_list(bpy.context)
    monkeypatch.setattr(draw_handler, "_LOOK_AGAIN_S", 0.0)
    assert draw_handler.current_draw_list(bpy.context) is not first


def to_another_frame(person):
    bpy.context.scene.frame_set(8)


def another_pose(person):
    bone = person.pose.bones["thigh.L"]
    bone.rotation_mode = "XYZ"
    bone.rotation_euler.x = 0.5


def another_place(person):
    person.location.y = 2.0


def another_body(person):
    row = person.sinew_body.overrides.add()
    row.name, row.role, row.use_mass, row.mass_kg = "shin.L", "auto", True, 9.0


def no_balance(person):
    bpy.context.scene.sinew_overlay.balance = False


def another_colour(person):
    bpy.context.scene.sinew_overlay.tint = "PLAIN"


def another_active_bone(person):
    person.data.bones.active = person.data.bones["thigh.R"]


def object_mode(person):
    bpy.ops.object.mode_set(mode="OBJECT")


def nobody_chosen(person):
    bpy.context.scene.sinew.armature = None


def the_source(person):
    person.animation_data.action = bpy.data.actions["Source"]


def another_push(person):
    bpy.data.objects["Push"].sinew.start_frame = 2


def a_hidden_push(person):
    bpy.data.objects["Push"].hide_set(True)


def other_metres(person):
    bpy.context.scene.sinew.scale = 0.5


def wider_bounds(person):
    person.sinew_bounds.factor = 1.7


CHANGES = [
    *(to_another_frame, another_pose, another_place, another_body, no_balance, another_colour, another_active_bone),
    *(object_mode, nobody_chosen, the_source, another_push, a_hidden_push, other_metres, wider_bounds),
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_what_is_drawn_changes_with(person, change):
    before = drawn()
    assert drawn() == before
    change(person)
    assert drawn() != before


def test_an_edit_that_goes_is_no_longer_drawn(person):
    """Blender tells nobody that a line of a list has gone."""
    before = drawn()
    another_body(person)
    assert drawn() != before
    person.sinew_body.overrides.remove(0)
    assert drawn() == before
    assert not fitted_bodies.known_fit(person).edits[1:]


def test_a_pose_that_falls_back_is_drawn_as_it_is(person):
    """What was moved and not keyed falls back when the scene is set to its frame, which Blender tells nobody of."""
    root = person.pose.bones[0]
    before = drawn()
    root.location.x = 0.3
    bpy.context.view_layer.update()
    assert drawn() != before
    root.keyframe_insert("location", frame=30)
    root.location.x = 0.6
    bpy.context.view_layer.update()
    away = drawn()
    bpy.context.scene.frame_set(bpy.context.scene.frame_current)
    assert root.location.x == pytest.approx(0.3)
    assert drawn() != away


def test_each_scene_keeps_its_own(person):
    first = draw_handler.current_draw_list(bpy.context)
    other = bpy.data.scenes.new("Other")
    other.sinew_overlay.show = True
    with bpy.context.temp_override(scene=other, view_layer=other.view_layers[0]):
        assert not draw_handler.current_draw_list(bpy.context).solids
    found = draw_handler.current_draw_list(bpy.context)
    assert np.array_equal(flatten_solids(found.solids), flatten_solids(first.solids))
