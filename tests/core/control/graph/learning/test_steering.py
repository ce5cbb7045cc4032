# SPDX-License-Identifier: GPL-3.0-or-later
"""What a gait has found out about turning is true: left is left, faster is faster, and nobody falls over it."""

import numpy as np
import pytest

from sinew.core.control.graph.learning.steering import learn_turn_offsets
from sinew.core.control.graph.model.control_graph import MAX_TURN_RATE
from sinew.core.control.graph.model.policies import zero_policies
from sinew.core.control.tracking.facing import twist_angle

COPIES = 16


def turned_by(simulator, graph, rate: float, cycles: int = 6):
    """(N,) radians that copies have turned left when they are asked to turn at a rate; nan for who fell."""
    batch = simulator.start(np.arange(COPIES) % 12)
    begun = simulator.world.pose_of(batch.states)[0][:, 3:7]
    total = np.zeros(COPIES)
    for _ in range(cycles):
        for _ in range(12):
            actions = graph.policies.mean_actions(batch.fragments, batch.observations)
            actions = actions + [graph.turn_action(fragment, rate) for fragment in batch.fragments]
            states, rows = simulator.execute(batch, actions)
            states[simulator.height_error(batch.fragments, rows) > 0.25] = np.nan
            batch = simulator.next_batch(states, rows, actions, (batch.fragments + 1) % 12)
        root = simulator.world.pose_of(batch.states)[0][:, 3:7]
        total += twist_angle(root, begun)
        begun = root
    return total


@pytest.fixture(scope="module")
def simulator(turner, arena_of):
    return arena_of(turner.track, COPIES)


def test_it_turns_as_fast_as_it_says_either_way_and_stays_on_its_feet(turner, simulator):
    fastest = float(turner.turn_rates[0])
    assert 0.0 <= fastest < MAX_TURN_RATE
    assert bool(fastest) == bool(turner.turns.any())  # who cannot turn does not try
    seconds = 6 * 1.2
    left, half, right = (turned_by(simulator, turner, rate) for rate in (fastest, 0.5 * fastest, -fastest))
    assert np.isfinite([left, half, right]).all()
    assert left.mean() / seconds == pytest.approx(fastest, rel=0.4, abs=0.03)
    assert right.mean() / seconds == pytest.approx(-fastest, rel=0.4, abs=0.03)
    assert half.mean() <= left.mean() + 0.2


def test_who_is_not_asked_to_turn_goes_straight(turner, simulator):
    assert np.abs(turned_by(simulator, turner, 0.0)).max() < 0.15


def test_a_gait_that_falls_cannot_turn(walker, arena_of):
    """Without feedback nobody stands the pushes from which turning is found."""
    nothing = zero_policies(walker.policies.states, 11)
    turns, rate = learn_turn_offsets(arena_of(walker.track, 44), nothing, walker.structure.chains[0], lambda: None)
    assert rate == 0.0 and not turns.any()
