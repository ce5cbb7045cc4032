# SPDX-License-Identifier: GPL-3.0-or-later
"""Linear models of fragments: they foretell trials that they have not seen, and are not led astray by broken ones."""

import numpy as np
import pytest

from sinew.core.control.tracking.linear_dynamics import LinearModels, NominalFragments, fit_linear_models
from sinew.core.control.tracking.reference import CONTROL_FPS
from sinew.core.control.tracking.tracking_error import OFFSET_SCALE

from ..sampling.toys import PLATE, tracking_error_of, waving, world_of


def looked(world, tracking_error, scale=0.75, anchors=None, starts=None, seed=0):
    """Models of every fragment along the reference."""
    reference = tracking_error.reference
    some = np.arange(reference.fragments)
    starts = reference.states[reference.frame_before(some)] if starts is None else starts
    offsets = np.zeros((len(some), tracking_error.nu))
    anchors = np.zeros((len(some), 2)) if anchors is None else anchors
    nominal = NominalFragments(some, starts, offsets, offsets, anchors)
    return fit_linear_models(world, tracking_error, nominal, scale, np.random.default_rng(seed))


def trials(world, tracking_error, fragment, count, scale, seed=5):
    """What was changed (count, nx + servos) and what was seen (count, ny), of trials in directions of their own."""
    reference, rng, body = tracking_error.reference, np.random.default_rng(seed), tracking_error.reference.body
    reach = scale * np.concatenate([tracking_error.scales, np.full(len(tracking_error.servos), OFFSET_SCALE)])
    aside = rng.normal(size=(count, len(reach))) * reach
    start = np.tile(reference.states[reference.frame_before(np.array([fragment]))], (world.copies, 1))
    pose, rates, asked = (np.zeros((world.copies, size)) for size in (body.nv, body.nv, body.nu))
    half = tracking_error.nx // 2
    pose[:count, tracking_error.dofs], rates[:count, tracking_error.dofs] = (
        aside[:, :half],
        aside[:, half : tracking_error.nx],
    )
    asked[:count, tracking_error.servos] = aside[:, tracking_error.nx :]
    qpos, qvel = world.pose_of(start)
    states = world.replace_pose(start, reference.space.integrate(qpos, pose), qvel + rates)
    frames = reference.frames_of(fragment)
    targets = reference.servo_targets(np.full(world.copies, fragment), np.zeros_like(asked), asked)
    ends, rows = world.rollout(states, targets, substeps=round(1 / (CONTROL_FPS * world.dt_s)))
    still = np.zeros((world.copies, 2))
    deviation = tracking_error.state_error(*world.pose_of(ends[:, -1]), int(frames[-1]), still)
    return aside, tracking_error.output_error(deviation, rows.link_pos[:, -1], int(frames[-1]), still)[:count]


def explained(models, fragment, aside, seen):
    """Share of what is seen to vary that the models foretell, over everything seen, each in its own measure."""
    told = models.bias[fragment] + aside @ models.jacobian[fragment].T
    spread = seen.std(0)
    felt = spread > 1e-6
    return 1.0 - np.mean(((told - seen)[:, felt] / spread[felt]) ** 2)


@pytest.mark.parametrize("engine", ["mujoco", "bullet"])
def test_in_flight_they_foretell_trials_they_have_not_seen(engine):
    world = world_of(48, engine)
    try:
        tracking_error = tracking_error_of(world, waving(0.3, height=3.0))
        models = looked(world, tracking_error)
        assert models.jacobian.shape == (3, len(tracking_error.weights), tracking_error.nx + len(tracking_error.servos))
        for fragment in range(3):
            assert explained(models, fragment, *trials(world, tracking_error, fragment, 40, 0.5)) > 0.97
    finally:
        world.close()


