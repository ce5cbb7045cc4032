# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes for tasks, as an animator would have them: goals, a curve, walls, a terrain, a crowd, a bag."""

from collections.abc import Sequence
from pathlib import Path

import bpy
import numpy as np

from ..bridge.api.library_character import make_scene, stand_up_character
from ..bridge.api.registering import registered
from ..bridge.mannequin.materials import plain_material
from ..bridge.scene import saving
from ..core.control.improvise.learned_file import Improviser
from ..core.control.tasks.crowd import Crowd
from ..core.control.tasks.tasks_table import get_task
from ..core.geometry.quaternions import Array
from ..core.sim.stage import Stage, Terrain

_FPS = 60.0
_GOALS = ((3.0, 0.0), (3.0, 3.0), (0.0, 3.0), (0.0, 0.0))
_CURVE = ((0.0, 0.0), (4.0, 0.0), (6.0, 2.0), (4.0, 4.0), (0.0, 4.0), (-2.0, 2.0))
_BAG = (1.0, 0.0)
_GREY, _BROWN = (0.35, 0.37, 0.40), (0.30, 0.22, 0.15)


def make_task_scene(improviser: Improviser, path: Path) -> list[str]:
    """A .blend for the task that was learned; gives what 'improvise bake' is to be told besides."""
    task = improviser.task
    assert task is not None
    kind = get_task(task.name)
    stage = kind.make_stage(improviser.body)
    with registered():
        make_scene(_FPS)
        for camera in [obj for obj in bpy.context.scene.objects if obj.type == "CAMERA"]:
            bpy.data.objects.remove(camera)  # pictures are taken by one that goes along
        if stage.terrain is not None:
            _add_terrain(stage.terrain)
        for obstacle in stage.obstacles:
            for piece in obstacle.pieces:
                _add_hull(obstacle.name, piece).sinew.role = "OBSTACLE"
        where = _places(kind(kind.together, None, stage), stage)
        for number, (x, y, heading) in enumerate(where):
            obj = stand_up_character(improviser.body.skeleton, 1.0)
            obj.location[:2], obj.rotation_euler[2] = (x, y), heading
            if number:
                obj.sinew.role = "CHARACTER"
            else:
                words = ["--armature", obj.name]
        words += _add_aims(task.name)
        saving.save_blend(path.resolve())
    return words


def _places(doing: object, stage: Stage) -> Sequence[Array]:
    """(x, y, heading) of everybody."""
    if isinstance(doing, Crowd):
        return list(doing.places())
    middle = np.zeros(3)
    if stage.obstacles:  # between the walls, and not in one
        middle[:2] = 1.5
    return [middle]


def _add_aims(task: str) -> list[str]:
    """Goals, a curve or a bag; gives the words about them."""
    if task == "point_goal":
        for number, (x, y) in enumerate(_GOALS):
            empty = bpy.data.objects.new(f"goal {number + 1}", None)
            empty.location[:2] = x, y
            bpy.context.scene.collection.objects.link(empty)
        return ["--goals", *(f"goal {number + 1}" for number in range(len(_GOALS)))]
    if task == "path":
        curve = bpy.data.curves.new("path", "CURVE")
        curve.dimensions = "3D"
        spline = curve.splines.new("NURBS")
        spline.points.add(len(_CURVE) - 1)
        for point, (x, y) in zip(spline.points, _CURVE, strict=True):
            point.co = (x, y, 0.0, 1.0)
        spline.use_cyclic_u = True
        bpy.context.scene.collection.objects.link(bpy.data.objects.new("path", curve))
        return ["--curve", "path"]
    if task == "bag":
        bpy.ops.mesh.primitive_cylinder_add(radius=0.22, depth=1.6, location=(*_BAG, 0.8))
        bag = bpy.context.object
        bag.name = "bag"
        bag.sinew.role, bag.sinew.mass, bag.sinew.shape = "PROP", 40.0, "CAPSULE"
        bag.data.materials.append(plain_material("bag", _BROWN, 0.7))
    return []


def _add_hull(name: str, points: Array) -> bpy.types.Object:
    """A box through eight points, the least and the most of each axis."""
    low, high = points.min(axis=0), points.max(axis=0)
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=tuple(0.5 * (low + high)), scale=tuple(high - low))
    obj = bpy.context.object
    obj.name = name
    obj.data.materials.append(plain_material("wall", _GREY, 0.8))
    return obj


def _add_terrain(terrain: Terrain) -> bpy.types.Object:
    """A mesh through the heights."""
    rows, columns = terrain.heights.shape
    x, y = np.meshgrid(
        *(terrain.origin[axis] + terrain.spacing * np.arange(n) for axis, n in ((0, columns), (1, rows)))
    )
    points = np.stack([x, y, terrain.heights], axis=-1).reshape(-1, 3)
    number = np.arange(rows * columns).reshape(rows, columns)
    corners = (number[:-1, :-1], number[:-1, 1:], number[1:, 1:], number[1:, :-1])
    mesh = bpy.data.meshes.new("terrain")
    mesh.from_pydata(points.tolist(), [], np.stack(corners, axis=-1).reshape(-1, 4).tolist())
    obj = bpy.data.objects.new("terrain", mesh)
    bpy.context.scene.collection.objects.link(obj)
    obj.sinew.role = "TERRAIN"
    obj.data.materials.append(plain_material("ground", _GREY, 0.8))
    return obj
