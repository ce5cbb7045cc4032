# SPDX-License-Identifier: GPL-3.0-or-later
"""Tremble of known size is found, and taken out without the motion; whatever is steady keeps every bit."""

from dataclasses import replace

import numpy as np
import pytest

from sinew.core.geometry.quaternions import angle_between, from_rotation_vector, multiply
from sinew.core.motion.io import stock
from sinew.core.motion.jitter_filter import filter_jitter
from sinew.core.motion.loops import loop_clip


def walk(fps=30.0):
    return loop_clip(stock.load_stock("walk"), 4).resample(fps)


def shaken(clip, degrees, metres=0.0, seed=0):
    """The clip with normal noise on every axis of every bone, and of the root's place."""
    rng = np.random.default_rng(seed)
    turns = np.radians(degrees) * rng.normal(size=(*clip.local_quat_wxyz.shape[:2], 3))
    pos = np.array(clip.local_pos)
    pos[:, 0] += metres * rng.normal(size=pos[:, 0].shape)
    return replace(clip, local_pos=pos, local_quat_wxyz=multiply(clip.local_quat_wxyz, from_rotation_vector(turns)))


def off(clip, truth):
    """Mean metres between joints."""
    return float(np.linalg.norm(clip.world()[0] - truth.world()[0], axis=-1).mean())


@pytest.mark.parametrize("name", stock.stock_names())
def test_sound_clips_are_left_alone(name):
    clip = stock.load_stock(name)
    again, report = filter_jitter(clip)
    assert again is clip and not report.touched and report.message == "The source is steady"


@pytest.mark.parametrize("name", ["walk", "run", "cartwheel", "dance_a"])
def test_few_frames_a_second_are_no_tremble(name):
    clip = stock.load_stock(name).resample(15.0)
    assert filter_jitter(clip)[0] is clip


@pytest.mark.parametrize(("fps", "degrees", "metres"), [(15.0, 2.5, 0.02), (30.0, 2.5, 0.02), (60.0, 1.5, 0.01)])
def test_tremble_of_known_size_is_found_and_most_of_it_taken_out(fps, degrees, metres):
    truth = walk(fps)
    source = shaken(truth, degrees, metres)
    clip, report = filter_jitter(source)
    assert report.turn == pytest.approx(np.radians(degrees), rel=0.15)
    assert report.place == pytest.approx(metres, rel=0.25)
    assert off(clip, truth) < (0.7 if fps < 20.0 else 0.5) * off(source, truth)
    assert "degrees and" in report.message and report.held == 0


def test_what_trembles_little_is_left_alone():
    source = shaken(walk(60.0), 0.5, 0.002)
    assert filter_jitter(source)[0] is source


def test_a_trembling_hand_does_not_make_a_trembling_body():
    clip = walk(30.0)
    turns = np.zeros((*clip.local_quat_wxyz.shape[:2], 3))
    turns[:, -1] = 0.1 * np.random.default_rng(1).normal(size=(len(clip), 3))
    source = replace(clip, local_quat_wxyz=multiply(clip.local_quat_wxyz, from_rotation_vector(turns)))
    assert filter_jitter(source)[0] is source


def test_a_root_that_jumps_about_is_smoothed_without_the_pose():
    clip = stock.load_stock("getup_facedown").resample(30.0)
    pos = np.array(clip.local_pos)
    pos[:, 0] += 0.03 * np.random.default_rng(2).normal(size=pos[:, 0].shape)
    again, report = filter_jitter(replace(clip, local_pos=pos))
    assert report.turn == 0.0 and report.place == pytest.approx(0.03, rel=0.25)
    assert np.array_equal(again.local_quat_wxyz, clip.local_quat_wxyz)
    assert off(again, clip) < 0.6 * off(replace(clip, local_pos=pos), clip)


def test_pictures_that_came_twice_are_filled_in():
    truth = walk(15.0)
    source = shaken(truth, 2.5, 0.01)
    late = [9, 20, 21, 40]
    pos, quat = np.array(source.local_pos), np.array(source.local_quat_wxyz)
    for frame in late:
        pos[frame], quat[frame] = pos[frame - 1], quat[frame - 1]
    quat[20, 3] = multiply(quat[20, 3], from_rotation_vector(np.array([0.1, 0.0, 0.0])))  # one bone was repaired
    clip, report = filter_jitter(replace(source, local_pos=pos, local_quat_wxyz=quat))
    assert report.held == len(late) and "repeat the one before were filled in: 4" in report.message
    # The root went on while the picture stood still.
    apart = np.linalg.norm(clip.local_pos[late, 0] - truth.local_pos[late, 0], axis=-1)
    assert apart.max() < 0.6 * np.linalg.norm(pos[21, 0] - truth.local_pos[21, 0])


@pytest.mark.parametrize("frame", [0, 1, 30, -1])
def test_a_wild_frame_spoils_neither_itself_nor_its_neighbours(frame):
    truth = walk(30.0)
    source = shaken(truth, 2.0)
    quat = np.array(source.local_quat_wxyz)
    quat[frame, 4] = multiply(quat[frame, 4], from_rotation_vector(np.array([0.0, 1.0, 0.0])))
    clip, _ = filter_jitter(replace(source, local_quat_wxyz=quat))
    near = np.clip(frame % len(quat) + np.arange(-4, 5), 0, len(quat) - 1)
    apart = angle_between(clip.local_quat_wxyz[near, 4], truth.local_quat_wxyz[near, 4])
    assert apart.max() < np.radians(15.0)  # of 57


def test_who_walks_on_is_not_held_back_at_the_ends():
    truth = walk(30.0)
    found = [filter_jitter(shaken(truth, 2.5, 0.02, seed))[0].local_pos[[0, -1], 0] for seed in range(8)]
    away = np.mean(found, axis=0) - truth.local_pos[[0, -1], 0]
    speed = np.linalg.norm(truth.local_pos[-1, 0] - truth.local_pos[0, 0]) / truth.duration_s
    assert speed > 0.8
    assert np.linalg.norm(away, axis=-1).max() < 0.02  # a mean of those before it would be behind by some 5 cm


def test_a_few_frames_are_too_few_to_tell():
    clip = shaken(walk(30.0).frames(0, 8), 5.0)
    assert filter_jitter(clip)[0] is clip
