# SPDX-License-Identifier: GPL-3.0-or-later
"""The LQR solution is the exact answer to the linear problem, as others compute it."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.linalg import solve_discrete_are

from sinew.core.control.tracking import lqr as lqr_module
from sinew.core.control.tracking.linear_dynamics import LinearModels
from sinew.core.control.tracking.lqr import MAX_OFFSET, LqrSolution, solve_lqr

NX, NU, NY = 4, 2, 7
PRICE = lqr_module._CONTROL_COST / NU


@pytest.fixture
def problem():
    """A tracking_error and random models of six fragments, which see more than the state and drift by themselves."""
    rng = np.random.default_rng(0)
    tracking_error = SimpleNamespace(nx=NX, nu=NU, servos=np.arange(NU), weights=rng.uniform(5.0, 50.0, NY))
    return tracking_error, LinearModels(0.4 * rng.normal(size=(6, NY, NX + NU)), 0.05 * rng.normal(size=(6, NY)))


def played(tracking_error, models, start, offsets, curve=None, slant=None):
    """What offsets (F, nu) cost from a deviation (nx,)."""
    state, cost = start, 0.0
    for slopes, base, offset in zip(models.jacobian, models.bias, offsets, strict=True):
        seen = base + slopes @ np.concatenate([state, offset])
        cost += 0.5 * seen @ (tracking_error.weights * seen) + 0.5 * PRICE * offset @ offset
        state = seen[:NX]
    return cost if curve is None else cost + 0.5 * state @ curve @ state + slant @ state


def best(tracking_error, models, start, *after):
    """(F, nu) the offsets that cost least, by solving for all of them at once."""
    count = len(models.bias) * NU
    zero, unit = np.zeros(count), np.eye(count)

    def cost(flat):
        return played(tracking_error, models, start, flat.reshape(-1, NU), *after)

    at_zero, ones = cost(zero), np.array([cost(row) for row in unit])
    square = np.array([[cost(one + other) for other in unit] for one in unit]) - ones[:, None] - ones + at_zero
    line = ones - at_zero - 0.5 * np.diag(square)
    return np.linalg.solve(square, -line).reshape(-1, NU)


def followed(lqr, models, start):
    """(F, nu) the offsets that the LQR solution asks for along the trajectory."""
    state, found = start, []
    for index, (slopes, base) in enumerate(zip(models.jacobian, models.bias, strict=True)):
        found.append(lqr.offsets(index, state[None])[0])
        state = (base + slopes @ np.concatenate([state, found[-1]]))[:NX]
    return np.array(found)


def test_it_finds_what_solving_for_everything_at_once_finds(problem):
    tracking_error, models = problem
    lqr = solve_lqr(tracking_error, models)
    for start in 0.1 * np.random.default_rng(1).normal(size=(3, NX)):
        expected = best(tracking_error, models, start)
        assert 0.005 < np.abs(expected).max() < MAX_OFFSET  # there is something to do, and nothing is clipped
        np.testing.assert_allclose(followed(lqr, models, start), expected, atol=1e-9)


def test_what_comes_after_the_last_fragment_counts(problem):
    tracking_error, models = problem
    root = np.random.default_rng(2).normal(size=(NX, NX))
    after = 20.0 * root @ root.T, np.array([1.0, -2.0, 0.5, 0.0])
    start = np.full(NX, 0.05)
    lqr = solve_lqr(tracking_error, models, *after)
    np.testing.assert_allclose(followed(lqr, models, start), best(tracking_error, models, start, *after), atol=1e-9)
    assert (
        np.abs(followed(lqr, models, start) - followed(solve_lqr(tracking_error, models), models, start)).max() > 1e-3
    )


def test_worth_is_what_the_rest_costs_but_for_a_constant(problem):
    tracking_error, models = problem
    lqr = solve_lqr(tracking_error, models)
    starts = 0.1 * np.random.default_rng(3).normal(size=(5, NX))
    for index in (0, 3, 5):
        rest = LinearModels(models.jacobian[index:], models.bias[index:])
        costs = np.array([played(tracking_error, rest, start, best(tracking_error, rest, start)) for start in starts])
        worth = lqr.value(index, starts)
        np.testing.assert_allclose(worth - worth[0], costs - costs[0], atol=1e-9)
    np.testing.assert_array_equal(lqr.value(6, starts), 0.0)


def test_in_the_long_run_it_is_the_regulator_of_the_riccati_equation():
    rng = np.random.default_rng(4)
    step, drive = np.eye(NX) + 0.2 * rng.normal(size=(NX, NX)), 0.5 * rng.normal(size=(NX, NU))
    weights = np.array([10.0, 5.0, 20.0, 1.0])
    tracking_error = SimpleNamespace(nx=NX, nu=NU, servos=np.arange(NU), weights=weights)
    models = LinearModels(np.tile(np.hstack([step, drive]), (300, 1, 1)), np.zeros((300, NX)))
    lqr = solve_lqr(tracking_error, models)
    cost = solve_discrete_are(step, drive, np.diag(weights), PRICE * np.eye(NU))
    gain = -np.linalg.solve(PRICE * np.eye(NU) + drive.T @ cost @ drive, drive.T @ cost @ step)
    np.testing.assert_allclose(lqr.gains[0], gain, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(lqr.value_hessian[0], cost - np.diag(weights), rtol=1e-6, atol=1e-6)
    assert not lqr.feedforward.any()


def test_servos_that_are_not_steered_are_asked_for_nothing(problem):
    tracking_error, models = problem
    full = solve_lqr(tracking_error, models)
    wide = solve_lqr(SimpleNamespace(nx=NX, nu=4, servos=np.array([1, 3]), weights=tracking_error.weights), models)
    assert not wide.gains[:, [0, 2]].any() and not wide.feedforward[:, [0, 2]].any()
    np.testing.assert_array_equal(wide.gains[:, [1, 3]], full.gains)
    np.testing.assert_array_equal(wide.feedforward[:, [1, 3]], full.feedforward)
    np.testing.assert_array_equal(wide.value_hessian, full.value_hessian)


def test_since_is_the_same_guide_later(problem):
    tracking_error, models = problem
    lqr, deviation = solve_lqr(tracking_error, models), 0.1 * np.ones((3, NX))
    later = lqr.since(2)
    assert len(later.gains) == 4 and len(later.value_hessian) == 5
    for index in range(4):
        np.testing.assert_array_equal(later.offsets(index, deviation), lqr.offsets(index + 2, deviation))
    for index in range(5):
        np.testing.assert_array_equal(later.value(index, deviation), lqr.value(index + 2, deviation))


def test_worth_by_hand():
    lqr = LqrSolution(np.zeros((1, 1, 2)), np.zeros((1, 1)), np.array([[[2.0, 1.0], [1.0, 4.0]]] * 2), np.ones((2, 2)))
    # half of (2 * 9 + 2 * 3 * 1 + 4 * 1) and 3 + 1
    assert lqr.value(0, np.array([[3.0, 1.0], [0.0, 0.0]])).tolist() == [18.0, 0.0]


def test_it_never_asks_for_more_than_it_may(problem):
    tracking_error, models = problem
    asked = solve_lqr(tracking_error, models).offsets(0, 1e3 * np.random.default_rng(5).normal(size=(20, NX)))
    assert np.abs(asked).max() == MAX_OFFSET
