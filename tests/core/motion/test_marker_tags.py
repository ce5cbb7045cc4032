# SPDX-License-Identifier: GPL-3.0-or-later
"""Markers that people read and move, as ranges of styles."""

import random
import time

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


def slowly_parsed(markers):
    """The same by looking at all other markers for each, which is easy to see to be right: (first, stop, places)."""
    names = [name.strip() for name, _ in markers]
    order = sorted(range(len(markers)), key=lambda place: markers[place][1])
    begins = [place for place in order if not names[place].endswith(" end") and names[place].strip("- ?")]

    def end_of(place):
        first = markers[place][1]
        again = [markers[other][1] for other in begins if names[other] == names[place] and markers[other][1] > first]
        limit = min(again, default=float("inf"))
        fits = [i for i, name in enumerate(names) if name == f"{names[place]} end" and first <= markers[i][1] < limit]
        return min(fits, key=lambda i: markers[i][1], default=None)

    ends = {place: end_of(place) for place in begins}
    plain = [place for place in order if ends.get(place) is None and not names[place].endswith(" end")]
    found = []
    for place in begins:
        later = [markers[other][1] for other in plain if markers[other][1] > markers[place][1]]
        end = ends[place]
        stop = markers[end][1] + 1 if end is not None else min(later, default=None)
        found.append((names[place], markers[place][1], stop, (place,) if end is None else (place, end)))
    return found


@pytest.mark.parametrize("seed", range(40))
def test_any_markers_mean_what_looking_at_each_says(seed):
    rng = random.Random(seed)
    words = ["walk", "walk end", "walk?", "walk? end", "run", " run end ", "-", "end", " end", "", "? end"]
    markers = [(rng.choice(words), rng.randrange(12)) for _ in range(rng.randrange(25))]
    assert [
        (markers[one.markers[0]][0].strip(), one.first, one.stop, one.markers) for one in parse_markers(markers)
    ] == (slowly_parsed(markers))


def test_many_markers_are_read_in_one_pass():
    began = time.monotonic()
    assert len(parse_markers([(f"a{number}", float(-number)) for number in range(20_000)])) == 20_000
    assert len(parse_markers([(f"a{' end' if number % 2 else ''}", number) for number in range(20_000)])) == 10_000
    assert time.monotonic() - began < 5.0, "each looked at all others, which takes a minute"


def test_a_name_leaves_room_in_blenders_bytes():
    assert name_markers("歩" * 19, True) == ("歩" * 19 + "?", "歩" * 19 + "? end")
    with pytest.raises(BadMotion, match="58 bytes"):
        name_markers("歩" * 20, False)


@pytest.mark.parametrize("name", ["", " - ", "?", "walk?", "walk end", "w" * 60])
def test_a_name_that_no_marker_could_have_is_refused(name):
    with pytest.raises(BadMotion, match="cannot be a style tag"):
        name_markers(name, False)
