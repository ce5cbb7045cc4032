# SPDX-License-Identifier: GPL-3.0-or-later
"""A result is baked a little at a time: the same as at once, and nobody sees half of it, whatever happens meanwhile."""

import time

import bpy
import pytest

from sinew.bridge.jobs import baking, monitor, watched_job
from sinew.bridge.rig import actions, keying, placing
from sinew.core import jobs

from ..helpers.interface import animation, hero, new_actions, simulate, tick_to_end

BAKED = "Wave passthrough"


@pytest.fixture
def pieces(addon, monkeypatch):
    """As where Blender has a window, and with as many pieces as there can be."""
    monkeypatch.setattr(watched_job, "bakes_in_slices", lambda: True)
    keyed = placing.key_at_place
    monkeypatch.setattr(keyed, "__kwdefaults__", {**keyed.__kwdefaults__, "slice_s": 0.0})
    bpy.ops.ed.undo_push(message="Original")


def done(place="ACTION"):
    """A job whose result waits to be baked: its id, and the file before."""
    bpy.context.scene.sinew.place = place
    bpy.ops.ed.undo_push(message="Hero")
    job_id = simulate()
    jobs.wait(monitor.job_of(job_id))
    return job_id, animation()


def half_made():
    """The Actions that no menu shows."""
    return [action for action in bpy.data.actions if action.name.startswith(".")]


def begun(curves=5):
    """Tick until a half-made Action has some curves."""
    monitor.tick_monitor()
    for _ in range(10_000):
        baking.tick_baking()
        time.sleep(0.0005)  # the thread that loads the result wants its turn
        if half_made() and len(keying._bag(half_made()[0]).fcurves) >= curves:
            return half_made()[0]
    raise AssertionError("It was never half made")


def to_end():
    """Tick both timers until there is nothing to do; how many pieces it took."""
    for piece in range(100_000):
        baking.tick_baking()
        if monitor.tick_monitor() is None:
            return piece
    raise AssertionError("It never ended")


@pytest.mark.parametrize("place", ["ACTION", "NLA", "COPY"])
@pytest.mark.parametrize("moving", [False, True])
def test_in_pieces_comes_what_comes_at_once(pieces, monkeypatch, place, moving):
    obj = hero()
    obj.pose.bones[1].rotation_mode = "AXIS_ANGLE"
    obj.pose.bones[-1].bone.inherit_scale = "NONE"  # only Blender converts that
    if moving:
        slot = obj.animation_data.action_slot
        bag = obj.animation_data.action.layers[0].strips[0].channelbag(slot)
        curve = bag.fcurves.new("location", index=0)
        for frame, value in ((1, 0.0), (9, 2.0), (20, -1.0)):
            curve.keyframe_points.insert(frame, value).interpolation = "BEZIER"
    job_id, before = done(place)
    monitor.tick_monitor()
    assert animation()["objects"] == before["objects"]  # nothing is moved by it yet
    assert to_end() > 20  # a piece for each curve; how often it waits for the thread besides is chance
    piecemeal = animation()
    assert not half_made() and BAKED in piecemeal["actions"]
    bpy.ops.ed.undo()
    assert animation() == before
    monkeypatch.setattr(watched_job, "bakes_in_slices", lambda: False)
    assert bpy.ops.sinew.collect("EXEC_DEFAULT", True, job=job_id) == {"FINISHED"}
    assert animation() == piecemeal


def test_it_is_one_undo_step(pieces):
    hero()
    _, before = done()
    to_end()
    after = animation()
    for _ in range(3):
        bpy.ops.ed.undo()
        assert animation() == before
        bpy.ops.ed.redo()
        assert animation() == after
    assert monitor.tick_monitor() is None  # it is not baked again


def test_an_undo_halfway_begins_again(pieces):
    hero()
    done()
    begun(5)
    bpy.ops.ed.undo_push(message="Something else")  # this remembers the half-made Action
    begun(20)
    bpy.ops.ed.undo()
    to_end()
    assert not half_made()
    keyed = keying._bag(bpy.data.actions[BAKED]).fcurves
    paths = [(curve.data_path, curve.array_index) for curve in keyed]
    assert len(paths) == len(set(paths)) and all(len(curve.keyframe_points) == 20 for curve in keyed)


def test_what_an_undo_brings_back_half_made_is_swept_away(pieces):
    hero()
    _, before = done()
    begun(5)
    bpy.ops.ed.undo_push(message="Something else")
    to_end()
    bpy.ops.ed.undo()
    assert half_made()
    baking.sweep()
    assert animation() == before


def test_a_file_that_is_saved_meanwhile_has_nothing_of_it(pieces, tmp_path):
    hero()
    done()
    begun(5)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "half.blend"), copy=True)
    with bpy.data.libraries.load(str(tmp_path / "half.blend")) as (there, _):
        assert there.actions == ["Wave"]
    to_end()
    assert BAKED in bpy.data.actions


def test_opening_another_file_drops_it(pieces, tmp_path):
    hero()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "hero.blend"))
    job_id, _ = done()
    begun(5)
    bpy.ops.wm.read_homefile(use_empty=True)
    assert not half_made() and baking.tick_baking() is None and not baking.is_ready(job_id)
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "hero.blend"))
    to_end()
    assert BAKED in bpy.data.actions  # the job is found again by its file


def test_an_armature_that_was_changed_before_the_bake_is_keyed_anew(pieces):
    obj = hero()
    job_id, _ = done()
    baking.begin_baking(monitor.job_of(job_id), lambda: None)
    while not baking.is_ready(job_id):
        baking.tick_baking()
    obj.pose.bones[0].rotation_mode = "QUATERNION"
    tick_to_end()
    assert not half_made()
    slot = actions.slot_for(bpy.data.actions[BAKED], obj)
    paths = {curve.data_path for curve in actions.curves_of(bpy.data.actions[BAKED], slot)}
    assert obj.pose.bones[0].path_from_id("rotation_quaternion") in paths
    assert obj.pose.bones[0].path_from_id("rotation_euler") not in paths


def test_an_armature_that_goes_halfway_is_told(pieces, reported):
    obj = hero()
    done()
    begun(5)
    bpy.data.objects.remove(obj)
    to_end()
    assert not half_made() and BAKED not in bpy.data.actions
    assert [kind for kind, _ in reported] == ["WARNING"] and "There is no armature 'Hero'" in reported[0][1]
    assert monitor.watched_jobs()[0].is_error


def test_a_click_bakes_what_was_undone(pieces):
    hero()
    job_id, before = done()
    to_end()
    bpy.ops.ed.undo()
    assert new_actions(before) == []
    kind = bpy.types.Operator.bl_rna_get_subclass_py("SINEW_OT_collect")

    class Click:
        job = job_id

        def report(self, *_):
            pass

    assert kind.prepare(Click(), bpy.context) == {"CANCELLED"}  # the undo step is that of the bake
    assert new_actions(before) == []
    to_end()
    assert new_actions(before) == [BAKED]


def test_a_job_that_is_forgotten_halfway_leaves_nothing(pieces):
    hero()
    job_id, before = done()
    begun(5)
    monitor.forget(job_id)
    assert animation() == before and baking.tick_baking() is None
