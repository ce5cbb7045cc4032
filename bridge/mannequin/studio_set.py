# SPDX-License-Identifier: GPL-3.0-or-later
"""A place to stand: ground on which sliding feet show, light, and a camera that sees the whole motion."""

from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Euler

from ...core.geometry.quaternions import Array
from .framing import (
    THREE_QUARTER,
    box_corners,
    figure_size,
    new_camera,
    pad_points,
    sample_outlines,
    spread_frames,
    view_matrix,
)
from .materials import checker_material

SUN_ANGLES = (np.radians(48.0), 0.0, np.radians(62.0))
_LIGHT_SQUARE, _DARK_SQUARE = (0.205, 0.215, 0.235), (0.155, 0.165, 0.185)
_SKY, _SKY_STRENGTH = (0.46, 0.52, 0.62), 0.65


@dataclass(frozen=True)
class StudioSet:
    """What ``build_set`` made, all of it in ``collection``."""

    collection: bpy.types.Collection
    ground: bpy.types.Object
    sun: bpy.types.Object
    camera: bpy.types.Object


def build_set(
    scene: bpy.types.Scene, subject_bounds: tuple[Array, Array] | None = None, name: str = "Stage"
) -> StudioSet:
    """Ground, sun, sky and a three-quarter camera that frames the whole motion; the scene looks through it.

    subject_bounds: lowest and highest corner (3,) over all frames, in metres. None for where the scene's
    armatures go from its first frame to its last.
    """
    found = [box_corners(*subject_bounds)] if subject_bounds is not None else _whereabouts(scene)
    points = np.concatenate(found)
    low, high = points.min(axis=0), points.max(axis=0)
    size = min(figure_size(found), float(high[2] - low[2]) or 1.0)
    collection = bpy.data.collections.new(name)
    scene.collection.children.link(collection)
    aspect = scene.render.resolution_x / scene.render.resolution_y
    camera = new_camera(f"{name} camera", view_matrix(pad_points(points, size), THREE_QUARTER, aspect), size)
    stage = StudioSet(collection, make_ground(f"{name} ground", low, high), make_sun(f"{name} sun"), camera)
    for obj in (stage.ground, stage.sun, stage.camera):
        collection.objects.link(obj)
    scene.camera = stage.camera
    if scene.world is None:
        scene.world = make_sky(f"{name} sky")
    return stage


def make_ground(name: str, low: Array, high: Array, height: float = 0.0, square: float = 0.5) -> bpy.types.Object:
    """A checkered plane far around the box, in no scene yet; squares lie on whole multiples of their size."""
    reach = 60.0 * square
    x0, y0 = np.floor((low[:2] - reach) / square) * square
    x1, y1 = np.ceil((high[:2] + reach) / square) * square
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([(x0, y0, 0.0), (x1, y0, 0.0), (x1, y1, 0.0), (x0, y1, 0.0)], [], [(0, 1, 2, 3)])
    mesh.materials.append(checker_material(name, _LIGHT_SQUARE, _DARK_SQUARE, square))
    plane = bpy.data.objects.new(name, mesh)
    plane.location.z = height
    return plane


def make_sun(name: str) -> bpy.types.Object:
    """The key light, in no scene yet, from the camera's left and above."""
    data = bpy.data.lights.new(name, "SUN")
    data.energy = 5.0
    data.angle = np.radians(2.5)
    data.color = (1.0, 0.95, 0.88)
    light = bpy.data.objects.new(name, data)
    light.rotation_euler = Euler(SUN_ANGLES)
    light.location = (2.0, -2.0, 4.0)
    return light


def make_sky(name: str) -> bpy.types.World:
    """An even sky that fills the shadows."""
    world = bpy.data.worlds.new(name)
    if world.node_tree is None:  # before 5.0 a world has no nodes until asked
        world.use_nodes = True
    background = next(node for node in world.node_tree.nodes if node.type == "BACKGROUND")
    background.inputs["Color"].default_value = (*_SKY, 1.0)
    background.inputs["Strength"].default_value = _SKY_STRENGTH
    world.color = _SKY
    return world


def _whereabouts(scene: bpy.types.Scene) -> list[Array]:
    """For frames of the scene the points (N, 3) of its armatures, or of someone who stands at the origin."""
    subjects = [obj for obj in scene.objects if obj.type == "ARMATURE" and obj.data.bones]
    if not subjects:
        return [box_corners(np.array([-0.5, -0.5, 0.0]), np.array([0.5, 0.5, 1.6]))]
    frame, subframe = scene.frame_current, scene.frame_subframe
    try:
        return sample_outlines(scene, subjects, spread_frames(scene.frame_start, scene.frame_end))
    finally:
        scene.frame_set(frame, subframe=subframe)
