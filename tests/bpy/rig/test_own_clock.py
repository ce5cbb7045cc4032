# SPDX-License-Identifier: GPL-3.0-or-later
"""A take that follows no source comes home whole: its own length, and nothing of the source's clock in it."""

import bpy
import numpy as np
import pytest

from sinew.bridge.jobs import requests
from sinew.bridge.rig import actions
from sinew.bridge.rig.rig_reader import read_rig
from sinew.bridge.takes import take_operations
from sinew.core.motion import Clip, Take

from ..helpers.finished_jobs import finish
from ..helpers.rigs import arm, squash, wave


@pytest.fixture
def squashing():
    """An armature with an Action of 20 frames that squashes a bone, smiles, and moves the object itself."""
    obj = arm("Hero", connected=False)
    bag, ramp = squash(obj, wave(obj), 0.25)
    actions.add_curve(bag, "location", 1, "Object", 1, 3.0 * ramp)
    return obj


def baked(frames: int) -> requests.WrittenAction:
    """The Action of a job whose take has so many frames of its own, at half the scene's rate."""
    request = requests.Request("Hero")
    job = requests.create_job(request, requests.read(request))
    source = job.clip()
    times_s = np.linspace(0.0, source.duration_s, frames) ** 0.5
    motion = Clip(source.skeleton, source.fps / 2.0, *source.sample(times_s), "walked")
    finish(job, Take(motion, own_clock=True))
    return requests.collect(job)


def test_it_has_its_own_length_and_poses(addon, squashing):
    written = baked(31)
    assert tuple(written.action.frame_range) == (1.0, 61.0)
    motion = read_rig(squashing).clip
    wanted = addon.core.jobs.all_jobs()[0].result().take.motion.resample(motion.fps)
    assert len(motion) == len(wanted) == 61
    np.testing.assert_allclose(motion.world()[0], wanted.world()[0], atol=1e-3)


def test_nothing_of_the_sources_clock_is_in_it(addon, squashing):
    written = baked(31)
    curves = {(c.data_path, c.array_index): c for c in actions.curves_of(written.action, written.action.slots[0])}
    scale = curves['pose.bones["bone0"].scale', 1]
    np.testing.assert_allclose([scale.evaluate(frame) for frame in (1, 15, 61)], 1.0, atol=1e-5)
    # What is not about bones is as it is when the source begins, and stays so.
    np.testing.assert_allclose([curves['["smile"]', 0].evaluate(frame) for frame in (1, 15, 61)], 0.25)
    np.testing.assert_allclose([curves["location", 1].evaluate(frame) for frame in (1, 15, 61)], 0.75)


def test_its_source_can_be_shown_again(addon, squashing):
    before = read_rig(squashing).clip
    assert baked(31).action != squashing.sinew_takes[0].source
    take_operations.show_take_source(squashing)
    assert squashing.animation_data.action.name == "Wave"
    np.testing.assert_allclose(read_rig(squashing).clip.world()[0], before.world()[0], atol=1e-5)


def test_a_shorter_one_than_the_source_is_fine_too(addon, squashing):
    written = baked(4)
    assert tuple(written.action.frame_range) == (1.0, 7.0)
    assert bpy.data.actions["Wave"].frame_range[1] == 20.0
