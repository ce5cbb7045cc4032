# SPDX-License-Identifier: GPL-3.0-or-later
"""A view that is to see a motion sees all of it, beside what lies over the view."""

from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from mathutils import Quaternion, Vector

from sinew.bridge.mannequin import example_walker
from sinew.bridge.scene import viewport

WIDTH, HEIGHT, SIDEBAR, LENS = 1310, 735, 290, 50.0


@pytest.fixture
def area():
    """A 3D view as it stands in a window, with its sidebar open, looking from the left and above through a camera."""
    view = SimpleNamespace(
        view_perspective="CAMERA",
        view_rotation=Quaternion((0.7159, 0.4398, 0.2904, 0.4571)).normalized(),
        view_location=Vector((0, 0, 0)),
        view_distance=1.0,
    )
    regions = [
        SimpleNamespace(type="WINDOW", x=5, width=WIDTH, height=HEIGHT),
        SimpleNamespace(type="UI", x=5 + WIDTH - SIDEBAR, width=SIDEBAR, height=HEIGHT),
        SimpleNamespace(type="TOOLS", x=5, width=40, height=HEIGHT),
    ]
    space = SimpleNamespace(region_3d=view, region_quadviews=[], lens=LENS)
    return SimpleNamespace(regions=regions, spaces=SimpleNamespace(active=space))


def test_all_of_a_walk_is_seen_beside_the_sidebar(addon, area):
    scene = bpy.context.scene
    armature = example_walker.add_walker(scene)
    points = example_walker.motion_points(scene, armature)
    assert np.ptp(points[:, 1]) > 4.0 and scene.frame_current == scene.frame_start
    viewport.frame_points(area, points)
    view = area.spaces.active.region_3d
    assert view.view_perspective == "PERSP"
    pixels = _seen(view, points)
    assert (pixels >= [40.0, 0.0]).all() and (pixels <= [WIDTH - SIDEBAR, HEIGHT]).all()
    assert np.ptp(pixels, axis=0).max() > 0.5 * HEIGHT  # and it is not small


def _seen(view, points):
    """(N, 2) pixels from the view's lower left corner, as Blender's viewport shows points."""
    turn = np.array(view.view_rotation.to_matrix())
    away = (points - np.array(view.view_location)) @ turn
    half = 36.0 / LENS * np.array([1.0, HEIGHT / WIDTH])
    on_screen = away[:, :2] / (view.view_distance - away[:, 2:]) / half
    return (on_screen + 1.0) * [WIDTH / 2, HEIGHT / 2]
