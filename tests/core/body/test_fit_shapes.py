# SPDX-License-Identifier: GPL-3.0-or-later
"""Capsules and boxes found again from points on their surfaces."""

import numpy as np
import pytest

from sinew.core.body.fit_shapes import capsule_between, fit_box, fit_capsule, shape_distance
from sinew.core.body.model import Shape
from sinew.core.geometry.quaternions import from_rotation_vector, to_matrix

from .clouds import surface

UP = np.array([0.0, 0.0, 1.0])
FRAMES = [
    (np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])),
    (np.array([3.0, -2.0, 1.5]), from_rotation_vector(np.array([0.7, -1.1, 0.4]))),
]


def placed(kind: str, size, frame) -> Shape:
    return Shape(kind, np.array(size, dtype=float), *frame)


def long_axis(shape: Shape) -> np.ndarray:
    return to_matrix(shape.quat_wxyz)[:, 2]


def degrees_between(a: np.ndarray, b: np.ndarray) -> float:
    """Of two lines, whichever way each points."""
    return float(np.degrees(np.arccos(np.clip(abs(a @ b), 0.0, 1.0))))


@pytest.mark.parametrize("frame", FRAMES)
def test_a_capsule_is_found_again_in_any_frame(frame):
    shape = placed("capsule", (0.06, 0.15, 0.0), frame)
    fitted = fit_capsule(surface(shape))
    assert fitted.rms_m < 0.001
    assert fitted.shape.size[:2] == pytest.approx(shape.size[:2], rel=0.02)
    assert fitted.shape.pos == pytest.approx(shape.pos, abs=0.003)
    assert degrees_between(long_axis(fitted.shape), long_axis(shape)) < 1.0


@pytest.mark.parametrize("frame", FRAMES)
def test_a_tube_that_is_open_at_both_ends_gets_a_capsule_that_just_covers_it(frame):
    shape = placed("capsule", (0.05, 0.12, 0.0), frame)
    fitted = fit_capsule(surface(shape, ends=False))
    assert fitted.rms_m < 0.003
    assert fitted.shape.size[0] == pytest.approx(0.05, rel=0.05)
    assert degrees_between(long_axis(fitted.shape), long_axis(shape)) < 2.0
    whole = fitted.shape.size[0] + fitted.shape.size[1]
    assert 0.12 <= whole < 0.12 + 0.05  # no longer than with its two round ends outside the tube


def test_a_capsule_reaches_for_the_bone_that_it_should_hold():
    """Half of a shin's mesh is skinned to other bones: the shin's own vertices do not say how far it goes."""
    shape = placed("capsule", (0.05, 0.06, 0.0), FRAMES[0])
    bone = np.linspace([0.0, 0.0, -0.06], [0.0, 0.0, 0.3], 5)
    alone, held = (fit_capsule(surface(shape, ends=False), None, within).shape for within in (None, bone))
    tops = [float(each.pos[2] + abs(long_axis(each)[2]) * each.size[1] + each.size[0]) for each in (alone, held)]
    assert tops[0] < 0.12
    assert tops[1] > 0.27
    assert held.size[0] == pytest.approx(0.05, rel=0.05)


def test_half_a_tube_lies_on_the_side_where_the_bone_is():
    points = surface(placed("capsule", (0.06, 0.15, 0.0), FRAMES[0]), 600)
    outer = points[points[:, 0] > 0.03]
    fitted = fit_capsule(outer, None, np.linspace([0.0, 0.0, -0.1], [0.0, 0.0, 0.1], 5))
    assert shape_distance(fitted.shape, np.array([[0.0, 0.0, 0.0]]))[0] < 0.0
    assert fitted.rms_m < 0.003


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("ends", [True, False])
def test_a_box_is_found_again_in_any_frame_with_and_without_an_open_end(frame, ends):
    shape = placed("box", (0.10, 0.045, 0.03), frame)
    fitted = fit_box(surface(shape, 400, ends=ends))
    assert fitted.rms_m < 0.002
    order = np.argsort(-fitted.shape.size)
    assert fitted.shape.size[order] == pytest.approx(shape.size, rel=0.05)
    assert fitted.shape.pos == pytest.approx(shape.pos, abs=0.006)
    for own, axis in enumerate(order):
        ways = to_matrix(fitted.shape.quat_wxyz)[:, axis], to_matrix(shape.quat_wxyz)[:, own]
        assert degrees_between(*ways) < 2.0


def test_a_box_with_vertices_at_its_corners_alone_is_no_larger_than_they_say():
    """As low-poly feet are: any longer box has the corners on its sides as well."""
    half = np.array([0.12, 0.05, 0.04])
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * half
    fitted = fit_box(np.tile(corners, (4, 1)))
    assert np.sort(fitted.shape.size)[::-1] == pytest.approx(half, rel=0.08)


