# SPDX-License-Identifier: GPL-3.0-or-later
"""Clips refuse what cannot be a motion, and sample, cut and go to the world and back without loss."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation, Slerp

from sinew.core.errors import BadMotion
from sinew.core.geometry.quaternions import angle_between, from_rotation_vector, multiply
from sinew.core.motion import Clip, Tag, Take

seeds = st.integers(0, 2**32 - 2)
rates = st.sampled_from([12.0, 24.0, 25.0, 29.97, 30.0, 50.0, 60.0, 100.0, 120.0, 240.0])


@given(seeds, st.integers(1, 6), st.integers(1, 6))
def test_from_world_of_world_is_the_same_clip(random_clip, seed, frames, bones):
    clip = random_clip(seed, frames, bones)
    again = Clip.from_world(clip.skeleton, clip.fps, *clip.world(), name=clip.name)
    np.testing.assert_allclose(again.local_pos, clip.local_pos, atol=1e-12)
    np.testing.assert_allclose(again.local_quat_wxyz, clip.local_quat_wxyz, atol=1e-12)


@given(seeds, st.integers(2, 7), rates, st.lists(st.floats(-0.2, 1.5), min_size=1, max_size=9))
def test_sampled_agrees_with_scipy_and_holds_the_ends(random_clip, seed, frames, fps, times):
    clip = random_clip(seed, frames, 3, fps)
    pos, quat = clip.sample(np.array(times))
    at = np.arange(frames) / fps
    inside = np.clip(times, 0.0, clip.duration_s)
    for bone in range(3):
        wanted = [np.interp(inside, at, clip.local_pos[:, bone, axis]) for axis in range(3)]
        np.testing.assert_allclose(pos[:, bone], np.transpose(wanted), atol=1e-9)
        rotations = Rotation.from_quat(clip.local_quat_wxyz[:, bone][:, [1, 2, 3, 0]])
        slerped = Slerp(at, rotations)(np.minimum(inside, at[-1])).as_quat()[:, [3, 0, 1, 2]]
        assert angle_between(quat[:, bone], slerped).max() < 1e-7


@given(seeds, st.integers(1, 40), rates, rates)
def test_resampled_keeps_start_and_end_at_any_rate(random_clip, seed, frames, fps, wanted):
    clip = random_clip(seed, frames, 2, fps)
    other = clip.resample(wanted)
    assert other.fps == wanted
    assert 0.0 <= clip.duration_s - other.duration_s + 1e-6 < 1.0 / wanted + 2e-6
    np.testing.assert_allclose(other.local_pos[0], clip.local_pos[0], atol=1e-12)
    pos, quat = clip.sample(np.array([other.duration_s]))
    np.testing.assert_allclose(other.local_pos[-1], pos[0], atol=1e-9)
    assert angle_between(other.local_quat_wxyz[-1], quat[0]).max() < 1e-9


@given(seeds, st.integers(1, 20), st.integers(2, 5))
def test_up_and_down_again_is_the_same_clip(random_clip, seed, frames, times):
    tags = (Tag("all", 0, frames), Tag("first", 0, 1), Tag("last", frames - 1, frames))
    clip = random_clip(seed, frames, 2, 24.0, tags)
    up = clip.resample(24.0 * times)
    assert len(up) == (frames - 1) * times + 1
    down = up.resample(24.0)
    np.testing.assert_allclose(down.local_pos, clip.local_pos, atol=1e-9)
    assert angle_between(down.local_quat_wxyz, clip.local_quat_wxyz).max() < 1e-9
    assert down.tags == clip.tags


def test_resampling_to_its_own_rate_changes_nothing(random_clip):
    clip = random_clip(1, 5, 2, 30.0)
    assert clip.resample(30.0) is clip


@pytest.mark.parametrize("fps", [0.0, -24.0, np.nan, np.inf])
def test_no_clip_has_or_gets_an_impossible_rate(random_clip, fps):
    clip = random_clip(1, 3, 2)
    for change in (clip.with_fps, clip.resample):
        with pytest.raises(BadMotion, match="frame rate"):
            change(fps)


@given(st.integers(2, 60), rates, rates, st.data())
def test_tags_cover_the_same_time_at_any_rate_and_stay_side_by_side(random_clip, frames, fps, wanted, data):
    cuts = data.draw(st.lists(st.integers(1, frames - 1), min_size=1, max_size=3, unique=True).map(sorted))
    edges = [0, *cuts, frames]
    tags = tuple(Tag(f"part {i}", a, b) for i, (a, b) in enumerate(pairwise(edges)))
    other = random_clip(3, frames, 1, fps, tags).resample(wanted)
    for frame in range(len(other)):
        place = frame / wanted * fps
        here = [tag for tag in other.tags if tag.start <= frame < tag.stop]
        # Rounding may go either way at an edge; a short tag may have been kept one frame longer than it lasts.
        wanted_names = {t.name for t in tags if t.start - 1e-5 <= place < t.stop + 1e-5}
        assert any(tag.name in wanted_names for tag in here)
        assert all(tag.name in wanted_names or tag.stop - tag.start == 1 for tag in here)


def test_a_tag_to_the_end_still_covers_the_last_frame_at_half_the_rate(random_clip):
    clip = random_clip(1, 61, 1, 60.0, (Tag("run", 31, 61),)).resample(30.0)
    assert (len(clip), clip.tags) == (31, (Tag("run", 16, 31),))


def test_relabelling_changes_the_time_and_nothing_else(random_clip):
    clip = random_clip(2, 7, 2, 120.0, (Tag("jump", 1, 3),))
    slow = clip.with_fps(60)
    assert slow.duration_s == pytest.approx(2.0 * clip.duration_s)
    assert slow.tags == clip.tags
    np.testing.assert_array_equal(slow.local_pos, clip.local_pos)
    np.testing.assert_array_equal(slow.local_quat_wxyz, clip.local_quat_wxyz)


def test_cut_frames_take_their_tags_along(random_clip):
    clip = random_clip(1, 10, 2, 30.0, (Tag("walk", 0, 4), Tag("run", 3, 10), Tag("end", 8, 10)))
    cut = clip.frames(2, 8)
    np.testing.assert_array_equal(cut.local_pos, clip.local_pos[2:8])
    assert cut.tags == (Tag("walk", 0, 2), Tag("run", 1, 6))
    assert len(clip.frames(7, 99)) == 3


@pytest.mark.parametrize(("start", "stop"), [(-1, 4), (3, 3), (5, 2), (10, 12), (0, -1)])
def test_frames_that_are_not_there_are_refused(random_clip, start, stop):
    with pytest.raises(BadMotion, match="no frames"):
        random_clip(1, 10, 2).frames(start, stop)


def test_world_velocities_of_a_turning_arm(random_skeleton):
    skeleton = random_skeleton(5, 1)
    times = np.arange(9)[:, None, None] / 60.0
    spin, speed = np.array([0.3, -1.0, 2.0]), np.array([1.0, 0.5, 0.0])
    start = from_rotation_vector(np.array([0.4, 0.1, -0.2]))
    clip = Clip(skeleton, 60.0, times * speed, multiply(from_rotation_vector(times * spin), start))
    velocity, angular = clip.world_velocities()
    np.testing.assert_allclose(velocity, np.broadcast_to(speed, (9, 1, 3)), atol=1e-9)
    np.testing.assert_allclose(angular, np.broadcast_to(spin, (9, 1, 3)), atol=1e-9)


@pytest.mark.parametrize("array", ["local_pos", "local_quat_wxyz"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_value_that_is_no_number_is_named_with_bone_and_frame(random_clip, array, value):
    clip = random_clip(1, 6, 3)
    arrays = {"local_pos": np.array(clip.local_pos), "local_quat_wxyz": np.array(clip.local_quat_wxyz)}
    arrays[array][4, 2, 1] = value
    with pytest.raises(BadMotion, match="bone 'bone 2' is not a number at frame 4") as caught:
        Clip(clip.skeleton, 30.0, **arrays, name="Walk")
    assert "'Walk'" in caught.value.message
    assert "key" in caught.value.hint


@pytest.mark.parametrize(
    ("pos", "quat"), [((4, 3, 3), (4, 2, 4)), ((4, 2, 3), (5, 2, 4)), ((4, 2, 4), (4, 2, 4)), ((2, 3), (4, 2, 4))]
)
def test_wrong_shapes_are_refused(random_skeleton, pos, quat):
    with pytest.raises(BadMotion, match="shape"):
        Clip(random_skeleton(1, 2), 30.0, np.zeros(pos), np.ones(quat))


def test_a_clip_without_frames_is_refused(random_skeleton):
    with pytest.raises(BadMotion, match="no frames"):
        Clip(random_skeleton(1, 2), 30.0, np.zeros((0, 2, 3)), np.zeros((0, 2, 4)))


@pytest.mark.parametrize(("name", "start", "stop"), [("walk", 3, 3), ("walk", -1, 3), ("walk", 4, 2), (" ", 0, 1)])
def test_a_tag_needs_a_name_and_frames(name, start, stop):
    with pytest.raises(BadMotion, match="tyle tag"):
        Tag(name, start, stop)


def test_a_tag_past_the_end_is_refused_by_name(random_clip):
    with pytest.raises(BadMotion, match="tag 'run' ends at 5"):
        random_clip(1, 4, 2, 30.0, (Tag("run", 0, 5),))


def test_arrays_are_copies_and_read_only(random_skeleton):
    pos, quat = np.zeros((3, 2, 3)), np.tile([1.0, 0.0, 0.0, 0.0], (3, 2, 1))
    clip = Clip(random_skeleton(1, 2), 30.0, pos, quat)
    pos[:], quat[:] = 9.0, 9.0
    assert not clip.local_pos.any()
    assert (clip.local_quat_wxyz[..., 0] == 1.0).all()
    for array in (clip.local_pos, clip.local_quat_wxyz):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.0


def test_rotations_become_units_without_flips(random_clip):
    clip = random_clip(4, 8, 3)
    signs = np.random.default_rng(4).choice([-3.0, 0.5], size=(8, 3, 1))
    signs[0] = 1.0
    mended = Clip(clip.skeleton, 30.0, clip.local_pos, clip.local_quat_wxyz * signs)
    np.testing.assert_allclose(mended.local_quat_wxyz, clip.local_quat_wxyz, atol=1e-12)


def test_a_take_checks_and_freezes_its_contacts(random_clip):
    motion = random_clip(1, 4, 3)
    take = Take(motion, contacts=np.ones((4, 3), dtype=int))
    assert take.contacts.dtype == bool
    with pytest.raises(ValueError, match="read-only"):
        take.contacts[0] = False
    with pytest.raises(BadMotion, match=r"contacts have shape \(3, 4\)"):
        Take(motion, contacts=np.ones((3, 4)))


def test_a_take_fell_if_it_says_when(random_clip):
    motion = random_clip(1, 4, 3)
    assert Take(motion, fell_at_s=0.0).fell
    assert not Take(motion).fell


def test_who_fell_was_lost_at_the_latest_then_and_who_was_lost_need_not_have_fallen(random_clip):
    motion = random_clip(1, 4, 3)
    assert not Take(motion).lost
    assert (Take(motion, lost_at_s=1.5).lost, Take(motion, lost_at_s=1.5).fell) == (True, False)
    assert Take(motion, fell_at_s=2.0).lost_at_s == Take(motion, fell_at_s=2.0, lost_at_s=3.0).lost_at_s == 2.0
    assert Take(motion, fell_at_s=2.0, lost_at_s=1.5).lost_at_s == 1.5
