# SPDX-License-Identifier: GPL-3.0-or-later
"""Clips that are refused, and why; and clips that look like them and are not."""

import numpy as np
import pytest

from sinew.core.errors import BadMotion
from sinew.core.motion import Clip
from sinew.core.motion.checks import require_simulatable
from sinew.core.motion.io import stock
from sinew.core.motion.loops import loop_clip

from ...stock_clips import needs_stock


@pytest.fixture
def run():
    """Two seconds of running at 60 fps."""
    return loop_clip(stock.load_stock("run"), 3).resample(60)


def with_frames(clip, which, pos, quat):
    places, turns = np.array(clip.local_pos), np.array(clip.local_quat_wxyz)
    places[which], turns[which] = pos, quat
    return Clip(clip.skeleton, clip.fps, places, turns, clip.name)


def lost(clip, which):
    """The body snapped to the origin and to its rest pose in some frames."""
    skeleton = clip.skeleton
    return with_frames(clip, which, skeleton.rest_pos - [0.0, 0.0, 5.0], skeleton.rest_quat_wxyz)


@needs_stock
def test_a_body_that_is_lost_at_the_beginning_is_refused_with_the_frames_where_nothing_is_left_out(run):
    with pytest.raises(BadMotion, match=r"lost the body in its first 20 frames\.") as caught:
        require_simulatable(lost(run, slice(0, 20)), trim=False)
    assert caught.value.hint.startswith("Choose a frame range without its first 20 frames, or")
    require_simulatable(lost(run, slice(0, 6)), trim=False)  # a tenth of a second can be held
    require_simulatable(lost(run, slice(30, 50)), trim=False)  # between sound frames it is filled in
    require_simulatable(lost(run, slice(0, 20)))


@needs_stock
def test_a_runner_frozen_in_mid_stride_at_the_end_is_refused_where_nothing_is_left_out(run):
    frozen = with_frames(run, slice(-30, None), run.local_pos[-30], run.local_quat_wxyz[-30])
    with pytest.raises(BadMotion, match="its last 29 frames"):
        require_simulatable(frozen, trim=False)
    both = with_frames(frozen, slice(0, 25), run.local_pos[24], run.local_quat_wxyz[24])
    with pytest.raises(BadMotion, match="its first 24 frames and its last 29 frames"):
        require_simulatable(both, trim=False)
    require_simulatable(both)


@needs_stock
def test_who_stands_still_at_the_end_is_not_frozen(run):
    """A stop that takes its time: the last frames are the same, and those before them hardly move."""
    slow = run.with_fps(1.0)
    frozen = with_frames(slow, slice(-30, None), run.local_pos[-30], run.local_quat_wxyz[-30])
    require_simulatable(frozen, trim=False)
    still = with_frames(run, slice(None), run.local_pos[0], run.local_quat_wxyz[0])
    require_simulatable(still, trim=False)


@needs_stock
def test_a_wrong_scale_is_no_lost_body(run):
    """Every step is then further than a body could go; somebody else says so, with the scale to set."""
    require_simulatable(Clip(run.skeleton, run.fps, 100.0 * run.local_pos, run.local_quat_wxyz, run.name), trim=False)


@needs_stock
@pytest.mark.parametrize("name", stock.stock_names())
def test_sound_clips_pass(name):
    require_simulatable(stock.load_stock(name), trim=False)