@pytest.mark.parametrize("turn", [0.0, 0.5, 2.0])
def test_a_sole_stays_level_though_the_foot_above_it_slopes(turn):
    rng = np.random.default_rng(0)
    points = surface(placed("box", (0.13, 0.045, 0.04), FRAMES[0]), 400)
    points[:, 2] = np.where(points[:, 2] > 0, points[:, 2] + 0.25 * points[:, 0], points[:, 2])
    about = from_rotation_vector(turn * UP)
    cloud = points @ to_matrix(about).T + rng.normal(size=3)
    box = fit_box(cloud, level=UP).shape
    axes = to_matrix(box.quat_wxyz)
    assert np.abs(axes[2]).max() == pytest.approx(1.0, abs=1e-9)
    level = int(np.argmax(np.abs(axes[2])))
    sizes = np.delete(box.size, level)
    assert sizes.max() == pytest.approx(0.13, rel=0.1) and sizes.min() == pytest.approx(0.045, rel=0.1)
    along = np.delete(axes, level, axis=1)[:, int(np.argmax(sizes))]
    assert degrees_between(along, to_matrix(about)[:, 0]) < 3.0


def test_what_has_more_area_counts_for_more():
    """A finely meshed bump on a coarse tube does not pull the tube towards it."""
    tube = surface(placed("capsule", (0.05, 0.15, 0.0), FRAMES[0]), 150)
    bump = surface(placed("sphere", (0.02, 0.0, 0.0), (np.array([0.08, 0.0, 0.0]), FRAMES[0][1])), 600)
    cloud = np.concatenate([tube, bump])
    areas = np.concatenate([np.full(150, 1.0), np.full(600, 0.01)])
    alike, by_area = fit_capsule(cloud).shape, fit_capsule(cloud, areas).shape
    assert by_area.size[0] == pytest.approx(0.05, rel=0.08)
    assert alike.size[0] > 1.1 * by_area.size[0]


def test_the_same_cloud_gets_the_same_shape_to_the_bit_whatever_numpy_was_seeded_with():
    cloud = surface(placed("box", (0.09, 0.05, 0.02), FRAMES[1]), 600)  # more than the search looks at
    state = np.random.get_state()  # noqa: NPY002
    np.random.seed(1)  # noqa: NPY002
    first = fit_box(cloud).shape
    drawn = np.random.uniform()  # noqa: NPY002
    np.random.seed(1)  # noqa: NPY002
    assert np.random.uniform() == drawn  # noqa: NPY002  the fit drew nothing of it
    second = fit_box(cloud).shape
    np.random.set_state(state)  # noqa: NPY002
    for name in ("size", "pos", "quat_wxyz"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


def test_distances_are_signed_and_exact():
    box = placed("box", (0.1, 0.2, 0.3), FRAMES[0])
    points = np.array([[0.0, 0.0, 0.0], [0.15, 0.0, 0.0], [0.0, 0.0, 0.29], [0.13, 0.24, 0.0]])
    assert shape_distance(box, points) == pytest.approx([-0.1, 0.05, -0.01, 0.05])
    capsule = capsule_between(np.array([0.0, 0.0, 1.0]), np.array([0.0, 2.0, 1.0]), 0.5)
    points = np.array([[0.0, 1.0, 1.0], [1.0, 1.0, 1.0], [0.0, 3.0, 1.0], [0.3, -0.4, 1.0]])
    assert shape_distance(capsule, points) == pytest.approx([-0.5, 0.5, 0.5, 0.0])
    sphere = placed("sphere", (0.2, 0.0, 0.0), FRAMES[1])
    assert shape_distance(sphere, FRAMES[1][0] + np.array([[0.0, 0.0, 0.5]])) == pytest.approx([0.3])


def test_a_turned_shape_measures_as_it_is_turned():
    frame = FRAMES[1]
    local = np.random.default_rng(3).normal(scale=0.2, size=(50, 3))
    for kind, size in (("box", (0.1, 0.2, 0.05)), ("capsule", (0.06, 0.2, 0.0))):
        here, there = placed(kind, size, FRAMES[0]), placed(kind, size, frame)
        moved = local @ to_matrix(frame[1]).T + frame[0]
        assert shape_distance(there, moved) == pytest.approx(shape_distance(here, local), abs=1e-12)


def test_a_capsule_between_two_points_goes_from_one_to_the_other():
    a, b = np.array([0.3, -0.2, 1.0]), np.array([-0.1, 0.4, 0.7])
    capsule = capsule_between(a, b, 0.05)
    ends = capsule.pos + np.array([[-1.0], [1.0]]) * capsule.size[1] * long_axis(capsule)
    assert ends == pytest.approx(np.stack([a, b]))
