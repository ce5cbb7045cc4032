# SPDX-License-Identifier: GPL-3.0-or-later
"""What trails tell: falls, how long they took, and with what the time was spent."""

import numpy as np
import pytest

from sinew.core.control.graph.model.structure import Chain, GraphStructure
from sinew.core.control.graph.testing.fall_records import falls_of, seconds_in
from sinew.core.control.tracking.reference import CONTROL_FPS

WALK, RUN, RISE, WAY, DOWN = 0, 1, 2, 3, -1
LAYOUT = GraphStructure(
    (
        Chain("walk", "cycle", 0, 0, 1),
        Chain("run", "cycle", 1, 1, 1),
        Chain("getup", "rise", 2, 2, 1),
        Chain("walk>run", "transition", 1, 3, 1),
    ),
    ((0, 3), (1,), (0,), (1,)),
)


def fragment_row(*parts):
    """Fragments with how many seconds each."""
    return np.concatenate([np.full(round(seconds * CONTROL_FPS), fragment) for fragment, seconds in parts])


def test_who_never_falls_has_no_falls():
    assert falls_of(LAYOUT, fragment_row((WALK, 3.0), (WAY, 0.4), (RUN, 2.0))) == []


def test_getting_up_is_not_yet_being_up():
    (fall,) = falls_of(LAYOUT, fragment_row((WALK, 3.0), (DOWN, 2.0), (RISE, 4.0), (WALK, 2.0)))
    assert (fall.fell_s, fall.up_s, fall.doing) == (pytest.approx(3.0), pytest.approx(9.0), "walk")
    assert fall.within(6.0 + 1e-9) and not fall.within(5.9)
    assert fall.to_mapping() == {"fell_s": 3.0, "up_s": 9.0, "in": "walk"}


def test_who_goes_down_again_at_once_was_never_up():
    (fall,) = falls_of(LAYOUT, fragment_row((WAY, 1.0), (DOWN, 1.0), (RISE, 1.0), (RUN, 0.5), (DOWN, 2.0), (RUN, 2.0)))
    assert (fall.fell_s, fall.up_s, fall.doing) == (pytest.approx(1.0), pytest.approx(5.5), "walk>run")
    first, second = falls_of(LAYOUT, fragment_row((RUN, 0.5), (DOWN, 1.0), (RUN, 1.5), (DOWN, 1.0), (RUN, 2.0)))
    assert first.up_s == pytest.approx(1.5) and second.fell_s == pytest.approx(3.0)


@pytest.mark.parametrize("last", [(DOWN, 2.0), (RISE, 2.0), (WALK, 0.5)])
def test_who_is_not_up_for_long_enough_at_the_end_never_was(last):
    (fall,) = falls_of(LAYOUT, fragment_row((RUN, 2.0), (DOWN, 1.0), last))
    assert fall.up_s is None and not fall.within(1000.0)
    assert fall.to_mapping()["up_s"] is None


def test_time_is_spent_in_skills_transitions_and_lying():
    found = seconds_in(LAYOUT, fragment_row((WALK, 3.0), (WAY, 0.5), (RUN, 2.0), (DOWN, 1.0), (RISE, 1.5)))
    assert found == {"walk": 3.0, "run": 2.0, "getup": 1.5, "transitions": 0.5, "down": 1.0}
