# SPDX-License-Identifier: GPL-3.0-or-later
"""Laplacian paths: through what is wanted exactly, in their own shape, and stiff where they are asked to be."""

import numpy as np
import pytest

from sinew.core.control.editing.path_deformation import deform_path

FPS, COUNT = 30.0, 91


def straight(speed=1.0):
    return np.stack([speed * np.arange(COUNT) / FPS, np.zeros(COUNT)], axis=-1)


def deform(source, places=(), turns=(), stiffness=None):
    places = {frame: np.array(place) for frame, place in dict(places).items()}
    return deform_path(source, FPS, np.ones(COUNT) if stiffness is None else stiffness, places, dict(turns))


def test_nothing_wanted_changes_nothing():
    source = straight()
    made = deform(source)
    np.testing.assert_allclose(made.place, source, atol=1e-9)
    np.testing.assert_allclose(made.turn, 0.0, atol=1e-9)


def test_what_a_rigid_motion_can_do_is_done_by_one():
    source = straight() + np.sin(np.arange(COUNT) / 9.0)[:, None] * [0.0, 0.1]
    turned = source @ np.array([[0.0, 1.0], [-1.0, 0.0]]) + [2.0, 3.0]
    made = deform(source, {0: turned[0], 60: turned[60]})
    np.testing.assert_allclose(made.place, turned, atol=1e-4)
    np.testing.assert_allclose(made.turn, np.pi / 2, atol=1e-4)


def test_a_place_to_the_side_bends_the_path_rather_than_sliding_sideways():
    made = deform(straight(), {0: (0.0, 0.0), 90: (2.0, 1.5)}, {0: 0.0})
    assert made.place[90] == pytest.approx([2.0, 1.5], abs=1e-12)
    assert made.turn[90] > 0.6 and made.shift_m_s.max() < 0.1
    assert np.abs(np.log(made.scale)).max() < np.log(1.3)
    steps = np.linalg.norm(np.diff(made.place, axis=0), axis=-1) * FPS
    assert np.abs(np.diff(steps)).max() < 0.02, "no jump in speed"


def test_a_place_behind_is_turned_to():
    made = deform(straight(), {0: (0.0, 0.0), 90: (-3.0, 0.0)}, {0: 0.0})
    assert made.place[90] == pytest.approx([-3.0, 0.0], abs=1e-12)
    assert abs(made.turn[90]) > 2.0


def test_around_a_stiff_moment_the_shape_is_kept():
    source, stiffness = straight(), np.ones(COUNT)
    stiffness[40:60] = 200.0
    made = deform(source, {0: (0.0, 0.0), 50: (2.2, 0.8)}, {0: 0.0}, stiffness)
    near = slice(44, 57)
    assert np.ptp(made.turn[near]) < 0.03 and np.abs(np.log(made.scale[near])).max() < 0.05


def test_who_stands_is_shifted():
    made = deform(straight(0.0), {0: (0.0, 0.0), 60: (0.3, 0.2)}, {0: 0.0, 60: 0.5})
    assert made.place[60] == pytest.approx([0.3, 0.2], abs=1e-12) and made.turn[60] == pytest.approx(0.5)
    assert made.shift_m_s.max() < 0.6


@pytest.mark.parametrize("count", [1, 2])
def test_a_path_of_a_frame_or_two_is_no_trouble(count):
    made = deform_path(np.zeros((count, 2)), FPS, np.ones(count), {0: np.array([1.0, 2.0])}, {})
    assert made.place[0] == pytest.approx([1.0, 2.0])
