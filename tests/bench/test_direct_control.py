# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows about motion matching: every search is right, and a row knows whether it misses its goal."""

import pytest

from directed_walks import make_walks
from sinew.bench import direct_control
from sinew.bench.direct import find_misses
from sinew.core.control.matching.directing import Directing


@pytest.fixture(scope="module")
def directing():
    library, body = make_walks()
    return Directing(body, library)


def test_every_search_that_is_compared_is_right(directing):
    rows = direct_control.compare_searches(directing, seed=0)
    assert len(rows) == 5 and [row["right"] for row in rows] == [1.0] * 5


def test_wishes_are_measured_against_their_goals(directing):
    (stands,) = direct_control.measure_standing(directing, seed=0)
    assert not find_misses(stands) and stands["held"] > 0.9
    assert find_misses({**stands, "drift_m": 1.0})
