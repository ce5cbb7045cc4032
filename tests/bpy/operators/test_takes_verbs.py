# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be done with takes: each verb does it, says so, can be undone, and says why it cannot."""

import bpy
import numpy as np
import pytest

from sinew.bridge import takes
from sinew.bridge.rig import actions, sources
from sinew.bridge.rig.rig_writer import WrittenAction
from sinew.bridge.takes import views

from ..helpers.interface import animation, hero, refusal, simulate, tick_to_end
from ..helpers.rigs import arm, digest, wave
from ..helpers.take_making import as_before, moved_by, names, saved, take

OPS = bpy.ops.sinew


def tip(obj, frame):
    """Where the armature's last bone ends at that frame."""
    bpy.context.scene.frame_set(frame)
    return np.array(obj.pose.bones[-1].tail)


@pytest.fixture
def three(addon):
    """An armature with takes A, B (which fell) and C, the last of which it shows."""
    obj = hero()
    take(obj, "A")
    take(obj, "B", fell_at_s=1.0)
    take(obj, "C")
    return obj


def test_polls_say_why_not(addon):
    assert not OPS.take_show.poll()
    with refusal("Select an armature that has takes"):
        OPS.take_show()
    hero()
    with refusal("'Hero' has no takes yet"):
        OPS.take_to_nla()


def test_make_active_and_back_to_the_source(three):
    source, before = digest(bpy.data.actions["Wave"]), tip(three, 10)
    OPS.take_show(index=0)
    assert moved_by(three) == "A" and three.sinew_take_index == 0
    assert three.animation_data.action_slot in list(bpy.data.actions["A"].slots)
    assert np.abs(tip(three, 10) - before).max() > 1e-3, "it moves as the slot says"
    OPS.take_show_source()
    assert moved_by(three) == "Wave" and three.animation_data.action_slot is not None
    assert digest(bpy.data.actions["Wave"]) == source
    assert names(three) == ["A", "B", "C"] and not bpy.data.actions["A"].use_fake_user


def test_compare_goes_back_and_forth(three):
    for wanted in ("Wave", "C", "Wave", "C"):
        OPS.take_compare()
        assert moved_by(three) == wanted
    OPS.take_compare(index=0)
    assert moved_by(three) == "A", "from another take it goes to this one first"
    OPS.take_compare()
    assert moved_by(three) == "Wave"


def test_what_the_source_does_not_key_is_as_it_was_before_the_take(addon):
    obj = hero()
    for curve in list(bpy.data.actions["Wave"].layers[0].strips[0].channelbags[0].fcurves):
        if "bone2" in curve.data_path:
            bpy.data.actions["Wave"].layers[0].strips[0].channelbags[0].fcurves.remove(curve)
    obj.pose.bones["bone2"].rotation_euler = (0.3, 0.2, 0.1)
    before = tip(obj, 7)
    simulate()
    tick_to_end()
    obj = bpy.data.objects["Hero"]
    action = bpy.data.actions["Wave passthrough"]
    for curve in actions.curves_of(action, action.slots[0]):
        if "bone2" in curve.data_path:
            for key in curve.keyframe_points:
                key.co.y += 0.5
    tip(obj, 8)
    OPS.take_show_source()
    assert np.allclose(tip(obj, 7), before, atol=1e-5)


def test_an_action_of_the_animators_own_is_not_lost_by_showing_a_take(three, tmp_path):
    wave(three, "Blocking")
    OPS.take_show(index=1)
    obj = saved(tmp_path)
    assert {"Blocking", "Wave", "A", "B", "C"} == {action.name for action in bpy.data.actions}
    assert moved_by(obj) == "B"


def test_a_solo_track_makes_way(three):
    OPS.take_to_nla(index=0)
    three.animation_data.nla_tracks[0].is_solo = True
    OPS.take_show(index=1)
    shown = tip(three, 15)
    three.animation_data.nla_tracks[0].mute = True
    assert np.allclose(tip(three, 15), shown, atol=1e-6)


def test_a_source_that_is_gone_is_named(three):
    bpy.data.actions.remove(bpy.data.actions["Wave"])
    with refusal("source 'Wave' of take 'C'", "not in this file"):
        OPS.take_show_source()
    OPS.take_delete(index=2)
    assert moved_by(three) is None and names(three) == ["A", "B"]


