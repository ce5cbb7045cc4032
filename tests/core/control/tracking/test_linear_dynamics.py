# SPDX-License-Identifier: GPL-3.0-or-later
"""Linear models of fragments: they foretell trials that they have not seen, and are not led astray by broken ones."""

import numpy as np
import pytest

from sinew.core.control.tracking.linear_dynamics import LinearModels, fit_linear_models
from sinew.core.control.tracking.reference import CONTROL_FPS
from sinew.core.control.tracking.tracking_error import OFFSET_SCALE

from ..sampling.toys import PLATE, gauge_of, waving, world_of


def looked(world, gauge, scale=0.75, anchors=None, starts=None, seed=0):
    """Models of every fragment along the reference."""
    reference = gauge.reference
    some = np.arange(reference.fragments)
    starts = reference.states[reference.frame_before(some)] if starts is None else starts
    offsets = np.zeros((len(some), gauge.nu))
    return fit_linear_models(world, gauge, some, starts, offsets, offsets, scale, np.random.default_rng(seed), anchors)


def trials(world, gauge, fragment, count, scale, seed=5):
    """What was changed (count, nx + servos) and what was seen (count, ny), of trials in directions of their own."""
    reference, rng, body = gauge.reference, np.random.default_rng(seed), gauge.reference.body
    reach = scale * np.concatenate([gauge.far, np.full(len(gauge.servos), OFFSET_SCALE)])
    aside = rng.normal(size=(count, len(reach))) * reach
    start = np.tile(reference.states[reference.frame_before(np.array([fragment]))], (world.copies, 1))
    pose, rates, asked = (np.zeros((world.copies, size)) for size in (body.nv, body.nv, body.nu))
    half = gauge.nx // 2
    pose[:count, gauge.dofs], rates[:count, gauge.dofs] = aside[:, :half], aside[:, half : gauge.nx]
    asked[:count, gauge.servos] = aside[:, gauge.nx :]
    qpos, qvel = world.pose_of(start)
    states = world.replace_pose(start, reference.space.integrate(qpos, pose), qvel + rates)
    frames = reference.frames_of(fragment)
    targets = reference.aims(np.full(world.copies, fragment), np.zeros_like(asked), asked)
    ends, rows = world.rollout(states, targets, substeps=round(1 / (CONTROL_FPS * world.dt_s)))
    still = np.zeros((world.copies, 2))
    deviation = gauge.state(*world.pose_of(ends[:, -1]), int(frames[-1]), still)
    return aside, gauge.seen(deviation, rows.link_pos[:, -1], int(frames[-1]), still)[:count]


def explained(models, fragment, aside, seen):
    """Share of what is seen to vary that the models foretell, over everything seen, each in its own measure."""
    told = models.base[fragment] + aside @ models.slopes[fragment].T
    spread = seen.std(0)
    felt = spread > 1e-6
    return 1.0 - np.mean(((told - seen)[:, felt] / spread[felt]) ** 2)


@pytest.mark.parametrize("engine", ["mujoco", "bullet"])
def test_in_flight_they_foretell_trials_they_have_not_seen(engine):
    world = world_of(48, engine)
    try:
        gauge = gauge_of(world, waving(0.3, height=3.0))
        models = looked(world, gauge)
        assert models.slopes.shape == (3, len(gauge.weights), gauge.nx + len(gauge.servos))
        for fragment in range(3):
            assert explained(models, fragment, *trials(world, gauge, fragment, 40, 0.5)) > 0.97
    finally:
        world.close()


def test_on_the_ground_they_foretell_most():
    world = world_of(48)
    gauge = gauge_of(world, waving(0.4))
    # Contacts bend things: a third of what varies is told, of which guessing that nothing changes tells none.
    aside, seen = trials(world, gauge, 1, 40, 0.1)
    models = looked(world, gauge, 0.1)
    flat = LinearModels(np.zeros_like(models.slopes), models.base)
    assert explained(models, 1, aside, seen) > 0.25 > explained(flat, 1, aside, seen) + 0.2
    world.close()


