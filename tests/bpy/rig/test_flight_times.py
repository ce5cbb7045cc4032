# SPDX-License-Identifier: GPL-3.0-or-later
"""A take that plays its source slower in places comes home whole: every key in the take's own time."""

import bpy
import numpy as np
import pytest

from sinew.bridge.importing.importers import open_input
from sinew.bridge.jobs import requests
from sinew.bridge.rig import actions
from sinew.bridge.rig.rig_reader import read_rig
from sinew.bridge.rig.rig_writer import write_take
from sinew.bridge.takes import write_takes
from sinew.core import jobs
from sinew.core.motion import Take
from sinew.core.motion.time_warp import TimeStretch, compute_time_warp, warp_clip

from ...stock_clips import needs_stock
from ..helpers.rigs import arm, squash, wave


def slowed(obj):
    """What the rig does, and a take of it whose frames 6 to 11 of 20 last twice as long."""
    rig = read_rig(obj)
    fps = rig.clip.fps
    times = compute_time_warp(rig.clip, [TimeStretch(5.0 / fps, 10.0 / fps, 2.0)], 3.0 / fps)
    return rig, Take(warp_clip(rig.clip, times), source_times_s=times)


def test_squash_and_other_curves_stay_with_the_pose(scene):
    obj = arm(connected=False)
    squash(obj, wave(obj))
    rig, take = slowed(obj)
    written = write_take(obj, take, rig, name="slow", where="ACTION")
    curves = {(c.data_path, c.array_index): c for c in actions.curves_of(written.action, written.action.slots[0])}
    smile, scale = curves['["smile"]', 0], curves['pose.bones["bone0"].scale', 1]
    assert len(take.motion) > 23
    for index, source_s in enumerate(take.source_times_s):
        share = min(source_s * rig.clip.fps / 19.0, 1.0)  # curves are held at their ends
        assert smile.evaluate(1 + index) == pytest.approx(share, abs=0.01)
        assert scale.evaluate(1 + index) == pytest.approx(1.0 + share, abs=0.01)
    # Read back, the bones are where the take has them, to its last frame.
    again = read_rig(obj)
    pos, wanted = again.clip.world()[0], take.motion.world()[0]
    assert len(again.clip) == len(take.motion)
    np.testing.assert_allclose(pos, wanted, atol=1e-3)


def test_an_object_that_moves_by_itself_is_made_up_for(scene):
    obj = arm()
    action = wave(obj)
    bag = action.layers[0].strips[0].channelbag(action.slots[0])
    actions.add_curve(bag, "location", 2, "Object", 1, np.linspace(0.0, 3.0, 20) ** 2)
    rig, take = slowed(obj)
    write_take(obj, take, rig, name="slow", where="ACTION")
    np.testing.assert_allclose(read_rig(obj).clip.world()[0], take.motion.world()[0], atol=1e-3)


@needs_stock
def test_a_spin_that_was_captured_too_slowly_is_baked_shorter_than_its_source(addon):
    open_input("spin")
    request = requests.Request("", method="sampling", settings={"quality": "draft"}, frames=(25, 70), engine="mujoco")
    job = requests.create_job(request, requests.read(request))
    status = jobs.wait(job, jobs.launch(job))
    assert status.state == "done", status.message
    result = job.result()
    told = [finding["message"] for finding in result.report["findings"] if finding["kind"] == "flight"]
    assert len(told) == 1 and "times as fast" in told[0] and "shorter" in told[0]
    take = result.take
    source = job.clip()
    assert len(take.motion) < len(source)
    assert result.report["duration_s"] == take.motion.duration_s < source.duration_s
    home = write_takes.write_stage_takes(job, write_takes.PreparedTakes(write_takes.LoadedResult.of(job)))[0]
    first, last = (int(frame) for frame in home.written.action.frame_range)
    scene_fps = bpy.context.scene.render.fps
    assert (first, last - first + 1) == (25, len(take.motion.resample(scene_fps, end="hold")))
    # The last frame shows the last pose of the take, which follows the last of the source.
    again = read_rig(home.obj, action=home.written.action)
    shown, wanted = again.clip.world()[0][-1], take.motion.resample(again.clip.fps).world()[0]
    np.testing.assert_allclose(shown, wanted[len(again.clip) - 1], atol=1e-4)
    ended = take.in_take_time(source).world()[0][-1]
    assert np.linalg.norm((shown - shown[:1]) - (ended - ended[:1]), axis=-1).mean() < 0.25
