# SPDX-License-Identifier: GPL-3.0-or-later
"""The buttons and the panel of the stage."""

import bpy
import pytest
from mathutils import Matrix

from sinew.panels.stage import SINEW_PT_stage

from ..helpers.interface import hero, refusal
from ..helpers.panel_drawing import Layout, Page
from ..helpers.stage_objects import arrow, mesh, read, select, sphere


@pytest.fixture
def hero_here(addon):
    """Hero waves through frames 1 to 20 at 24 frames a second."""
    bpy.context.scene.render.fps = 24
    return hero()


def test_marks_are_put_on_and_taken_off(hero_here):
    wall, ball = mesh("Wall", "NONE"), mesh("Ball", "NONE")
    bpy.context.scene.frame_set(12)
    select(wall)
    assert bpy.ops.sinew.stage_mark(role="OBSTACLE") == {"FINISHED"}
    select(ball, hero_here)
    assert bpy.ops.sinew.stage_mark(role="PROJECTILE") == {"FINISHED"}
    assert (wall.sinew.role, ball.sinew.role, hero_here.sinew.role) == ("OBSTACLE", "PROJECTILE", "NONE")
    assert ball.sinew.start_frame == 12 and not ball.show_axis
    ball.sinew.aim = "AXIS"
    assert ball.show_axis
    bpy.ops.sinew.stage_clear(name="Wall")
    assert (wall.sinew.role, ball.sinew.role) == ("NONE", "PROJECTILE")
    bpy.ops.sinew.stage_clear()
    assert ball.sinew.role == "NONE" and not ball.show_axis
    with refusal("None of these objects is on the stage", "Select some that are"):
        bpy.ops.sinew.stage_clear()


def test_polls_and_refusals_say_why(hero_here):
    select()
    for name, words in {"stage_mark": "Select the objects", "stage_add_push": "Select the bone"}.items():
        with pytest.raises(RuntimeError, match=words):
            getattr(bpy.ops.sinew, name)()
    select(hero_here)
    with pytest.raises(RuntimeError, match="'Hero' cannot be an obstacle"):
        bpy.ops.sinew.stage_mark(role="OBSTACLE")
    bpy.context.scene.sinew.armature = None
    with pytest.raises(RuntimeError, match="Choose an armature"):
        bpy.ops.sinew.stage_check()


def test_add_push_points_at_the_active_bone_and_is_ready(hero_here):
    select(hero_here)
    bpy.ops.object.mode_set(mode="POSE")
    hero_here.data.bones.active = hero_here.data.bones["bone1"]
    bpy.context.scene.frame_set(6)
    assert bpy.ops.sinew.stage_add_push() == {"FINISHED"}
    push = bpy.context.active_object
    assert bpy.context.mode == "OBJECT" and push.select_get() and push.empty_display_type == "SINGLE_ARROW"
    assert (push.sinew.armature, push.sinew.bone, push.sinew.start_frame) == (hero_here, "bone1", 6)
    bpy.context.view_layer.update()
    tip = push.matrix_world @ Matrix.Translation((0, 0, push.empty_display_size)).translation
    posed = hero_here.pose.bones["bone1"]
    assert tuple(tip) == pytest.approx(tuple(hero_here.matrix_world @ ((posed.head + posed.tail) / 2)), abs=1e-5)
    (part,) = read().pushes
    assert part.force == pytest.approx([0, 200, 0], abs=1e-3) and part.start_s == pytest.approx(5 / 24)


