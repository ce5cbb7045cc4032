# SPDX-License-Identifier: GPL-3.0-or-later
"""Jacobians learn from samples what they say, and nothing else."""

import numpy as np
import pytest

from sinew.core.control.tracking.linear_dynamics import reference_fragments, roll_out_trials
from sinew.core.control.tracking.model_updates import update_jacobian
from sinew.core.control.tracking.shared_models import fit_shared_models
from sinew.core.control.tracking.tracking_error import OFFSET_SCALE

from ..sampling.toys import tracking_error_of, waving, world_of


@pytest.fixture(scope="module")
def error_and_world():
    world = world_of(40)
    yield tracking_error_of(world, waving(0.8)), world
    world.close()


def sampled(tracking_error, true, count, seed=0, directions=None):
    """State errors, offsets and outcomes of so many samples of a linear fragment that begins off its reference."""
    rng = np.random.default_rng(seed)
    reach = np.concatenate([tracking_error.scales, np.full(len(tracking_error.servos), OFFSET_SCALE)])
    inputs = rng.normal(size=(count, true.shape[1]))
    if directions is not None:
        inputs[:, directions:] = 0.0
    inputs = 0.4 + inputs
    known = inputs * reach
    offsets = np.zeros((count, tracking_error.nu))
    offsets[:, tracking_error.servos] = known[:, tracking_error.nx :]
    return known[:, : tracking_error.nx], offsets, known @ true.T + 0.3


def jacobians(tracking_error, seed=1):
    rng = np.random.default_rng(seed)
    shape = len(tracking_error.weights), tracking_error.nx + len(tracking_error.servos)
    return rng.normal(size=(2, *shape))


def test_many_samples_tell_all_and_few_what_they_see(error_and_world):
    tracking_error, _ = error_and_world
    true, before = jacobians(tracking_error)
    learned = update_jacobian(tracking_error, before, *sampled(tracking_error, true, 2000))
    assert np.abs(learned - true).max() < 0.02 and learned.dtype == np.float32
    some = update_jacobian(tracking_error, before, *sampled(tracking_error, true, 300, directions=5))
    assert np.abs(some - true)[:, :5].max() < 0.1  # a hundred samples to each that is believed beforehand
    np.testing.assert_allclose(some[:, 5:], before[:, 5:], atol=1e-6)  # nothing was seen of these
    few = update_jacobian(tracking_error, before, *sampled(tracking_error, true, 9))
    np.testing.assert_array_equal(few, before.astype(np.float32))


def test_what_was_abandoned_or_is_somewhere_else_teaches_nothing(error_and_world):
    tracking_error, _ = error_and_world
    true, before = jacobians(tracking_error)
    begun, offsets, outcome = sampled(tracking_error, true, 40)
    sound = update_jacobian(tracking_error, before, begun, offsets, outcome)
    worse = [np.concatenate([part, part[:3]]) for part in (begun, offsets, outcome)]
    worse[2][40] = np.nan
    worse[0][41:] += 50.0 * tracking_error.scales
    np.testing.assert_array_equal(update_jacobian(tracking_error, before, *worse), sound)


def test_a_model_of_elsewhere_comes_to_foretell_what_happens_here(error_and_world):
    """Models of the reference, in which nothing is asked of the servos, against what happens around an arm held off."""
    tracking_error, world = error_and_world
    (fragment,) = some = np.array([4])
    nominal = reference_fragments(tracking_error, some)
    model = fit_shared_models(world, tracking_error, nominal, 0.75, np.random.default_rng(0))
    rng = np.random.default_rng(2)
    size = tracking_error.nx + len(tracking_error.servos)
    reach = np.concatenate([tracking_error.scales, np.full(len(tracking_error.servos), OFFSET_SCALE)])
    aside = 3.0 * rng.normal(size=size) * reach

    def happens(count):
        away = aside + 0.3 * rng.normal(size=(count, size)) * reach
        found = roll_out_trials(world, tracking_error, nominal[np.zeros(count, dtype=int)], away, None)
        offsets = np.zeros((count, tracking_error.nu))
        offsets[:, tracking_error.servos] = away[:, tracking_error.nx :]
        return away[:, : tracking_error.nx], offsets, found

    def unforeseen(jacobian, begun, offsets, found):
        known = np.concatenate([begun, offsets[:, tracking_error.servos]], axis=-1)
        off = (found - found.mean(axis=0)) - (known - known.mean(axis=0)) @ jacobian.T
        return np.sqrt(np.mean(off**2 * tracking_error.weights))

    jacobian = model.jacobian[0]
    for _ in range(4):
        jacobian = update_jacobian(tracking_error, jacobian, *happens(40))
    seen = happens(40)
    assert fragment == 4 and unforeseen(jacobian, *seen) < 0.7 * unforeseen(model.jacobian[0], *seen)
