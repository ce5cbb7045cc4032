# SPDX-License-Identifier: GPL-3.0-or-later
"""A street to learn Sinew in: a kerb, boxes, a slope, a ball, and two who walk; docs/street.md goes through it."""

import math

import bpy
import numpy as np

from . import example_walker
from .materials import Colour, plain_material
from .studio_set import make_ground, make_sky, make_sun

SCENE = "Street"
_GREY, _STONE, _WOOD, _RED = (0.20, 0.21, 0.23), (0.46, 0.45, 0.43), (0.55, 0.36, 0.18), (0.70, 0.08, 0.06)
_BEHIND_M, _AHEAD_M = 2.0, 9.0
_KERB_M = (2.8, 5.2, 0.12)  # from, to along X, and how high
_BOXES_M = ((-1.5, -1.8, 0.2), (-1.5, -2.25, 0.2), (-1.5, -2.0, 0.6))  # x, y, z of their middles
_BOX_M, _BALL_M = 0.4, 0.11


def add_street(fps: float, fps_base: float) -> bpy.types.Scene:
    """A new scene with the street and two mannequins that walk along -Y; nothing else in the file is touched.

    On the stage are the kerb and the slope, where nobody gets in their way: boxes and ball are for the tutorial.
    """
    scene = bpy.data.scenes.new(SCENE)
    scene.render.fps, scene.render.fps_base = round(fps), fps_base
    walker = example_walker.add_walker(scene)
    other = example_walker.add_walker(scene)
    walker.name, other.name = "Walker", "Neighbour"
    _add_ground(scene)
    near, far, height = _KERB_M
    kerb = _add_box(scene, "Kerb", (near, -_AHEAD_M, 0.0), (far, _BEHIND_M, height), _STONE)
    slope = _add_slope(scene)
    kerb.sinew.role = slope.sinew.role = "OBSTACLE"
    for number, place in enumerate(_BOXES_M):
        half = _BOX_M / 2.0
        box = _add_box(scene, f"Box {number + 1}", (-half,) * 3, (half,) * 3, _WOOD)
        box.location, box.rotation_euler.z = place, 0.2 * number
    _add_ball(scene)
    _add_way(scene)
    scene.collection.objects.link(make_sun("Sun"))
    scene.world = make_sky("Sky")
    scene.frame_end = round(walker.animation_data.action.frame_range[1])
    chosen = scene.sinew
    chosen.armature, chosen.action = walker, walker.animation_data.action
    walker.sinew_direct.curve, walker.sinew_direct.speed = scene.objects["Way"], 1.0
    return scene


def _add_ground(scene: bpy.types.Scene) -> None:
    low, high = np.array((-2.0, -_AHEAD_M, 0.0)), np.array((_KERB_M[1], _BEHIND_M, 0.0))
    ground = make_ground("Ground", low, high, height=-0.002)
    scene.collection.objects.link(ground)


def _add_slope(scene: bpy.types.Scene) -> bpy.types.Object:
    """A ramp of 8 degrees up to the kerb's height and beyond, far ahead of the walkers."""
    long_m, wide_m = 3.0, 1.6
    high_m = long_m * math.tan(math.radians(8.0))
    points = [(0, 0, 0), (wide_m, 0, 0), (wide_m, -long_m, 0), (0, -long_m, 0), (0, -long_m, high_m)]
    points.append((wide_m, -long_m, high_m))
    faces = [(0, 3, 2, 1), (0, 1, 5, 4), (3, 4, 5, 2), (0, 4, 3), (1, 2, 5)]
    slope = _add_mesh(scene, "Slope", points, faces, _GREY)
    slope.location = (-0.8, -5.8, 0.0)
    return slope


def _add_box(
    scene: bpy.types.Scene,
    name: str,
    low: tuple[float, float, float],
    high: tuple[float, float, float],
    colour: Colour,
) -> bpy.types.Object:
    points = [(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return _add_mesh(scene, name, points, faces, colour)


def _add_ball(scene: bpy.types.Scene) -> None:
    """A ball at the height of a chest, beside the walker's way: Projectile lets it fly at whoever is chosen."""
    sides, rings = 24, 12
    points = [(0.0, 0.0, -_BALL_M), (0.0, 0.0, _BALL_M)]
    for ring in range(1, rings):
        down = math.pi * ring / rings
        for side in range(sides):
            turn = 2.0 * math.pi * side / sides
            across = _BALL_M * math.sin(down)
            points.append((across * math.cos(turn), across * math.sin(turn), -_BALL_M * math.cos(down)))
    faces = []
    for side in range(sides):
        after = (side + 1) % sides
        faces += [(0, 2 + after, 2 + side)]
        for ring in range(rings - 2):
            below, above = 2 + ring * sides, 2 + (ring + 1) * sides
            faces.append((below + side, below + after, above + after, above + side))
        last = 2 + (rings - 2) * sides
        faces.append((last + side, last + after, 1))
    ball = _add_mesh(scene, "Ball", points, faces, _RED)
    ball.location = (-1.0, -2.0, 1.1)
    for face in ball.data.polygons:
        face.use_smooth = True


def _add_mesh(scene: bpy.types.Scene, name: str, points: list, faces: list, colour: Colour) -> bpy.types.Object:
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points, [], faces)
    mesh.materials.append(plain_material(name, colour, 0.8))
    obj = bpy.data.objects.new(name, mesh)
    scene.collection.objects.link(obj)
    return obj


def _add_way(scene: bpy.types.Scene) -> None:
    """The curve to be directed along: straight down the street, around nothing."""
    data = bpy.data.curves.new("Way", "CURVE")
    data.dimensions = "3D"
    spline = data.splines.new("POLY")
    spline.points.add(2)
    for point, y in zip(spline.points, (0.0, -3.0, -6.0), strict=True):
        point.co = (0.6, y, 0.01, 1.0)
    scene.collection.objects.link(bpy.data.objects.new("Way", data))