def test_on_the_ground_they_foretell_most():
    world = world_of(48)
    tracking_error = tracking_error_of(world, waving(0.4))
    # Contacts bend things: a third of what varies is told, of which guessing that nothing changes tells none.
    aside, seen = trials(world, tracking_error, 1, 40, 0.1)
    models = looked(world, tracking_error, 0.1)
    flat = LinearModels(np.zeros_like(models.jacobian), models.bias)
    assert explained(models, 1, aside, seen) > 0.25 > explained(flat, 1, aside, seen) + 0.2
    world.close()


def test_in_free_flight_slopes_are_those_of_free_flight():
    """The root goes on by its speed times the fragment, and nothing else of the state does it."""
    world = world_of(48)
    tracking_error = tracking_error_of(world, waving(0.2, height=3.0))
    slopes = looked(world, tracking_error).jacobian[0]
    nv = tracking_error.nx // 2
    seconds = 6 / CONTROL_FPS
    # The whole body's centre moves freely: a higher, faster start of the root alone shows in the root's own place.
    np.testing.assert_allclose(np.diag(slopes[:3, :3]), 1.0, atol=0.02)
    np.testing.assert_allclose(np.diag(slopes[:3, nv : nv + 3]), seconds, rtol=0.05)
    world.close()


def test_the_base_is_what_is_seen_without_any_deviation():
    world = world_of(48)
    tracking_error = tracking_error_of(world, waving(0.2, height=3.0))
    models = looked(world, tracking_error, 0.3)
    _, calm = trials(world, tracking_error, 0, 1, 0.0)
    # It falls in a tenth of a second by g t² / 2, which the reference does not.
    assert calm[0, 2] == pytest.approx(-0.5 * 9.81 * 0.1**2, rel=0.15)
    np.testing.assert_allclose(models.bias[0], calm[0], atol=0.02 + 0.02 * np.abs(calm[0]).max())
    world.close()


def test_around_a_state_off_the_reference_they_still_speak_of_deviations_from_the_reference():
    """Explored around a start that is higher by 5 cm: what is foretold of that very start is what happens."""
    world = world_of(48)
    tracking_error = tracking_error_of(world, waving(0.2, height=3.0))
    reference = tracking_error.reference
    starts = reference.states[reference.frame_before(np.arange(2))]
    qpos, qvel = (np.array(values) for values in world.pose_of(starts))
    qpos[:, 2] += 0.05
    qpos[:, 0] += 1.0
    anchors = np.tile([1.0, 0.0], (2, 1))
    models = looked(world, tracking_error, 0.3, anchors, world.replace_pose(starts, qpos, qvel))
    begun = np.zeros(tracking_error.nx)
    begun[2] = 0.05
    told = models.bias[0] + models.jacobian[0, :, : tracking_error.nx] @ begun
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
    tracking_error = tracking_error_of(world, waving(0.2, height=3.0))
    whole, partly = looked(world, tracking_error), looked(Breaking(world, [3, 30]), tracking_error)
    assert np.isfinite(partly.jacobian).all() and np.isfinite(partly.bias).all()
    aside, seen = trials(world, tracking_error, 1, 40, 0.5)
    assert explained(whole, 1, aside, seen) > 0.97
    # Two directions of some twenty are unknown.
    assert explained(partly, 1, aside, seen) > 0.7
    np.testing.assert_allclose(partly.bias, whole.bias, atol=0.05)
    world.close()


def test_when_every_trial_blows_up_models_are_numbers_all_the_same():
    world = world_of(48)
    tracking_error = tracking_error_of(world, waving(0.2, height=PLATE))
    models = looked(Breaking(world, slice(None)), tracking_error)
    assert not models.jacobian.any() and not models.bias.any()
    world.close()


def test_they_do_not_depend_on_how_many_copies_try_them():
    few, many = world_of(7), world_of(48)
    clip = waving(0.2)
    one, other = (looked(world, tracking_error_of(world, clip)) for world in (few, many))
    np.testing.assert_array_equal(one.jacobian, other.jacobian)
    np.testing.assert_array_equal(one.bias, other.bias)
    few.close()
    many.close()