def test_in_free_flight_slopes_are_those_of_free_flight():
    """The root goes on by its speed times the fragment, and nothing else of the state does it."""
    world = world_of(48)
    gauge = gauge_of(world, waving(0.2, height=3.0))
    slopes = looked(world, gauge).slopes[0]
    nv = gauge.nx // 2
    seconds = 6 / CONTROL_FPS
    # The whole body's centre moves freely: a higher, faster start of the root alone shows in the root's own place.
    np.testing.assert_allclose(np.diag(slopes[:3, :3]), 1.0, atol=0.02)
    np.testing.assert_allclose(np.diag(slopes[:3, nv : nv + 3]), seconds, rtol=0.05)
    world.close()


def test_the_base_is_what_is_seen_without_any_deviation():
    world = world_of(48)
    gauge = gauge_of(world, waving(0.2, height=3.0))
    models = looked(world, gauge, 0.3)
    _, calm = trials(world, gauge, 0, 1, 0.0)
    # It falls in a tenth of a second by g t² / 2, which the reference does not.
    assert calm[0, 2] == pytest.approx(-0.5 * 9.81 * 0.1**2, rel=0.15)
    np.testing.assert_allclose(models.base[0], calm[0], atol=0.02 + 0.02 * np.abs(calm[0]).max())
    world.close()


def test_around_a_state_off_the_reference_they_still_speak_of_deviations_from_the_reference():
    """Explored around a start that is higher by 5 cm: what is foretold of that very start is what happens."""
    world = world_of(48)
    gauge = gauge_of(world, waving(0.2, height=3.0))
    reference = gauge.reference
    starts = reference.states[reference.frame_before(np.arange(2))]
    qpos, qvel = (np.array(values) for values in world.pose_of(starts))
    qpos[:, 2] += 0.05
    qpos[:, 0] += 1.0
    anchors = np.tile([1.0, 0.0], (2, 1))
    models = looked(world, gauge, 0.3, anchors, world.replace_pose(starts, qpos, qvel))
    begun = np.zeros(gauge.nx)
    begun[2] = 0.05
    told = models.base[0] + models.slopes[0, :, : gauge.nx] @ begun
    assert told[2] == pytest.approx(0.05 - 0.5 * 9.81 * 0.1**2, abs=0.01)
    assert abs(told[0]) < 0.02  # the anchor has come along
    world.close()


class Breaking:
    """A world in which some copies blow up in every rollout."""

    def __init__(self, world, broken):
        self._world, self._broken = world, broken

    def __getattr__(self, name):
        return getattr(self._world, name)

    def rollout(self, states, targets, **options):
        ends, rows = self._world.rollout(states, targets, **options)
        ends[self._broken] = np.nan
        rows.link_pos[self._broken] = np.nan
        return ends, rows


def test_trials_that_blew_up_are_left_out():
    world = world_of(48)
    gauge = gauge_of(world, waving(0.2, height=3.0))
    whole, partly = looked(world, gauge), looked(Breaking(world, [3, 30]), gauge)
    assert np.isfinite(partly.slopes).all() and np.isfinite(partly.base).all()
    aside, seen = trials(world, gauge, 1, 40, 0.5)
    assert explained(whole, 1, aside, seen) > 0.97
    # Two directions of some twenty are unknown.
    assert explained(partly, 1, aside, seen) > 0.7
    np.testing.assert_allclose(partly.base, whole.base, atol=0.05)
    world.close()


def test_when_every_trial_blows_up_models_are_numbers_all_the_same():
    world = world_of(48)
    gauge = gauge_of(world, waving(0.2, height=PLATE))
    models = looked(Breaking(world, slice(None)), gauge)
    assert not models.slopes.any() and not models.base.any()
    world.close()


def test_they_do_not_depend_on_how_many_copies_try_them():
    few, many = world_of(7), world_of(48)
    clip = waving(0.2)
    one, other = (looked(world, gauge_of(world, clip)) for world in (few, many))
    np.testing.assert_array_equal(one.slopes, other.slopes)
    np.testing.assert_array_equal(one.base, other.base)
    few.close()
    many.close()
