# SPDX-License-Identifier: GPL-3.0-or-later
"""A curve becomes points in metres that a character can go along, or is refused by name."""

import bpy
import numpy as np
import pytest

from sinew.bridge.graph.paths import read_path
from sinew.core.errors import GraphError

from ..helpers.curve_objects import poly


def emptied(obj):
    """The curve without its points."""
    obj.data.splines.clear()


def test_points_are_in_order_in_the_world_and_in_metres(scene):
    obj = poly("Path", [(0, 0, 0), (1, 0, 0), (1, 2, 0)])
    obj.location, obj.scale = (10.0, 0.0, 0.0), (2.0, 2.0, 2.0)
    bpy.context.view_layer.update()
    arrays, meta = read_path(scene, "Path", 0.5)
    np.testing.assert_allclose(arrays["points"], [(5, 0, 0), (6, 0, 0), (6, 2, 0)], atol=1e-6)
    assert meta == {"closed": False}


def test_a_closed_curve_comes_back_to_its_beginning(scene):
    poly("Path", [(0, 0, 0), (3, 0, 0), (3, 3, 0)], closed=True)
    arrays, meta = read_path(scene, "Path", 1.0)
    assert meta == {"closed": True}
    np.testing.assert_allclose(arrays["points"][0], arrays["points"][-1], atol=1e-6)
    assert len(arrays["points"]) == 4


def test_a_bezier_is_followed_as_it_is_drawn_whatever_its_thickness(scene):
    bpy.ops.curve.primitive_bezier_circle_add(radius=2.0)
    obj = bpy.context.active_object
    obj.data.bevel_depth = 0.3
    points = read_path(scene, obj.name, 1.0)[0]["points"]
    assert len(points) > 20
    np.testing.assert_allclose(np.linalg.norm(points[:, :2], axis=-1), 2.0, atol=0.01)
    steps = np.linalg.norm(np.diff(points, axis=0), axis=-1)
    assert steps.max() < 3.0 * steps.min()
    assert obj.data.bevel_depth == pytest.approx(0.3) and len(bpy.data.curves) == len(bpy.data.objects) == 1


@pytest.mark.parametrize(
    ("make", "name", "words"),
    [
        (lambda: None, "", "No curve is chosen"),
        (lambda: None, "Path", "There is no curve 'Path'"),
        (lambda: poly("Path", [(0, 0, 0), (0, 0, 5)]), "Path", "only 0.00 m long"),
        (lambda: emptied(poly("Path", [(0, 0, 0), (1, 0, 0)])), "Path", "is empty"),
        (lambda: poly("Path", [(0, 0, 0), (1, 0, 0)]).data.splines.new("POLY"), "Path", "has 2 parts"),
    ],
)
def test_what_is_no_path_is_refused_by_name(scene, make, name, words):
    make()
    with pytest.raises(GraphError, match=words):
        read_path(scene, name, 1.0)
