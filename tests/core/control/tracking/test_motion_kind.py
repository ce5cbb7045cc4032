# SPDX-License-Identifier: GPL-3.0-or-later
"""What clips are guessed to be is what they are."""

from dataclasses import replace

import numpy as np
import pytest

from sinew.core.control.tracking.motion_kind import guess_gait, guess_motion_kind
from sinew.core.motion.io import stock


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("walk", "cycle"),
        ("dance_a", "cycle"),
        ("roll", "cycle"),
        ("crawl", "cycle"),
        ("kick", "once"),
        ("punch", "once"),
        ("getup_faceup", "rise"),
        ("getup_facedown", "rise"),
    ],
)
def test_the_kind_is_told_by_how_a_clip_begins_and_ends(name, kind):
    assert guess_motion_kind(stock.load_stock(name)) == kind


def test_sitting_up_and_lying_down_are_no_rises():
    clip = stock.load_stock("getup_faceup")
    assert guess_motion_kind(clip.frames(0, 60)) == "once"
    backwards = replace(clip, local_pos=clip.local_pos[::-1], local_quat_wxyz=clip.local_quat_wxyz[::-1])
    assert guess_motion_kind(backwards) == "once"


def test_a_pose_before_the_capture_is_not_looked_at():
    """As in files whose first frame is the rest pose."""
    clip = stock.load_stock("getup_faceup")
    pos, quat = np.array(clip.local_pos), np.array(clip.local_quat_wxyz)
    pos[0], quat[0] = clip.skeleton.rest_pos, clip.skeleton.rest_quat_wxyz
    assert guess_motion_kind(replace(clip, local_pos=pos, local_quat_wxyz=quat)) == "rise"


def test_only_walks_and_runs_are_gaits():
    assert [name for name in stock.stock_names() if guess_gait(stock.load_stock(name))] == ["run", "walk"]


def test_half_a_stride_is_no_gait():
    walk = stock.load_stock("walk")
    assert not guess_gait(walk.frames(0, len(walk) // 2))
