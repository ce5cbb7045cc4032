# SPDX-License-Identifier: GPL-3.0-or-later
"""What cannot be simulated is named with its fix; the scene stays as it was, and files keep their stage."""

import bpy
import numpy as np
import pytest

from sinew.bridge import stage
from sinew.bridge.api.registering import registered
from sinew.bridge.jobs import requests
from sinew.bridge.jobs.scene_request import request_of
from sinew.bridge.scene.saving import save_blend
from sinew.core.sim.stage_io import stage_from_arrays, stage_to_arrays

from ..helpers.interface import hero
from ..helpers.stage_objects import CORNERS, arrow, mesh, on_stage, read, refusal, sphere


@pytest.fixture
def hero_here(addon):
    """Hero waves through frames 1 to 20 at 24 frames a second."""
    bpy.context.scene.render.fps = 24
    return hero()


PLANE = [(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: mesh("Sheet", "OBSTACLE", PLANE, [(0, 1, 2, 3)]), ("'Sheet' is flat", "Solidify")),
        (lambda: mesh("Sheet", "PROP", PLANE, [(0, 1, 2, 3)]), ("'Sheet' is flat", "Solidify")),
        (lambda: mesh("Dots", "OBSTACLE", CORNERS, []), ("'Dots' has no faces", "Choose a mesh with faces")),
        (lambda: mesh("Dots", "TERRAIN", CORNERS, []), ("'Dots' has no faces", "Choose a mesh with faces")),
        (lambda: mesh("Ball", "PROJECTILE", mass=0.0), ("Projectile 'Ball' has no mass", "above zero")),
        (lambda: mesh("Crate", "PROP", mass=0.0), ("Prop 'Crate' has no mass", "above zero")),
        (lambda: setattr(mesh("Ball", "PROJECTILE"), "scale", (0, 0, 0)), ("'Ball' has no size", "Scale it up")),
        (lambda: setattr(mesh("Ball", "PROP"), "scale", (1, 0, 1)), ("'Ball' is flat", "thickness")),
        (lambda: mesh("Ball", "PROJECTILE", bone="nose"), ("'Ball' is about bone 'nose'", "Choose a bone")),
        (lambda: mesh("Far", "OBSTACLE", np.multiply(CORNERS, np.inf).tolist()), ("'Far'", "not numbers")),
        (lambda: arrow(bone=""), ("Push 'Push' has no bone", "Choose the bone")),
        (lambda: arrow(bone="bone7"), ("'bone7', which 'Hero' does not have", "Did you mean 'bone")),
        (lambda: arrow(duration=0.0), ("'Push' lasts no time", "above zero")),
        (lambda: arrow(force=0.0), ("'Push' has no force", "above zero")),
        (lambda: setattr(arrow(), "scale", (0, 0, 0)), ("'Push' has a scale of zero", "Set its scale")),
        (lambda: on_stage(bpy.data.objects["Hero"], "OBSTACLE"), ("Obstacle 'Hero' is no mesh",)),
    ],
)
def test_bad_input_is_named_with_its_fix(hero_here, make, words):
    make()
    with refusal(*words):
        read()


def test_durations_and_masses_below_zero_cannot_be_set(hero_here):
    push = arrow(duration=-1.0, force=-5.0, mass=-3.0, friction=-1.0)
    assert (push.sinew.duration, push.sinew.force, push.sinew.mass, push.sinew.friction) == (0, 0, 0, 0)


def test_the_characters_own_mesh_is_no_obstacle(hero_here):
    skin = mesh("Skin")
    skin.modifiers.new("Armature", "ARMATURE").object = hero_here
    with refusal("'Skin' is moved by 'Hero'", "Take its mark away"):
        read()


def test_the_scene_is_left_as_it_was(hero_here):
    scene = bpy.context.scene
    mesh("Wall")
    arrow()
    ball = sphere("Ball", "PROJECTILE", start_frame=9)
    ball.keyframe_insert("location", frame=1)
    scene.frame_set(11, subframe=0.25)
    ball.location.x = 4.0  # moved and not keyed yet
    bpy.context.view_layer.update()
    selected, meshes = list(bpy.context.selected_objects), len(bpy.data.meshes)
    read()
    assert (scene.frame_current, scene.frame_subframe) == (11, 0.25)
    assert ball.location.x == 4.0
    assert list(bpy.context.selected_objects) == selected and len(bpy.data.meshes) == meshes


def test_a_file_keeps_its_stage_and_the_command_line_reads_it_without_the_addon(hero_here, addon, tmp_path):
    mesh("Wall", friction=0.3)
    bpy.context.scene.sinew.stage.friction = 0.6
    request = request_of(bpy.context.scene)
    save_blend(tmp_path / "stage.blend")
    addon.unregister()
    try:
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "stage.blend"))
        with registered():
            parts = stage.read_stage(bpy.context.scene, {"Hero": requests.read(request)})
        assert not hasattr(bpy.types.Object, "sinew")
    finally:
        addon.register()
    assert parts.friction == pytest.approx(0.6) and parts.obstacles[0].friction == pytest.approx(0.3)


def test_what_is_read_travels(hero_here):
    mesh("Wall")
    sphere("Ball", "PROJECTILE")
    arrow()
    parts = read()
    again = stage_from_arrays(*stage_to_arrays(parts))
    assert np.array_equal(again.obstacles[0].mesh.vertices, parts.obstacles[0].mesh.vertices)
    assert again.pushes[0].bone == "bone1" and again.props[0].shape.kind == "sphere"
