# SPDX-License-Identifier: GPL-3.0-or-later
"""Markers that people read and move, as ranges of styles."""

import pytest

from sinew.core.errors import BadMotion
from sinew.core.motion.marker_tags import name_markers, parse_markers


def ranges(*markers):
    return [(one.name, one.first, one.stop, one.is_proposal) for one in parse_markers(markers)]


def test_a_marker_names_the_frames_up_to_the_next():
    assert ranges(("sad", 3), ("-", 8), ("happy", 12)) == [("sad", 3, 8, False), ("happy", 12, None, False)]


def test_a_range_with_its_end_may_lie_over_others():
    markers = (("crouch", 10), ("turn", 20), ("turn end", 30), ("crouch end", 50), ("turn", 60), ("turn end", 60))
    assert ranges(*markers) == [("crouch", 10, 51, False), ("turn", 20, 31, False), ("turn", 60, 61, False)]


def test_an_end_that_was_lost_leaves_a_range_up_to_the_next_open_marker():
    assert ranges(("walk", 5), ("turn", 10), ("turn end", 12), ("run", 20)) == [
        ("walk", 5, 20, False),
        ("turn", 10, 13, False),
        ("run", 20, None, False),
    ]
    assert ranges(("turn end", 12)) == []


def test_a_question_mark_is_a_proposal():
    assert ranges(("walk? end", 9), ("walk?", 2)) == [("walk", 2, 10, True)]
    assert parse_markers([("walk? end", 9), ("walk?", 2)])[0].markers == (1, 0)
    assert name_markers("walk", True) == ("walk?", "walk? end")
    assert name_markers(" walk ", False) == ("walk", "walk end")


@pytest.mark.parametrize("name", ["", " - ", "?", "walk?", "walk end", "w" * 60])
def test_a_name_that_no_marker_could_have_is_refused(name):
    with pytest.raises(BadMotion, match="cannot be a style tag"):
        name_markers(name, False)
