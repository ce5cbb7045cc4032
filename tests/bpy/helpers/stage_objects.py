# SPDX-License-Identifier: GPL-3.0-or-later
"""Things to put on a stage, for the tests that read it."""

import bmesh
import bpy
import numpy as np
import pytest

from sinew.bridge import stage
from sinew.bridge.jobs import requests
from sinew.bridge.jobs.scene_request import request_of
from sinew.bridge.scene.time_slicing import run_all_slices
from sinew.bridge.stage.cast import read_cast_in_slices
from sinew.core.errors import BadStage

CORNERS = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
WEDGE = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
RIM = [(np.cos(angle), np.sin(angle)) for angle in np.arange(16) * np.pi / 8]
DRUM = (
    [(x, y, z) for z in (-1, 1) for x, y in RIM],
    [range(15, -1, -1), range(16, 32), *((i, (i + 1) % 16, (i + 1) % 16 + 16, i + 16) for i in range(16))],
)
QUADS = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


def mesh(name, role="OBSTACLE", vertices=CORNERS, faces=QUADS, **values):
    """A mesh object with a role, a cube of two units unless told otherwise."""
    data = bpy.data.meshes.new(name)
    data.from_pydata(vertices, [], faces)
    obj = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(obj)
    return on_stage(obj, role, **values)


def on_stage(obj, role, **values):
    obj.sinew.role = role
    for name, value in values.items():
        setattr(obj.sinew, name, value)
    return obj


def sphere(name, role="PROP", radius=0.1, **values):
    data = bpy.data.meshes.new(name)
    shape = bmesh.new()
    bmesh.ops.create_uvsphere(shape, u_segments=16, v_segments=12, radius=radius)
    shape.to_mesh(data)
    shape.free()
    obj = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(obj)
    return on_stage(obj, role, **values)


def arrow(name="Push", bone="bone1", **values):
    """A push: an empty whose arrow points along +Z."""
    obj = bpy.data.objects.new(name, None)
    obj.empty_display_type = "SINGLE_ARROW"
    bpy.context.scene.collection.objects.link(obj)
    return on_stage(obj, "PUSH", **({"bone": bone, "start_frame": 5, "duration": 0.2, "force": 100.0} | values))


def read(**changes):
    """The stage around the chosen armature's motion."""
    scene = bpy.context.scene
    for name, value in changes.items():
        setattr(scene.sinew, name, value)
    bpy.context.view_layer.update()
    return stage.read_stage(scene, cast().motions)


def cast():
    """Everybody on the stage, with the chosen armature's motion."""
    scene = bpy.context.scene
    request = request_of(scene)
    main = requests.find_armature(request.armature)
    return run_all_slices(read_cast_in_slices(scene, main, requests.read(request)))


def refusal(*words):
    return pytest.raises(BadStage, match="(?s)" + "".join(f"(?=.*{word})" for word in words))


def volume(part):
    return np.linalg.det(part.vertices[part.triangles]).sum() / 6.0


def select(*objects):
    """Select these and nothing else; the first is active."""
    for obj in list(bpy.context.view_layer.objects):  # selecting may make Blender put the list together anew
        obj.select_set(obj in objects)
    bpy.context.view_layer.objects.active = objects[0] if objects else None