def test_the_source_may_be_the_nla_itself(addon):
    obj = hero()
    track = obj.animation_data.nla_tracks.new()
    track.strips.new("Wave", 1, bpy.data.actions["Wave"])
    obj.animation_data.action = None
    chosen = bpy.context.scene.sinew
    chosen.action, chosen.use_range, chosen.frame_start, chosen.frame_end = None, True, 1, 20
    before = tip(obj, 6)
    simulate()
    tick_to_end()
    assert views.view_take(obj, takes.row_at(obj)).source == ""
    OPS.take_show_source()
    assert moved_by(obj) is None and np.allclose(tip(obj, 6), before, atol=1e-5)


def test_rename(three):
    OPS.take_rename(name="Stagger", index=0)
    assert names(three)[0] == "Stagger"
    OPS.take_rename(name="Wave", index=0)
    assert names(three)[0] == "Wave.001", "the source keeps its name"
    with refusal("needs a name"):
        OPS.take_rename(name="  ", index=0)


def test_keep_is_the_fake_user_and_outlives_the_armature(three, tmp_path):
    OPS.take_keep(index=1)
    assert views.view_take(three, three.sinew_takes[1]).kept
    OPS.take_keep(index=0)
    OPS.take_keep(index=0)
    bpy.data.objects.remove(three)
    path = str(tmp_path / "scene.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    assert "B" in bpy.data.actions and "A" not in bpy.data.actions


def test_delete_gives_the_armature_its_source_back(three):
    assert OPS.take_delete() == {"FINISHED"}
    assert names(three) == ["A", "B"] and "C" not in bpy.data.actions
    assert moved_by(three) == "Wave" and three.sinew_take_index == 1
    OPS.take_delete(index=0)
    assert names(three) == ["B"] and three.sinew_take_index == 0
    bpy.data.actions.remove(bpy.data.actions["B"])
    OPS.take_delete()
    assert names(three) == [] and "Wave" in bpy.data.actions


def test_kept_takes_and_those_in_the_nla_are_only_deleted_on_purpose(three):
    OPS.take_keep(index=0)
    with refusal("'A' is kept", "star"):
        OPS.take_delete(index=0)
    OPS.take_to_nla(index=1)
    with refusal("'B' is in the NLA of 'Hero'"):
        OPS.take_delete(index=1)
    assert names(three) == ["A", "B", "C"]
    OPS.take_delete(index=1, anyway=True)
    OPS.take_delete(index=0, anyway=True)
    assert names(three) == ["C"] and not three.animation_data.nla_tracks
    assert {action.name for action in bpy.data.actions} == {"Wave", "C"}


@pytest.mark.parametrize("use", ["moves", "lists", "simulates"])
def test_an_action_that_is_used_elsewhere_is_only_taken_off_the_list(three, use):
    if use == "moves":
        actions.assign(arm("Bob"), bpy.data.actions["A"], bpy.data.actions["A"].slots[0])
    elif use == "lists":
        bpy.context.scene.collection.objects.link(three.copy())
    else:
        bpy.context.scene.sinew.action = bpy.data.actions["A"]
    bpy.context.view_layer.objects.active = three
    OPS.take_delete(index=0)
    assert names(three) == ["B", "C"] and "A" in bpy.data.actions


def test_delete_all_not_kept(three):
    take(three, "D")
    OPS.take_keep(index=0)
    OPS.take_to_nla(index=1)
    bob = arm("Bob")
    actions.assign(bob, bpy.data.actions["D"], bpy.data.actions["D"].slots[0])
    bpy.context.view_layer.objects.active = three
    bpy.context.scene.sinew_takes_view.only_up = True
    OPS.take_delete_unkept()
    assert names(three) == ["A", "B"]
    assert {action.name for action in bpy.data.actions} == {"Wave", "A", "B", "D"} and moved_by(bob) == "D"
    assert not OPS.take_delete_unkept.poll()


def test_send_to_nla_shows_the_take_where_it_was_keyed(three):
    OPS.take_show(index=0)
    wanted = [tip(three, frame) for frame in (5, 9, 15)]
    OPS.take_show(index=2)
    OPS.take_to_nla(index=0)
    data = three.animation_data
    (track,) = data.nla_tracks
    (strip,) = track.strips
    assert (track.name, strip.name, strip.frame_start, strip.frame_end) == ("A", "A", 5.0, 15.0)
    assert strip.action == bpy.data.actions["A"] and strip.action_slot is not None and data.action is None
    assert np.allclose([tip(three, frame) for frame in (5, 9, 15)], wanted, atol=1e-6)
    # One that is there already is only shown again.
    OPS.take_show(index=2)
    track.mute = True
    OPS.take_to_nla(index=0)
    assert len(data.nla_tracks) == 1 and np.allclose(tip(three, 9), wanted[1], atol=1e-6)
    # A second one lies above; outside its frames the one below still shows.
    OPS.take_to_nla(index=1)
    assert [track.name for track in data.nla_tracks] == ["A", "B"]
    assert [track.strips[0].extrapolation for track in data.nla_tracks] == ["HOLD", "NOTHING"]
    assert np.allclose(tip(three, 20), wanted[-1], atol=1e-6)


@pytest.mark.parametrize("place", ["verb", "bake"])
def test_a_strip_lies_right_where_more_than_the_bones_is_keyed(addon, place):
    obj = hero()
    obj.location.x = 0.0
    obj.keyframe_insert("location", index=0, frame=1)
    obj.location.x = 19.0
    obj.keyframe_insert("location", index=0, frame=20)
    for curve in actions.curves_of(bpy.data.actions["Wave"], obj.animation_data.action_slot):
        if curve.data_path == "location":
            for key in curve.keyframe_points:
                key.interpolation = "LINEAR"
    chosen = bpy.context.scene.sinew
    chosen.use_range, chosen.frame_start, chosen.frame_end = True, 8, 14
    chosen.place = "NLA" if place == "bake" else "ACTION"
    wanted = tip(obj, 10)
    simulate()
    tick_to_end()
    if place == "verb":
        OPS.take_to_nla()
    track = obj.animation_data.nla_tracks[-1]
    assert (track.strips[0].frame_start, track.strips[0].frame_end) == (8.0, 14.0)
    assert np.allclose(tip(obj, 10), wanted, atol=1e-4)
    assert obj.matrix_world.translation.x == pytest.approx(9.0)


def test_tweak_mode_and_linked_armatures_are_named(three, tmp_path):
    OPS.take_to_nla(index=0)
    three.animation_data.nla_tracks[0].strips[0].select = True
    three.animation_data.nla_tracks.active = three.animation_data.nla_tracks[0]
    three.animation_data.use_tweak_mode = True
    for verb in (OPS.take_show, OPS.take_show_source, OPS.take_delete, OPS.take_to_nla):
        with refusal("tweak mode"):
            verb(index=1)
    three.animation_data.use_tweak_mode = False
    saved(tmp_path)
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(str(tmp_path / "scene.blend"), link=True) as (_, wanted):
        wanted.objects = ["Hero"]
    bpy.context.scene.collection.objects.link(wanted.objects[0])
    bpy.context.view_layer.objects.active = wanted.objects[0]
    for verb in (OPS.take_show, OPS.take_delete, OPS.take_delete_unkept, OPS.take_keep):
        with refusal("linked"):
            verb()


def test_a_missing_action_is_named_and_the_fix(three):
    bpy.data.actions.remove(bpy.data.actions["A"])
    for verb in (OPS.take_show, OPS.take_keep, OPS.take_to_nla):
        with refusal("Action of take 'A' was deleted", "Jobs panel"):
            verb(index=0)
    with refusal("no take 9"):
        OPS.take_show(index=8)


def test_a_copy_leads_to_its_model_and_back(addon):
    obj = hero()
    bpy.context.scene.sinew.place = "COPY"
    simulate()
    tick_to_end()
    as_before(obj)
    (copy,) = takes.copies_of(obj, bpy.context.scene)
    OPS.take_visit(name=copy.name)
    assert bpy.context.active_object == copy == takes.take_owner(bpy.context)
    with refusal("is a baked copy", "Look at 'Hero'"):
        OPS.take_show_source()
    OPS.take_visit(name="Hero")
    assert takes.take_owner(bpy.context) == obj
    with refusal("There is no 'Nobody' in this scene any more"):
        OPS.take_visit(name="Nobody")


@pytest.mark.parametrize(
    "verb",
    [
        lambda: OPS.take_show("EXEC_DEFAULT", True, index=0),
        lambda: OPS.take_show_source("EXEC_DEFAULT", True),
        lambda: OPS.take_compare("EXEC_DEFAULT", True),
        lambda: OPS.take_rename("EXEC_DEFAULT", True, index=1, name="X"),
        lambda: OPS.take_keep("EXEC_DEFAULT", True, index=1),
        lambda: OPS.take_delete("EXEC_DEFAULT", True, index=2),
        lambda: OPS.take_delete_unkept("EXEC_DEFAULT", True),
        lambda: OPS.take_to_nla("EXEC_DEFAULT", True, index=0),
    ],
)
def test_every_verb_is_one_undo_step(addon, verb):
    bpy.ops.ed.undo_push(message="Original")
    obj = hero()
    for name in "ABC":
        take(obj, name)
    bpy.ops.ed.undo_push(message="Takes")

    def state():
        return animation(), names(bpy.data.objects["Hero"])

    before = state()
    verb()
    after = state()
    assert after != before
    for _ in range(3):
        bpy.ops.ed.undo()
        assert state() == before
        bpy.ops.ed.redo()
        assert state() == after


@pytest.fixture
def juggling(addon):
    """Two takes of Hero and Bob with a ball: it flies in A, further in B, and stood at x = 1 before."""
    obj, bob = hero(), arm("Bob")
    wave(bob, "Nod")
    ball = bpy.data.objects.new("Ball", None)
    bpy.context.scene.collection.objects.link(ball)
    ball.location.x = 1.0
    for number, name in enumerate("AB"):
        before = sources.prior_animation(ball)
        action, slot, bag = actions.new_action(f"Ball {name}", ball)
        actions.add_curve(bag, "location", 0, "Object Transforms", 1, np.linspace(2.0, 8.0 + number, 20))
        sources.store_prior(action, before)
        actions.assign(ball, action, slot)
        actions.add_fake_users([action])
        row = take(obj, name, props=[WrittenAction(action, ball, "ACTION")])
        take(bob, f"Bob {name}", source="Nod").name = row.name  # of the same bake
    bpy.context.view_layer.objects.active = obj
    return obj, bob, ball


def test_a_take_brings_its_whole_stage_along(juggling):
    obj, bob, ball = juggling
    OPS.take_show(index=0)
    assert (moved_by(obj), moved_by(bob), moved_by(ball)) == ("A", "Bob A", "Ball A")
    OPS.take_show_source()
    bpy.context.scene.frame_set(3)
    assert (moved_by(obj), moved_by(ball), ball.location.x) == ("Wave", None, 1.0)
    ball.name = "Globe"
    OPS.take_show(index=1)
    assert (moved_by(bob), moved_by(ball)) == ("Bob B", "Ball B"), "the ball is known under its new name"
    bpy.data.objects.remove(ball)
    OPS.take_show(index=0)
    assert moved_by(obj) == "A"


def test_a_duplicate_of_the_character_goes_its_own_way(juggling):
    obj, *_ = juggling
    twin = obj.copy()
    bpy.context.scene.collection.objects.link(twin)
    OPS.take_show(index=0)
    assert (moved_by(obj), moved_by(twin)) == ("A", "B")


def test_a_prop_that_a_take_left_alone_stays_where_it_was(juggling):
    obj, _, ball = juggling
    take(obj, "C")  # nothing was written for the ball, so it does what it shows
    OPS.take_show(index=0)
    OPS.take_show(index=2)
    assert moved_by(ball) == "Ball B"
    OPS.take_show_source()
    take(obj, "D")
    OPS.take_show(index=0)
    OPS.take_show(index=3)
    assert moved_by(ball) is None and ball.location.x == 1.0


def test_what_a_prop_did_is_kept_and_deleted_with_its_take(juggling, tmp_path):
    _, _, ball = juggling
    OPS.take_keep(index=0)
    assert bpy.data.actions["Ball A"].use_fake_user
    OPS.take_delete(index=1)
    assert "Ball B" not in bpy.data.actions and moved_by(ball) is None
    saved(tmp_path)
    assert "Ball A" in bpy.data.actions
    OPS.take_delete(index=0, anyway=True)
    assert "Ball A" not in bpy.data.actions and "Bob A" in bpy.data.actions


def test_props_go_to_the_nla_with_their_take(juggling):
    _, _, ball = juggling
    OPS.take_to_nla(index=0)
    (track,) = ball.animation_data.nla_tracks
    assert track.strips[0].action.name == "Ball A" and moved_by(ball) is None
    bpy.context.scene.frame_set(20)
    assert ball.location.x == pytest.approx(8.0)
    OPS.take_show_source()
    bpy.context.scene.frame_set(10)
    assert ball.location.x == pytest.approx(1.0)
    OPS.take_to_nla()
    bpy.context.scene.frame_set(20)
    assert ball.location.x == pytest.approx(8.0) and len(ball.animation_data.nla_tracks) == 1
