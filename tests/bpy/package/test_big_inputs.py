# SPDX-License-Identifier: GPL-3.0-or-later
"""A very long Action, a scene of many objects and an armature of very many bones go through reading and the panels."""

import bpy
import numpy as np
import pytest

from sinew.bench import heavy_scenes
from sinew.bridge.body import fit_inputs
from sinew.bridge.jobs import monitor, preparing, requests, status_bar
from sinew.bridge.jobs.scene_request import request_of
from sinew.bridge.rig.rig_reader import RigReading, read_rig
from sinew.bridge.scene.time_slicing import run_all_slices

from ..helpers.interface import tick_to_end
from ..helpers.preparing_clicks import click, prepare


@pytest.fixture
def drawn():
    """Draws every panel of the tab as the benchmark does, onto a layout that takes everything."""
    from sinew.bench.interface.clicks import StepClock, draw_panels

    def draw():
        clock = StepClock()
        draw_panels(clock, "draw")
        assert clock.spent["draw"][0] > 0.0

    return draw


def test_sixty_thousand_frames(addon, drawn):
    obj = heavy_scenes.long_action()
    scene = bpy.context.scene
    action = scene.sinew.action
    assert tuple(map(round, action.frame_range)) == (1, heavy_scenes.FRAMES)
    drawn()
    # The overlay reads a few frames of it, however long it is.
    assert len(run_all_slices(fit_inputs.read_fit_inputs(scene, obj)).clip) <= fit_inputs.MOST_FRAMES + 1
    # A click begins to read it, in pieces, and is stopped like anything else.
    click("simulate")
    for _ in range(6):
        preparing.tick_preparations()
    done, total = preparing._going[0].reading.frames
    assert total == heavy_scenes.FRAMES and done < total, "it was read in one go"
    drawn()
    (view,) = preparing.preparation_views()
    bpy.ops.sinew.cancel_preparing(number=view.id)
    prepare()
    assert monitor.watched_jobs() == []
    # What is read far inside is what the scene shows there.
    far = read_rig(obj, frames=(50_000, 50_010)).clip
    scene.frame_set(50_005)
    head = obj.pose.bones["head"].matrix.translation + obj.location
    assert np.allclose(far.world()[0][5, far.skeleton.index("head")], head, atol=1e-4)


def test_two_hundred_objects(addon, drawn):
    heavy_scenes.many_objects()
    scene = bpy.context.scene
    assert len(scene.objects) >= heavy_scenes.OBJECTS
    drawn()
    scene.sinew.method = "passthrough"
    click("simulate")
    prepare()
    drawn()
    assert status_bar.text_of(monitor.watched_jobs()) is not None
    assert tick_to_end().state == "done"
    drawn()
    assert scene.sinew.armature.animation_data.action.name == "Walk passthrough"
    scene.sinew.method = "sampling"
    request = request_of(scene)
    parts = requests.inputs_of(request, requests.read(request)).parts
    assert len(parts.obstacles) == heavy_scenes._OBSTACLES


def test_four_hundred_bones(addon, drawn):
    obj = heavy_scenes.many_bones(frames=12)
    assert len(obj.pose.bones) == heavy_scenes.BONES
    drawn()
    pieces = RigReading(obj, action=bpy.context.scene.sinew.action)
    while not pieces.advance(0.0):
        pass
    whole = read_rig(obj)
    assert len(whole.clip.skeleton) == heavy_scenes.BONES
    assert pieces.finish().clip.local_quat_wxyz.tobytes() == whole.clip.local_quat_wxyz.tobytes()
    assert len(run_all_slices(fit_inputs.read_fit_inputs(bpy.context.scene, obj)).skeleton) == heavy_scenes.BONES
    bpy.context.scene.sinew.method = "passthrough"
    click("simulate")
    prepare()
    view = tick_to_end()
    assert view.state == "done" and bpy.data.actions[view.action]
    drawn()