def test_a_push_is_put_where_it_is_seen(hero_here):
    """Beside the armature, if that collection is shown in this view layer; else into the scene's own."""
    scene, homes = bpy.context.scene, [bpy.data.collections.new(name) for name in ("Hidden", "Shown")]
    for home in homes:
        scene.collection.children.link(home)
        home.objects.link(hero_here)
    scene.collection.objects.unlink(hero_here)
    shown = bpy.context.view_layer.layer_collection.children
    for excluded, expected in (("Hidden", "Shown"), ("Shown", "Hidden")):
        shown["Hidden"].exclude = shown["Shown"].exclude = False
        shown[excluded].exclude = True
        select(hero_here)
        hero_here.data.bones.active = hero_here.data.bones["bone1"]
        assert bpy.ops.sinew.stage_add_push() == {"FINISHED"}
        assert [home.name for home in bpy.context.active_object.users_collection] == [expected]
    elsewhere = bpy.data.collections.new("Of No Scene")
    elsewhere.objects.link(hero_here)
    scene.collection.objects.link(hero_here)
    for home in homes:
        home.objects.unlink(hero_here)
    select(hero_here)
    hero_here.data.bones.active = hero_here.data.bones["bone1"]
    assert bpy.ops.sinew.stage_add_push() == {"FINISHED"}
    assert bpy.context.active_object.users_collection == (scene.collection,)


def test_select_goes_from_the_list_to_the_object(hero_here):
    wall = mesh("Wall")
    select(hero_here)
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.sinew.stage_select(name="Wall")
    assert bpy.context.active_object == wall and bpy.context.selected_objects == [wall]
    with refusal("There is no 'Nothing' in this scene any more"):
        bpy.ops.sinew.stage_select(name="Nothing")


def test_check_says_what_is_wrong(hero_here):
    mesh("Wall")
    assert bpy.ops.sinew.stage_check() == {"FINISHED"}
    arrow(bone="")
    with pytest.raises(RuntimeError, match="Push 'Push' has no bone"):
        bpy.ops.sinew.stage_check()


class WideLayout(Layout):
    """With what only this panel uses."""

    def prop_search(self, data, name, where, items, text=None):
        assert name in data.bl_rna.properties and items in where.bl_rna.properties
        self.page.props.append(name)


def page():
    """What the panel drew."""
    return Page(SINEW_PT_stage, layout=WideLayout)


def test_the_panel_lists_what_is_there_and_what_is_wrong(hero_here):
    assert {"ground", "friction", "use_gravity", "self_collision"} <= set(page().props)
    mesh("Wall")
    mesh("Hidden").hide_set(True)
    push = arrow(bone="")
    sphere("Ball", "PROJECTILE", mass=0.5)
    select(push)
    drawn = page()
    assert {"Wall", "Push", "Ball", "Hidden"} <= {button.text for button in drawn.buttons}
    assert "has no bone" in drawn.text and "100 N" in drawn.text and "0.5 kg" in drawn.text and "hidden" in drawn.text
    assert {"force", "duration", "start_frame", "bone"} <= set(drawn.props)
    mesh("Hill", "TERRAIN")
    assert "Terrain instead of the ground" in page().text


def test_a_push_that_was_taken_off_can_be_put_back(hero_here):
    push = arrow("Push", bone="bone2", force=321.0, start_frame=7, duration=0.4)
    assert read().pushes
    bpy.ops.sinew.stage_clear(name="Push")
    assert not read().pushes
    button = page().button("sinew.stage_restore")
    assert button.name == "Push" and "off the stage" in page().text
    bpy.context.scene.frame_set(15)
    assert bpy.ops.sinew.stage_restore(name="Push") == {"FINISHED"}
    assert (push.sinew.role, push.sinew.bone, push.sinew.force, push.sinew.start_frame) == ("PUSH", "bone2", 321.0, 7)
    assert read().pushes and not page().button("sinew.stage_restore")


def test_a_push_that_an_older_sinew_took_off_is_known_by_its_bone(hero_here):
    push = arrow("Push", bone="bone2")
    push.sinew.role = "NONE"
    assert page().button("sinew.stage_restore").name == "Push"
    with refusal("'Hero' was not taken off the stage", "Put it on the stage"):
        bpy.ops.sinew.stage_restore(name="Hero")
