# SPDX-License-Identifier: GPL-3.0-or-later
"""Evolution strategies make policies robust to harder pushes; locked ones stay as they are, and gaits symmetric."""

from dataclasses import replace

import numpy as np
import pytest

from sinew.core.control.graph.learning import evolution_strategies
from sinew.core.control.graph.learning.curriculum import curriculum_stages
from sinew.core.control.graph.learning.evolution_strategies import EvolutionStrategy
from sinew.core.control.graph.learning.gait_symmetry import FragmentSymmetry
from sinew.core.control.graph.playing.push_tests import survived_fragments

COPIES = 144


@pytest.fixture(scope="module")
def make(walker, arena_of):
    """Practice of the learned walk. trainable: the fragments that are practised."""
    simulator = arena_of(walker.track, COPIES)
    symmetry = FragmentSymmetry(walker.body, walker.structure, simulator.features)

    def made(open_=range(12)) -> EvolutionStrategy:
        stage = replace(curriculum_stages(walker.structure)[0], trainable=np.array(open_))
        return EvolutionStrategy(simulator, stage, symmetry, lambda count, rng: rng.integers(0, 12, count))

    return made


def practised(some: EvolutionStrategy, policies, levels=200.0, rounds=1, seed=3):
    return some.improve(policies, np.full(12, levels), rounds, np.random.default_rng(seed), lambda: None)


@pytest.fixture(scope="module")
def weak(walker):
    """The walk with less feedback than it learned."""
    return replace(walker.policies, gains=0.6 * walker.policies.gains)


def test_who_practises_stands_harder_pushes(make, weak):
    simulator = make().simulator

    def share(policies) -> float:
        starts = np.arange(COPIES) % 12
        force = np.repeat(np.linspace(60.0, 390.0, 12), 12)[:, None]

        def pushes(step, ahead):
            return force * np.nan_to_num(ahead) if step == 1 else None

        return float(
            np.mean(survived_fragments(simulator, policies, starts, lambda some: (some + 1) % 12, 40, pushes) == 40)
        )

    before = share(weak)
    after = share(practised(make(), weak, rounds=6)[0])
    assert before < 0.8
    assert after > before + 0.1


def test_what_is_locked_stays_and_second_strides_mirror_the_first(make, walker):
    policies, _, _ = practised(make(), walker.policies)
    changed = np.abs(policies.gains - walker.policies.gains).max(axis=(1, 2))
    assert (changed > 0.0).all()
    mirrored = make().symmetry.symmetrize_policies(policies)
    assert np.array_equal(mirrored.gains, policies.gains) and np.array_equal(mirrored.actions, policies.actions)
    some = make(open_=[1, 2, 7, 8])
    policies, _, _ = practised(some, walker.policies)
    changed = np.abs(policies.gains - walker.policies.gains).max(axis=(1, 2)) > 1e-12
    assert np.flatnonzero(changed).tolist() == [1, 2, 7, 8]
    assert np.array_equal(policies.states, walker.policies.states)


def test_pushes_become_harder_where_they_are_stood_and_softer_where_not(make, walker):
    _, gentle, felled = practised(make(), walker.policies, levels=15.0)
    assert felled < 0.1 and (gentle >= 15.0).all() and (gentle > 15.0).sum() > 6
    _, hopeless, felled = practised(make(), walker.policies, levels=1400.0)
    assert felled > 0.9 and (hopeless <= 1400.0).all() and (hopeless < 1400.0).sum() > 6
    _, least, _ = practised(make(), walker.policies, levels=1.0)
    assert (least >= evolution_strategies._WEAKEST_N).all()


def test_practice_is_the_same_each_time_and_another_with_another_seed(make, walker):
    one, again, other = (practised(make(), walker.policies, seed=seed)[0] for seed in (3, 3, 4))
    assert np.array_equal(one.gains, again.gains) and np.array_equal(one.actions, again.actions)
    assert not np.array_equal(one.gains, other.gains)
