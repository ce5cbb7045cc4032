# SPDX-License-Identifier: GPL-3.0-or-later
"""Guided walks give examples of what did well: what is known is done as it is known, the rest is tried around it."""

import numpy as np
import pytest

from sinew.core.control.graph.learning.graph_lqr import solve_graph_lqr
from sinew.core.control.graph.learning.guided_samcon import GuidedSamcon
from sinew.core.control.graph.model.policies import regress_policy, zero_policies

COPIES, POPULATIONS, STEPS = 32, 4, 30


@pytest.fixture(scope="module")
def guided(walker, arena_of):
    """Makes guided walks through the learned walk. locked: fragments that are known."""
    simulator = arena_of(walker.track, COPIES)
    balance, gauge = solve_graph_lqr(
        walker.track,
        simulator.reference,
        simulator.world,
        simulator.features,
        walker.structure.successors,
        np.random.default_rng(0),
    )

    def make(locked=(), **pushes) -> GuidedSamcon:
        known = np.isin(np.arange(12), list(locked))
        return GuidedSamcon(
            simulator,
            gauge,
            balance,
            POPULATIONS,
            lambda fragments, _: (fragments + 1) % 12,
            lambda rng: int(rng.integers(12)),
            known,
            **pushes,
        )

    return make


def walked(guided, policies, lqr_guided=False, seed=1):
    return guided.sample_walks(policies, STEPS, lqr_guided, np.random.default_rng(seed), lambda: None)


def test_every_population_leaves_one_example_of_each_fragment_that_it_walked(guided, walker):
    examples = walked(guided(), walker.policies)
    assert examples.lost == 0 and len(examples.cost) == STEPS
    assert sum(len(some) for some in examples.states) == POPULATIONS * STEPS
    for fragment in range(12):
        states, actions = examples.of(fragment)
        assert states.shape == (len(states), 18) and actions.shape == (len(states), 11)


def test_where_all_is_known_nothing_else_is_tried(guided, walker):
    examples = walked(guided(locked=range(6)), walker.policies)
    for fragment in range(12):
        states, actions = examples.of(fragment)
        asked = walker.policies.mean_actions(np.full(len(states), fragment), states)
        tried = np.abs(actions - asked).max() if len(states) else 0.0
        assert tried == 0.0 if fragment < 6 else tried > 0.005, fragment


def test_foresight_keeps_up_who_knows_nothing_yet(guided, walker):
    nothing = zero_policies(walker.policies.states, 11)
    with_it, without = (walked(guided(), nothing, lqr_guided=lqr_guided).lost for lqr_guided in (True, False))
    assert with_it <= without and with_it <= 1


def test_states_explain_what_was_done_in_them(guided, walker):
    """Pushed about, foresight does different things, and feedback on 18 numbers can tell which."""
    nothing = zero_policies(walker.policies.states, 11)
    examples = walked(guided(push_n=100.0, push_probability=0.3), nothing, lqr_guided=True)
    states = np.concatenate([examples.of(fragment)[0] for fragment in range(12)])
    actions = np.concatenate([examples.of(fragment)[1] for fragment in range(12)])
    found = regress_policy(states, actions, guided().simulator.features.scale)
    rest = np.var(actions - found.unclipped_actions(np.zeros(len(states), dtype=int), states), axis=0)
    assert (rest < np.var(actions, axis=0)).all()


def test_the_same_walks_for_the_same_seed(guided, walker):
    one, other, third = (walked(guided(push_n=50.0), walker.policies, seed=seed) for seed in (1, 1, 2))
    assert one.cost == other.cost != third.cost
    assert all(np.array_equal(one.of(f)[1], other.of(f)[1]) for f in range(12))


def test_who_is_pushed_over_begins_anew_and_what_led_to_it_is_forgotten(guided, walker):
    examples = walked(guided(push_n=6000.0, push_probability=0.5), walker.policies)
    assert examples.lost > 0
    assert sum(len(some) for some in examples.states) < POPULATIONS * STEPS
    assert all(np.isfinite(states).all() for fragment in range(12) for states in examples.of(fragment))
