# SPDX-License-Identifier: GPL-3.0-or-later
"""Walkers that are pushed over come to lie, and where they lie get-ups begin."""

import numpy as np
import pytest

from sinew.core.control.graph.learning import fall_states
from sinew.core.control.graph.learning.fall_states import collect_fall_states
from sinew.core.control.graph.playing.ragdoll import RagdollController

COPIES = 16


@pytest.fixture(scope="module")
def found(faller, arena_of):
    """By the first fragment of a get-up, states in which it begins."""
    structure = faller.structure
    rises = np.array([chain.first for chain in structure.chains if chain.kind == "rise"])

    def after(some):
        return np.array([structure.successors[one][0] for one in some])

    simulator = arena_of(faller.track, COPIES)
    rng = np.random.default_rng(0)
    starts = rng.integers(structure.chain("walk").count, size=COPIES)
    breaths = []
    states = collect_fall_states(simulator, faller.policies, starts, after, rises, rng, lambda: breaths.append(1))
    assert len(breaths) <= fall_states._LONGEST
    return simulator, rises, states


def test_everybody_comes_to_lie_somewhere_and_is_counted_once(found):
    _, rises, states = found
    assert set(states) <= set(rises)
    assert sum(len(some) for some in states.values()) == COPIES
    assert all(np.isfinite(some).all() for some in states.values())


def test_they_lie_and_the_get_up_is_the_one_for_how_they_lie(found, faller):
    simulator, rises, states = found
    ragdoll = RagdollController(faller.track, rises)
    for rise, some in states.items():
        qpos, qvel = simulator.world.pose_of(some)
        assert (qpos[:, 2] < 0.5).all()  # the pelvis of who stands is at 0.85 m
        assert (ragdoll.control(qpos, qvel, np.full(len(some), 9.0)).rise == rise).all()
        assert np.median(np.linalg.norm(qvel[:, :3], axis=1)) < 0.3


def test_a_crowd_begins_get_ups_where_falls_ended(found):
    simulator, _, states = found
    rise, some = max(states.items(), key=lambda one: len(one[1]))
    simulator.entry_states = states
    try:
        fragments = np.array([rise, 0, rise, 3])
        calm = simulator.start(fragments)
        begun = simulator.start(fragments, np.random.default_rng(1))
    finally:
        simulator.entry_states = {}
    entered = [any(np.array_equal(state, one) for one in some) for state in begun.states]
    assert entered == [True, False, True, False]
    assert np.array_equal(begun.states[[1, 3]], calm.states[[1, 3]])
    assert np.array_equal(begun.observations[[1, 3]], calm.observations[[1, 3]])
    assert np.abs(begun.observations[0] - calm.observations[0]).max() > 1e-3  # and sees where it really is
