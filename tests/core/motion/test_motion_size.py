# SPDX-License-Identifier: GPL-3.0-or-later
"""Lengths, rates and sizes that are beyond reason are refused by number, before there is memory for them."""

import resource
from contextlib import contextmanager

import numpy as np
import pytest

from sinew.core.errors import BadMotion
from sinew.core.motion import Clip, Skeleton, Tag
from sinew.core.motion.loops import loop_clip
from sinew.core.motion.motion_size import require_frame_rate, require_keys, require_motion_size
from sinew.core.motion.plain_walk import plain_walk


@contextmanager
def little_memory(room=300 << 20):
    """Only so many bytes more than there are now; what wants more fails at once."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    with open("/proc/self/statm", encoding="ascii") as stream:
        own = int(stream.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (own + room, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.parametrize("fps", [0.0, -24.0, 1e-6, 1e300, np.nan, np.inf, 5000.0])
def test_a_rate_at_which_nothing_moves_is_refused(fps):
    walk = plain_walk().frames(0, 5)
    with pytest.raises(BadMotion, match="frame rate of"):
        walk.with_fps(fps)
    with pytest.raises(BadMotion, match="frame rate of"):
        walk.resample(fps)


def test_milliseconds_that_were_taken_for_seconds_are_told_and_a_sparse_look_is_not():
    with pytest.raises(BadMotion, match=r"'shot' has a frame rate of 0.03. .*milliseconds.* 30 \(--fps\)"):
        require_frame_rate("'shot'", 0.03)
    assert plain_walk().with_fps(0.03).fps == 0.03


def test_what_would_be_too_long_is_refused_before_it_is_made():
    walk = plain_walk()
    slow = plain_walk().with_fps(0.5)
    with little_memory():
        with pytest.raises(BadMotion, match=r"played 1000000 times.*frames"):
            loop_clip(walk, 1_000_000)
        with pytest.raises(BadMotion, match="poses of bones"):
            loop_clip(walk, 9_000)
        with pytest.raises(BadMotion, match=r"1000 frames a second.*Choose"):
            Clip(
                slow.skeleton, 0.5, np.tile(slow.local_pos, (4, 1, 1)), np.tile(slow.local_quat_wxyz, (4, 1, 1))
            ).resample(1000.0)


@pytest.mark.parametrize(
    ("frames", "bones", "words"),
    [
        (2, 10_001, "10001 bones"),
        (2_000_000, 2, "2000000 frames"),
        (900_000, 100, "900000 frames of 100 bones.*100000 frames"),
    ],
)
def test_frames_bones_and_both_together_have_limits(frames, bones, words):
    with pytest.raises(BadMotion, match=words):
        require_motion_size("'Walk'", frames, bones)
    require_motion_size("'Walk'", 60_000, 150)


def test_positions_beyond_belief_are_refused_like_those_that_are_no_numbers():
    walk = plain_walk().frames(0, 5)
    far = np.array(walk.local_pos)
    far[3, 0, 1] = 1e300
    with pytest.raises(BadMotion, match=r"'pelvis' is 1e\+300 m away at frame 3"):
        Clip(walk.skeleton, 30.0, far, walk.local_quat_wxyz)
    quat = np.array(walk.local_quat_wxyz)
    quat[2, 1, 0] = np.nan
    with pytest.raises(BadMotion, match="'chest' is not a number at frame 2"):
        Clip(walk.skeleton, 30.0, walk.local_pos, quat)
    rest = np.array(walk.skeleton.rest_pos)
    rest[0, 0] = -1e200
    with pytest.raises(BadMotion, match=r"rest_pos of bone 'pelvis' is 1e\+200"):
        Skeleton(walk.skeleton.names, walk.skeleton.parents, rest, walk.skeleton.rest_quat_wxyz, walk.skeleton.lengths)


def test_names_that_are_no_text_are_refused():
    walk = plain_walk().frames(0, 5)
    names, rest = ("\ud800", *walk.skeleton.names[1:]), walk.skeleton
    with pytest.raises(BadMotion, match=r"'\\ud800'.*plain letters"):
        Skeleton(names, rest.parents, rest.rest_pos, rest.rest_quat_wxyz, rest.lengths)
    with pytest.raises(BadMotion, match="no text"):
        Clip(walk.skeleton, 30.0, walk.local_pos, walk.local_quat_wxyz, "\udfff")
    with pytest.raises(BadMotion, match="a tag that is no text"):
        Clip(walk.skeleton, 30.0, walk.local_pos, walk.local_quat_wxyz, "walk", (Tag("\ud800", 0, 2),))


def test_a_skeleton_of_a_million_bones_is_refused_at_once():
    names = tuple(str(number) for number in range(1_000_000))
    empty = np.zeros(1)
    with pytest.raises(BadMotion, match="1000000 bones, and 10000 is the most"):
        Skeleton(names, empty, empty, empty, empty)


@pytest.mark.parametrize(
    ("frames", "keys", "refused"), [(150_000, 1300, True), (150_000, 400_000, False), (9_000, 20, False)]
)
def test_hours_that_hardly_a_key_is_for_are_refused_as_one_key_astray_makes_them(frames, keys, refused):
    if not refused:
        require_keys("'walk'", frames, 18, keys)
        return
    with pytest.raises(BadMotion, match=r"only 1300 keys for 150000 frames of 18 bones. .*far out.*83333 frames"):
        require_keys("'walk'", frames, 18, keys)
