# SPDX-License-Identifier: GPL-3.0-or-later
"""Tremble is taken out of poses, and nothing else: slow motion, rest, steps and what is no number stay."""

import numpy as np
import pytest

from sinew.core.body.pose_space import PoseSpace
from sinew.core.control.tracking.contact_jitter_filter import _REACH, filter_contact_jitter
from sinew.core.control.tracking.reference import CONTROL_FPS

from ..sampling.toys import waver

SPACE = PoseSpace(waver())
TIME = np.arange(120) / CONTROL_FPS
INSIDE = slice(_REACH, -_REACH)  # away from the ends, near which there is less to judge by
REST = np.concatenate([[0.3, -0.2, 0.8, np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0], [0.6, 0.0, 0.8, 0.0], [0.4]])


def swung(hertz: float, size: float, by=slice(None)) -> np.ndarray:
    """(K, nq) poses that swing about a rest by ``size`` metres and radians in the directions ``by`` of (nv,)."""
    aside = np.zeros((len(TIME), SPACE.nv))
    aside[:, by] = size * np.sin(2.0 * np.pi * hertz * TIME)[:, None]
    return SPACE.integrate(REST, aside)


def size_of(poses: np.ndarray) -> np.ndarray:
    """(nv,) metres and radians: how far poses go from the rest, away from the ends."""
    return np.abs(SPACE.difference(REST, poses))[INSIDE].max(axis=0)


def test_a_tremble_of_20_hz_nearly_vanishes_in_every_direction():
    poses = swung(20.0, 0.02)
    assert size_of(poses).min() > 0.015
    assert size_of(filter_contact_jitter(SPACE, poses)).max() < 0.06 * 0.02


@pytest.mark.parametrize(
    ("hertz", "size", "width", "by"),
    [(9.0, 0.02, 1.8, slice(None)), (5.0, 0.02, 1.8, slice(None)), (2.0, 0.02, 1.8, slice(None)),
     (5.0, 2.0, 1.2, [9]), (2.0, 2.0, 1.2, [9])],
)  # fmt: skip
def test_what_is_left_of_a_swing_is_what_the_filter_lets_through(hertz, size, width, by):
    """A Gaussian of 1.8 moments, exp(-(2 pi f 1.8 / 60)^2 / 2), and of 1.2 where a joint turns fast, as who waves."""
    poses = filter_contact_jitter(SPACE, swung(hertz, size, by))
    left = size * np.exp(-0.5 * (2.0 * np.pi * hertz * width / CONTROL_FPS) ** 2)
    found = size_of(poses)[by]
    assert found == pytest.approx(np.full(len(found), left), rel=0.05, abs=2e-4)


def test_a_slow_motion_stays_within_a_millimetre():
    """A swing of 20 cm, or 0.2 radians, in two seconds; who goes and turns steadily stays, to the ends."""
    poses = swung(0.5, 0.2, [0, 1, 2, 6, 9])
    assert np.abs(SPACE.difference(poses, filter_contact_jitter(SPACE, poses))).max() < 1e-3
    steady = SPACE.integrate(REST, np.outer(TIME, [1.0, -0.5, 0.2, 0.0, 0.0, 0.7, 0.0, 0.4, 0.0, 0.3]))
    assert np.abs(SPACE.difference(steady, filter_contact_jitter(SPACE, steady))).max() < 1e-12


def test_the_first_and_the_last_moment_stay():
    poses = swung(20.0, 0.02)
    np.testing.assert_allclose(filter_contact_jitter(SPACE, poses)[[0, -1]], poses[[0, -1]], rtol=0.0, atol=1e-12)


def test_who_rests_stays():
    poses = np.tile(REST, (40, 1))
    np.testing.assert_allclose(filter_contact_jitter(SPACE, poses), poses, rtol=0.0, atol=1e-12)


def test_a_step_arrives_whole_and_nothing_moves_before_its_reach():
    poses = np.tile(REST, (40, 1))
    poses[20:, 0] += 0.1
    found = filter_contact_jitter(SPACE, poses)[:, 0] - REST[0]
    assert (np.abs(found[: 20 - _REACH]) < 1e-12).all() and (np.abs(found[20 + _REACH :] - 0.1) < 1e-12).all()
    assert (np.diff(found) >= 0.0).all() and found[18] > 1e-3  # no swing of its own


def test_rotations_stay_rotations_whichever_of_their_two_signs_they_have():
    poses = swung(20.0, 0.05)
    flipped = np.array(poses)
    flipped[1::2, 3:7] *= -1.0
    one, other = filter_contact_jitter(SPACE, poses), filter_contact_jitter(SPACE, flipped)
    np.testing.assert_allclose(np.linalg.norm(one[:, 3:7], axis=-1), 1.0, atol=1e-12)
    assert np.abs(SPACE.difference(one, other)).max() < 1e-9


@pytest.mark.parametrize("living", [0, 1, 3, 25])
def test_what_is_no_number_stays_so_and_does_not_spread(living):
    """As if the film ended where physics blew up; what comes after that is as it was, sound or not."""
    poses = swung(20.0, 0.02)[:40]
    broken = np.array(poses)
    broken[living, 5] = np.nan
    broken[living + 5 :] = np.nan
    found = filter_contact_jitter(SPACE, broken)
    np.testing.assert_array_equal(found[living:], broken[living:])
    if living:
        assert np.isfinite(found[:living]).all()
        np.testing.assert_array_equal(found[:living], filter_contact_jitter(SPACE, poses[:living]))


@pytest.mark.parametrize("count", [0, 1, 2])
def test_a_film_of_no_more_than_two_moments_stays(count):
    poses = swung(20.0, 0.02)[:count]
    np.testing.assert_allclose(filter_contact_jitter(SPACE, poses), poses, rtol=0.0, atol=1e-12)
