# SPDX-License-Identifier: GPL-3.0-or-later
"""Shared models: a cycle's fragments have one Jacobian, each its own bias; nothing is shared where places differ."""

from dataclasses import replace

import numpy as np
import pytest

from sinew.core.control.sampling.plan import reference_fragments
from sinew.core.control.tracking.linear_dynamics import fit_linear_models, roll_out_trials, start_errors
from sinew.core.control.tracking.rollout import RolloutMeter
from sinew.core.control.tracking.shared_models import centre_models, fit_shared_models, group_similar_fragments
from sinew.core.geometry.quaternions import from_rotation_vector
from sinew.core.motion import Clip
from sinew.core.sim.stage import Terrain

from ..sampling.toys import PLATE, tracking_error_of, waver, waving, world_of


def swinging(cycles: int = 3, period: int = 12) -> Clip:
    """An arm that swings to and fro, a cycle in 0.4 s, on a plate that is moved aside in each."""
    one = waving(0.1)
    count = cycles * period + 1
    phase = 2.0 * np.pi * np.arange(count) / period
    turn = np.zeros((count, 3, 3))
    turn[:, 1, 2] = 0.5 * np.sin(phase)
    pos = np.tile(waver().skeleton.rest_pos, (count, 1, 1))
    pos[:, 0] = 0.0, 0.0, PLATE
    return Clip(one.skeleton, 30.0, pos, from_rotation_vector(turn), "swing")


@pytest.fixture(scope="module")
def fitted():
    world = world_of(40)
    tracking_error = tracking_error_of(world, swinging())
    nominal = reference_fragments(tracking_error, np.arange(tracking_error.reference.fragments))
    yield world, tracking_error, nominal
    world.close()


def test_cycles_are_found_whatever_their_number(fitted):
    world, tracking_error, nominal = fitted
    leaders, group = group_similar_fragments(world, tracking_error, nominal)
    assert len(leaders) < len(nominal.fragments) / 2
    np.testing.assert_array_equal(leaders[group][leaders], leaders)  # a leader leads itself
    assert set(group) == set(range(len(leaders)))
    # The first cycle but for its very beginning, and the last but for its end, are alike phase by phase.
    np.testing.assert_array_equal(group[4:7], group[8:11])


def test_models_of_cycles_are_those_of_each_for_less(fitted):
    world, tracking_error, nominal = fitted
    each, shared = RolloutMeter(60), RolloutMeter(60)
    alone = fit_linear_models(world, tracking_error, nominal, 0.5, np.random.default_rng(0), meter=each)
    found = fit_shared_models(world, tracking_error, nominal, 0.5, np.random.default_rng(1), meter=shared)
    assert shared.steps < 0.7 * each.steps
    scales = np.concatenate([tracking_error.scales, np.full(len(tracking_error.servos), 0.15)])
    again = fit_linear_models(world, tracking_error, nominal, 0.5, np.random.default_rng(2))
    # Trials in other directions say something else in contact: shared models may be off by as much, and little more.
    for name, unit in (("jacobian", scales), ("bias", 1.0)):
        noise = np.linalg.norm((getattr(again, name) - getattr(alone, name)) * unit)
        assert np.linalg.norm((getattr(found, name) - getattr(alone, name)) * unit) < 1.3 * noise


def test_nothing_is_shared_where_places_differ():
    world = world_of(20, terrain=Terrain(np.zeros((4, 4)), 1.0, (-2.0, -2.0)))
    try:
        tracking_error = tracking_error_of(world, swinging())
        nominal = reference_fragments(tracking_error, np.arange(tracking_error.reference.fragments))
        leaders, group = group_similar_fragments(world, tracking_error, nominal)
        np.testing.assert_array_equal(leaders, np.arange(len(nominal.fragments)))
        np.testing.assert_array_equal(group, leaders)
    finally:
        world.close()


def test_a_limp_moment_is_not_like_one_with_strength():
    world = world_of(20)
    try:
        clip = swinging()
        muscle = np.where(np.arange(len(clip)) < len(clip) // 2, 1.0, 0.2)
        tracking_error = tracking_error_of(world, clip, muscle)
        fragments = np.arange(tracking_error.reference.fragments)
        leaders, group = group_similar_fragments(world, tracking_error, reference_fragments(tracking_error, fragments))
        strength = tracking_error.reference.muscle[tracking_error.reference.frames_of_many(fragments)[:, -1]]
        np.testing.assert_array_equal(strength[leaders][group], strength)
    finally:
        world.close()


def test_known_jacobians_around_another_trajectory_say_where_that_leads(fitted):
    world, tracking_error, nominal = fitted
    models = fit_linear_models(world, tracking_error, nominal, 0.5, np.random.default_rng(0))
    offsets = np.random.default_rng(1).normal(size=nominal.offsets.shape) * 0.05
    other = replace(nominal, offsets=offsets)
    again = centre_models(world, tracking_error, models.jacobian, np.zeros_like(models.bias), other)
    np.testing.assert_array_equal(again.jacobian, models.jacobian)
    told = again.bias + np.einsum("fyn,fn->fy", again.jacobian, start_errors(world, tracking_error, other))
    nothing = np.zeros((len(offsets), models.jacobian.shape[-1]))
    np.testing.assert_allclose(told, roll_out_trials(world, tracking_error, other, nothing, None), atol=1e-9)
    assert np.abs(again.bias - models.bias).max() > 1e-4  # it is not the reference's
