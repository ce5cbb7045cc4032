# SPDX-License-Identifier: GPL-3.0-or-later
"""Muscle reaches a method as numbers from 0 to 1 at the clip's frames, and not at all where it is full."""

from types import SimpleNamespace

import numpy as np
import pytest

from sinew.core.control import muscle
from sinew.core.errors import BadFile, BadSettings
from sinew.core.motion import Clip, Skeleton


def clip(frames, fps=30.0):
    skeleton = Skeleton(("hips",), np.array([-1]), np.zeros((1, 3)), np.array([[1.0, 0, 0, 0]]), np.ones(1))
    return Clip(skeleton, fps, np.zeros((frames, 1, 3)), np.tile([1.0, 0, 0, 0], (frames, 1, 1)), "still")


def run_with(attachments):
    return SimpleNamespace(attachment=attachments.get)


def test_a_job_without_muscle_keys_has_all_of_it():
    assert muscle.load_muscle(run_with({}), clip(5)) is None
    assert muscle.make_muscle_attachment(np.ones(5), 30.0) == {}
    assert muscle.make_muscle_attachment(np.full(5, np.float32(0.9999999)), 30.0) == {}


def test_what_is_attached_comes_back_bit_for_bit():
    values = np.random.default_rng(0).uniform(0.0, 1.0, 200)
    found = muscle.load_muscle(run_with(muscle.make_muscle_attachment(values, 29.97)), clip(200, 29.97))
    assert np.array_equal(found, values)


def test_values_beyond_the_range_are_held_in_it():
    found = muscle.load_muscle(run_with(muscle.make_muscle_attachment(np.array([-0.5, 0.5, 1.5]), 30.0)), clip(3))
    assert found.tolist() == [0.0, 0.5, 1.0]


def test_a_clip_at_another_rate_gets_the_values_of_the_same_moments():
    found = muscle.load_muscle(run_with(muscle.make_muscle_attachment(np.array([1.0, 0.0, 0.0]), 10.0)), clip(5, 20.0))
    assert found == pytest.approx([1.0, 0.5, 0.0, 0.0, 0.0])


def test_a_damaged_attachment_is_named():
    with pytest.raises(BadFile, match="incomplete"):
        muscle.load_muscle(run_with({"muscle": ({}, {"fps": 30.0})}), clip(3))
    with pytest.raises(BadFile, match="no row of numbers"):
        muscle.load_muscle(run_with({"muscle": ({"muscle": np.array([np.nan])}, {"fps": 30.0})}), clip(3))


def test_keys_are_straight_lines_between_frames():
    keys = muscle.parse_muscle_keys("10:1,20:0,30:0,40:1")
    assert muscle.interpolate_muscle_keys(keys, np.array([1.0, 10, 15, 20, 25, 35, 50])).tolist() == [
        1,
        1,
        0.5,
        0,
        0,
        0.5,
        1,
    ]
    assert muscle.interpolate_muscle_keys(muscle.parse_muscle_keys("0.25"), np.array([1.0, 99.0])).tolist() == [
        0.25,
        0.25,
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("limp", "says not how much muscle"),
        ("1:1,40", "says not how much muscle"),
        ("1:1:1", "says not how much muscle"),
        ("", "says not how much muscle"),
        ("1:1,40:2", "Muscle is 2 at frame 40"),
        ("1:-1", "Muscle is -1"),
        ("1:nan", "Muscle is nan"),
        ("inf:1,2:1", "at frame inf"),
        ("40:0,1:1", "do not go up"),
        ("1:0,1:1", "do not go up"),
    ],
)
def test_wrong_keys_are_named_with_the_fix(text, said):
    with pytest.raises(BadSettings, match=said) as caught:
        muscle.parse_muscle_keys(text)
    assert caught.value.hint
