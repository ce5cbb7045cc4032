# SPDX-License-Identifier: GPL-3.0-or-later
"""The street of the tutorial: a scene of its own in which every step can be done, and nobody runs into anything yet."""

import bpy
import numpy as np
import pytest
from mathutils import Vector

from sinew.bridge.jobs import scene_request
from sinew.bridge.mannequin import tutorial_street
from sinew.bridge.rig.rig_reader import read_rig
from sinew.bridge.stage.views import stage_items
from sinew.core.motion.plain_walk import plain_walk


def bounds(obj):
    corners = np.array([tuple(obj.matrix_world @ Vector(corner)) for corner in obj.bound_box])
    return corners.min(axis=0), corners.max(axis=0)


@pytest.fixture
def street(addon):
    before = bpy.context.scene
    before.render.fps, before.unit_settings.scale_length = 30, 0.01
    assert bpy.ops.sinew.add_street() == {"FINISHED"}
    assert [obj.name for obj in before.objects] == []
    bpy.context.window.scene = bpy.data.scenes[tutorial_street.SCENE]
    bpy.context.view_layer.update()
    return bpy.context.scene


def test_two_walk_and_can_be_simulated_at_once(street):
    assert street.render.fps == 30 and street.unit_settings.scale_length == 1.0
    chosen = street.sinew
    assert chosen.armature.name == "Walker" and scene_request.why_no_request(street) == ""
    walk = plain_walk(fps=30.0)
    for name in ("Walker", "Neighbour"):
        clip = read_rig(street.objects[name]).clip
        order = [clip.skeleton.index(bone) for bone in walk.skeleton.names]
        moved = clip.world()[0][:, order] - walk.world()[0]
        assert np.abs(moved - moved[0, 0]).max() < 1e-4 and abs(moved[0, 0, 1]) < 1e-4  # aside, and nothing else
    apart = street.objects["Neighbour"].matrix_world.translation - street.objects["Walker"].matrix_world.translation
    assert 1.0 < apart.x < 2.0


def test_what_is_on_the_stage_stands_where_nobody_walks(street):
    items = {item.name: item for item in stage_items(street)}
    assert set(items) == {"Kerb", "Slope"} and not any(item.problem for item in items.values())
    paths = [read_rig(street.objects[name]).clip.world()[0] for name in ("Walker", "Neighbour")]
    for name in ("Kerb", "Slope", "Box 1", "Box 2", "Box 3", "Ball"):
        low, high = bounds(street.objects[name])
        for path in paths:
            inside = ((path > low - 0.1) & (path < high + 0.1)).all(axis=-1)
            assert not inside.any(), name
    assert street.objects["Kerb"].dimensions.z == pytest.approx(0.12) and street.objects["Box 3"].dimensions.x < 0.6
    ball = street.objects["Ball"].data
    assert len(ball.polygons) > 200 and all(len(face.vertices) >= 3 for face in ball.polygons)
    assert bpy.data.objects["Way"].type == "CURVE"
