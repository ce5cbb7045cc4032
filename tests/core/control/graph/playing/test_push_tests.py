# SPDX-License-Identifier: GPL-3.0-or-later
"""A walk that was learned goes on, stands a push, and is told from one that does not."""

import numpy as np
import pytest

from sinew.core.control.graph.model.policies import zero_policies
from sinew.core.control.graph.playing.push_tests import find_hardest_push, survived_fragments

COPIES = 16


@pytest.fixture(scope="module")
def simulator(walker, arena_of):
    return arena_of(walker.track, COPIES)


def onward(fragments):
    return (fragments + 1) % 12


def pushed(newtons: float, at: int = 15):
    """A push from behind, of a tenth of a second."""
    return lambda step, ahead: newtons * np.nan_to_num(ahead) if step == at else None


def test_a_learned_walk_goes_on_for_half_a_minute_whatever_it_begins_with(walker, simulator):
    assert (survived_fragments(simulator, walker.policies, np.arange(COPIES) % 12, onward, 300) == 300).all()


def test_without_feedback_it_falls(walker, simulator):
    nothing = zero_policies(walker.policies.states, 11)
    lasted = survived_fragments(simulator, nothing, np.arange(COPIES) % 12, onward, 300)
    assert np.median(lasted) < 150


def test_a_push_of_100_n_is_stood_and_one_of_1500_n_is_not(walker, simulator):
    starts = np.arange(COPIES) % 12
    assert (survived_fragments(simulator, walker.policies, starts, onward, 80, pushed(100.0)) == 80).mean() > 0.9
    down = survived_fragments(simulator, walker.policies, starts, onward, 60, pushed(1500.0))
    assert (down < 60).all() and (down >= 15).all()  # not before they were pushed


def test_the_hardest_push_is_the_last_before_the_first_that_fells(walker, simulator):
    calls = []

    def counted(fragments):
        calls.append(1)
        return onward(fragments)

    force, stood = find_hardest_push(simulator, walker.policies, 0, counted, 12, cycles=3)
    assert stood.shape == (COPIES,) and stood[0]
    assert force == 10.0 * (COPIES - 1 if stood.all() else np.argmin(stood) - 1)
    assert force >= 100.0
    assert len(calls) == 12 * 4


def test_trials_are_the_same_each_time(walker, simulator):
    starts = np.arange(COPIES) % 12
    one, other = (survived_fragments(simulator, walker.policies, starts, onward, 60, pushed(400.0)) for _ in range(2))
    assert np.array_equal(one, other)
