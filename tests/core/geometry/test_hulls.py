# SPDX-License-Identifier: GPL-3.0-or-later
"""Volumes of hulls that are known, and that a library for hulls agrees with."""

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from sinew.core.geometry.hulls import MOST_POINTS, hull_volumes


def corners(*size):
    return np.array([[x, y, z] for x in (0, size[0]) for y in (0, size[1]) for z in (0, size[2])], dtype=float)


def test_boxes_and_simplices_have_their_volume_wherever_they_are():
    boxes = np.stack([corners(1, 1, 1), corners(2, 0.5, 3) + [100.0, -50.0, 7.0]])
    np.testing.assert_allclose(hull_volumes(boxes), [1.0, 3.0], rtol=1e-4)
    simplex = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=float)
    assert hull_volumes(simplex) == pytest.approx(1.0 / 6.0, rel=1e-4)


def test_what_lies_inside_adds_nothing_and_what_lies_outside_does():
    simplex = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=float)
    inside, outside = ([*simplex, point] for point in ([0.2, 0.2, 0.2], [1.0, 1.0, 1.0]))
    assert hull_volumes(np.array(inside)) == pytest.approx(1.0 / 6.0, rel=1e-4)
    assert hull_volumes(np.array(outside)) == pytest.approx(0.5, rel=1e-4)


@pytest.mark.parametrize("count", [4, 6, 7, 10, MOST_POINTS])
def test_a_library_for_hulls_agrees(count):
    points = np.random.default_rng(count).normal(size=(40, count, 3))
    expected = [ConvexHull(own).volume for own in points]
    np.testing.assert_allclose(hull_volumes(points), expected, rtol=1e-4)


def test_flat_points_have_no_volume_and_lost_ones_no_number():
    flat = np.random.default_rng(0).normal(size=(6, 3)) * [1.0, 1.0, 0.0]
    assert hull_volumes(flat) == pytest.approx(0.0, abs=1e-4)
    both = np.stack([flat, np.full((6, 3), np.nan)])
    assert np.isfinite(hull_volumes(both)).tolist() == [True, False]
    with pytest.raises(ValueError, match="3"):
        hull_volumes(np.zeros((3, 3)))
