# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones are as long as a body can have them, whatever an importer guessed."""

import numpy as np
import pytest

from sinew.core.motion.bone_lengths import replace_impossible_lengths

# A hip, a knee, an ankle and the tip of a toe: 0.45 m, 0.4 m and 0.2 m apart.
PARENTS = np.array([-1, 0, 1, 2])
HEADS = np.array([[0.0, 0.0, 0.85], [0.0, 0.0, 0.4], [0.0, 0.0, 0.0], [0.0, -0.2, 0.0]])


def test_lengths_that_a_body_can_have_stay_to_the_bit():
    lengths = np.array([0.45, 0.4, 0.2, 0.08])
    assert np.array_equal(replace_impossible_lengths(PARENTS, HEADS, lengths), lengths)


def test_bones_a_hundred_times_too_long_end_where_the_next_one_begins():
    found = replace_impossible_lengths(PARENTS, HEADS, 100.0 * np.array([0.45, 0.4, 0.2, 0.2]))
    assert found[:3] == pytest.approx([0.45, 0.4, 0.2])
    assert found[3] == pytest.approx(0.2)  # what nothing follows is as long as the one before


def test_whatever_unit_the_bones_are_in():
    lengths = np.array([0.45, 40.0, 0.2, 0.08])
    assert replace_impossible_lengths(PARENTS, 1000.0 * HEADS, 1000.0 * lengths) == pytest.approx(
        1000.0 * replace_impossible_lengths(PARENTS, HEADS, lengths)
    )


def test_a_bone_alone_or_in_one_place_with_its_parent_keeps_its_length():
    assert replace_impossible_lengths(np.array([-1]), np.zeros((1, 3)), np.array([7.0])) == pytest.approx([7.0])
    assert replace_impossible_lengths(np.array([-1, 0]), np.zeros((2, 3)), np.array([1.0, 3.0])) == pytest.approx(
        [1.0, 3.0]
    )
