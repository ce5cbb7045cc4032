# SPDX-License-Identifier: GPL-3.0-or-later
import numpy as np
import pytest

from sinew.core.control.bounds.initial_states import InitialStateConfig, InitialStateDistribution, InitialStates
from sinew.core.control.bounds.observations import reference_kinematics


def shown(reference, steps=60, copies=64, seed=3, hard=None):
    """Copies that go along the course for a while, and die where it is hard: what starts learn from."""
    rng = np.random.default_rng(seed)
    at = rng.integers(reference.steps, size=copies)
    frames, died = [], []
    for _ in range(steps):
        frames.append(at)
        at = (at + 1) % reference.steps
        falls = np.zeros(copies, dtype=bool) if hard is None else (at == hard)
        died.append(falls)
        at = np.where(falls, rng.integers(reference.steps, size=copies), at)
    flat = np.concatenate(frames)
    seen = reference_kinematics(reference, flat)
    died = np.array(died)
    after = np.array([*frames[1:], at])
    start = InitialStates(flat, np.array(seen.qpos), np.array(seen.qvel), seen.observations())
    return start, np.where(died, 0.0, 1.0), died, np.zeros_like(died), after


def test_episodes_begin_all_over_the_course_at_first(walk):
    starts = InitialStateDistribution(walk, InitialStateConfig(), np.random.default_rng(0))
    first = starts.sample(2000)
    assert set(first.at) == set(range(walk.steps))
    np.testing.assert_array_equal(first.qpos, walk.qpos[first.at])
    np.testing.assert_allclose(starts.segment_probabilities, 1.0 / starts.segments)


def test_they_begin_more_often_before_where_they_fail(walk):
    starts = InitialStateDistribution(walk, InitialStateConfig(), np.random.default_rng(0))
    for seed in range(5):
        starts.adapt(*shown(walk, seed=seed, hard=20))
    hard = starts.segment_of[19]
    assert starts.returns.argmin() == hard
    assert starts.segment_probabilities.argmax() == hard
    assert starts.segment_probabilities.max() > 1.5 * starts.segment_probabilities.min()
    assert starts.segment_probabilities.sum() == pytest.approx(1.0)
    assert starts.segment_probabilities.min() >= 0.2 / starts.segments
    begun = np.bincount(starts.segment_of[starts.sample(4000).at], minlength=starts.segments) / 4000
    np.testing.assert_allclose(begun, starts.segment_probabilities, atol=0.03)
    assert len(starts.curve) == 5
    assert starts.curve[-1]["chances"][hard] == pytest.approx(starts.segment_probabilities[hard], abs=1e-3)


def test_without_importance_they_begin_everywhere_alike(walk):
    starts = InitialStateDistribution(walk, InitialStateConfig(importance=False), np.random.default_rng(0))
    starts.adapt(*shown(walk, hard=20))
    np.testing.assert_allclose(starts.segment_probabilities, 1.0 / starts.segments)


def test_returns_are_what_comes_after(walk):
    starts = InitialStateDistribution(walk, InitialStateConfig(discount=0.5), np.random.default_rng(0))
    for seed in range(8):
        starts.adapt(*shown(walk, seed=seed))
    np.testing.assert_allclose(starts.returns, 2.0, atol=0.05)  # 1 + 1/2 + 1/4 ..., and nobody dies


def candidates(walk, copies=400):
    """States in the first segment, half of which are bent and do well, and half of which die at once."""
    at = np.ones(copies, dtype=np.int64)
    seen, good = reference_kinematics(walk, at), np.arange(copies) % 2 == 0
    qpos = np.array(seen.qpos)
    qpos[:, 2] += np.where(good, 0.05, -0.05)
    start = InitialStates(at, qpos, np.array(seen.qvel), seen.observations())
    return start, np.where(good, 1.0, 0.0)[None], ~good[None], np.zeros((1, copies), dtype=bool), at[None] + 1


def test_states_that_did_well_are_begun_in_again(walk):
    starts = InitialStateDistribution(walk, InitialStateConfig(evolution=True), np.random.default_rng(0))
    starts.adapt(*candidates(walk))
    first = starts.sample(8000)
    own = first.at == 1
    raised = first.qpos[own, 2] > walk.qpos[1, 2]
    # Equation 12: e times as often as those that did worst.
    assert raised.mean() == pytest.approx(np.e / (1.0 + np.e), abs=0.15)
    assert starts.curve[-1]["apart"][0] == pytest.approx(0.0, abs=1e-6)


def test_without_evolution_they_stay_on_the_course(walk):
    starts = InitialStateDistribution(walk, InitialStateConfig(evolution=False), np.random.default_rng(0))
    starts.adapt(*candidates(walk))
    first = starts.sample(2000)
    np.testing.assert_array_equal(first.qpos, walk.qpos[first.at])


def test_what_somebody_has_shown_is_begun_in_and_so_is_the_first_state_of_the_course(walk):
    starts = InitialStateDistribution(walk, InitialStateConfig(), np.random.default_rng(0))
    plain = starts.sample(500)
    raised = np.array(plain.qpos)
    raised[:, 2] += 0.1
    starts.fill_buffers(InitialStates(plain.at, raised, plain.qvel, plain.observed))
    begun = starts.sample(5000)
    own = np.isclose(begun.qpos[:, 2], walk.qpos[begun.at, 2])
    assert own.mean() == pytest.approx(0.2, abs=0.03)
    assert not begun.at[own].any()
    np.testing.assert_array_equal(begun.qvel[own], walk.qvel[begun.at[own]])
    again = InitialStateDistribution(walk, InitialStateConfig(), np.random.default_rng(1))
    again.restore(starts.state())
    assert again.demonstrated


def test_put_back_they_are_the_same(walk):
    first, second = (
        InitialStateDistribution(walk, InitialStateConfig(evolution=True), np.random.default_rng(seed))
        for seed in (0, 1)
    )
    first.adapt(*shown(walk, hard=20))
    first.sample(50)
    second.restore(first.state())
    np.testing.assert_array_equal(first.segment_probabilities, second.segment_probabilities)
    assert first.curve == second.curve
    for name, values in first.state().items():
        np.testing.assert_array_equal(values, second.state()[name])
