# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake is one undo step: back and forth as often as one likes, always to the same two scenes."""

import bpy
import pytest

from sinew.bridge.jobs import monitor

from ..helpers.interface import animation, hero, new_actions, simulate, tick_to_end


@pytest.fixture
def undoing(addon):
    """Blender starts without an undo stack in the background; the first push makes it."""
    bpy.ops.ed.undo_push(message="Original")


@pytest.mark.parametrize("place", ["ACTION", "NLA", "COPY"])
def test_undo_and_redo_ten_times_over(undoing, place):
    hero()
    bpy.context.scene.sinew.place = place
    bpy.ops.ed.undo_push(message="Hero")
    simulate()
    before = animation()
    view = tick_to_end()
    after = animation()
    assert new_actions(before) == [view.action] == ["Wave passthrough"]
    for _ in range(10):
        assert bpy.ops.ed.undo() == {"FINISHED"}
        assert animation() == before
        assert monitor.tick_monitor() is None
        assert bpy.ops.ed.redo() == {"FINISHED"}
        assert animation() == after
        assert monitor.tick_monitor() is None
    assert animation() == after


def test_an_undone_bake_is_not_made_again_until_asked_for(undoing):
    hero()
    bpy.ops.ed.undo_push(message="Hero")
    job = simulate()
    before = animation()
    tick_to_end()
    after = animation()
    bpy.ops.ed.undo()
    for _ in range(3):
        assert monitor.tick_monitor() is None
    assert animation() == before
    assert bpy.ops.sinew.collect("EXEC_DEFAULT", True, job=job) == {"FINISHED"}
    assert animation() == after
    for _ in range(2):
        bpy.ops.ed.undo()
        assert animation() == before
        bpy.ops.ed.redo()
        assert animation() == after


def test_the_step_before_the_bake_is_the_start_of_the_job_and_it_goes_on_when_that_is_undone(undoing):
    hero()
    bpy.ops.ed.undo_push(message="Hero")
    settled = animation()
    job = simulate()
    bpy.ops.ed.undo()
    assert not bpy.context.scene.sinew.jobs
    view = tick_to_end()
    assert (view.id, view.state) == (job, "done")
    assert new_actions(settled) == ["Wave passthrough"]
    bpy.ops.ed.undo()
    assert animation() == settled


def test_undo_while_a_job_runs_disturbs_nothing(undoing):
    obj = hero()
    bpy.ops.ed.undo_push(message="Hero")
    obj.location.x = 3.0
    bpy.ops.ed.undo_push(message="Move")
    simulate()
    for _ in range(3):
        bpy.ops.ed.undo()
        monitor.tick_monitor()
        bpy.ops.ed.redo()
        monitor.tick_monitor()
    tick_to_end()
    hero_now = bpy.data.objects["Hero"]
    assert hero_now.location.x == 3.0
    assert hero_now.animation_data.action.name == "Wave passthrough"
