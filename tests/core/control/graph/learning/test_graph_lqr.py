# SPDX-License-Identifier: GPL-3.0-or-later
"""Foresight: feedback from linear models keeps a walk up that falls without it, and knows what will cost."""

import numpy as np
import pytest

from sinew.core.control.graph.learning.graph_lqr import deviations, solve_graph_lqr
from sinew.core.control.graph.model.policies import MAX_ACTION
from sinew.core.control.tracking.facing import rotate_pose_about_z

COPIES, STEPS = 16, 60


@pytest.fixture(scope="module")
def simulator(walker, arena_of):
    return arena_of(walker.track, COPIES)


@pytest.fixture(scope="module")
def found(walker, simulator):
    rng = np.random.default_rng(0)
    return solve_graph_lqr(
        walker.track, simulator.reference, simulator.world, simulator.features, walker.structure.successors, rng
    )


def walked(walker, simulator, feedback, steps: int = STEPS):
    """(N,) how many fragments copies, begun a little off the track, walked upright with a feedback."""
    rng = np.random.default_rng(1)
    starts = np.arange(COPIES) % 12
    batch = simulator.start(starts)
    qpos, qvel = simulator.world.pose_of(batch.states)
    batch.states = simulator.world.state_of(qpos, qvel + rng.normal(scale=0.05, size=qvel.shape))
    lasted = np.full(COPIES, steps)
    for step in range(steps):
        actions = feedback(batch)
        states, rows = simulator.execute(batch, actions)
        lasted = np.where((simulator.height_error(batch.fragments, rows) > 0.25) & (lasted == steps), step, lasted)
        batch = simulator.next_batch(states, rows, actions, (batch.fragments + 1) % 12)
    return lasted


def test_feedback_keeps_a_walk_up_that_falls_without_it(walker, simulator, found):
    balance, gauge = found

    def foreseen(batch):
        aside = deviations(walker.track, gauge, batch.fragments, *simulator.world.pose_of(batch.states))
        return np.clip(balance.actions(batch.fragments, aside), -MAX_ACTION, MAX_ACTION)

    without = walked(walker, simulator, lambda batch: np.zeros((COPIES, 11)))
    assert (without == STEPS).mean() < 0.25
    assert (walked(walker, simulator, foreseen) == STEPS).mean() > 0.75


def test_deviations_know_nothing_of_place_and_heading(walker, simulator, found):
    _, gauge = found
    rng, fragments = np.random.default_rng(2), np.arange(8)
    track = walker.track
    assert deviations(track, gauge, fragments, track.qpos[:8, 0], track.rates[:8, 0]) == pytest.approx(0.0, abs=1e-9)
    qpos = track.space.integrate(track.qpos[:8, 0], rng.normal(scale=0.05, size=(8, track.body.nv)))
    qvel = track.rates[:8, 0] + rng.normal(scale=0.1, size=(8, track.body.nv))
    before = deviations(track, gauge, fragments, qpos, qvel)
    qpos, qvel = rotate_pose_about_z(rng.uniform(-3.0, 3.0, 8), qpos, qvel)
    qpos[:, :2] += rng.normal(scale=10.0, size=(8, 2))
    assert deviations(track, gauge, fragments, qpos, qvel) == pytest.approx(before, abs=1e-8)


def test_what_deviations_will_cost_is_never_negative_but_for_a_slant(found):
    balance, _ = found
    for curve in balance.value_hessians:
        assert curve == pytest.approx(curve.T, abs=1e-9)
        assert np.linalg.eigvalsh(curve).min() > -1e-6 * np.linalg.eigvalsh(curve).max()


def test_who_will_fall_is_foreseen(walker, simulator, found):
    """Of copies that are shoved by more and more, those that foresight thinks least of do worst without feedback."""
    balance, gauge = found
    batch = simulator.start(np.zeros(COPIES, dtype=int))
    qpos, qvel = simulator.world.pose_of(batch.states)
    qvel = np.array(qvel)
    qvel[:, 1] += np.linspace(0.0, 1.5, COPIES)
    worth = balance.value(batch.fragments, deviations(walker.track, gauge, batch.fragments, qpos, qvel))
    assert (np.diff(worth[2:]) > 0.0).all()
    batch.states = simulator.world.state_of(qpos, qvel)
    off = np.zeros(COPIES)
    for _ in range(8):
        states, rows = simulator.execute(batch, np.zeros((COPIES, 11)))
        off += simulator.height_error(batch.fragments, rows)
        batch = simulator.next_batch(states, rows, np.zeros((COPIES, 11)), (batch.fragments + 1) % 12)
    assert np.corrcoef(np.argsort(np.argsort(worth)), np.argsort(np.argsort(off)))[0, 1] > 0.7


def test_fragments_that_nothing_follows_are_left_out(walker, simulator):
    follows = [*walker.structure.successors[:-1], ()]
    balance, _ = solve_graph_lqr(
        walker.track, simulator.reference, simulator.world, simulator.features, follows, np.random.default_rng(0)
    )
    assert not balance.gains[-1].any() and not balance.value_hessians[-1].any() and balance.gains[0].any()
