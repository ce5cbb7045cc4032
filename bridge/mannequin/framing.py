# SPDX-License-Identifier: GPL-3.0-or-later
"""Where things are over a stretch of time, and from where a camera sees all of it."""

from collections.abc import Iterable, Sequence

import bpy
import numpy as np
from mathutils import Matrix

from ...core.geometry.quaternions import Array
from ...core.motion.bone_lengths import replace_impossible_lengths

THREE_QUARTER = (np.radians(40.0), np.radians(17.0))  # to the side of the front, and above
LENS_MM, SENSOR_MM = 60.0, 36.0
_MOST_SAMPLES = 60


def spread_frames(frame_start: int, frame_end: int, most: int = _MOST_SAMPLES) -> list[int]:
    """At most ``most`` whole frames from the first to the last, evenly spread."""
    count = min(most, frame_end - frame_start + 1)
    return sorted({round(frame) for frame in np.linspace(frame_start, frame_end, max(count, 1)).tolist()})


def sample_outlines(scene: bpy.types.Scene, subjects: Sequence[bpy.types.Object], frames: Iterable[int]) -> list[Array]:
    """For each frame the points (N, 3) that outline the subjects in the world; moves the scene's frame."""
    layer = scene.view_layers[0]
    found = []
    for frame in frames:
        scene.frame_set(frame)
        depsgraph = layer.depsgraph
        found.append(np.concatenate([_outline(subject.evaluated_get(depsgraph)) for subject in subjects]))
    return found


def view_matrix(points: Array, angles: tuple[float, float], aspect: float, margin: float = 0.86) -> Matrix:
    """A camera's world matrix, as near as it can be with all points (N, 3) inside ``margin`` of the picture.

    angles: radians from the front (-Y) towards +X, and up. aspect: width over height of the picture.
    """
    side, up = angles
    back = np.array([np.sin(side) * np.cos(up), -np.cos(side) * np.cos(up), np.sin(up)])
    right = np.array([np.cos(side), np.sin(side), 0.0])
    axes = np.stack([right, np.cross(back, right), back])
    local = points @ axes.T
    wide = SENSOR_MM / LENS_MM / 2.0 * margin
    half = (wide * min(aspect, 1.0), wide / max(aspect, 1.0))
    # A point at depth z is inside while |x - cx| <= half * (cz - z): two bounds a direction, and where they meet
    # is the nearest place for the camera.
    place = np.zeros(3)
    for axis in (0, 1):
        high = float((local[:, axis] + half[axis] * local[:, 2]).max())
        low = float((-local[:, axis] + half[axis] * local[:, 2]).max())
        place[axis] = 0.5 * (high - low)
        place[2] = max(place[2], 0.5 * (high + low) / half[axis]) if axis else 0.5 * (high + low) / half[axis]
    place[2] = max(place[2], float(local[:, 2].max()) + 1e-3)
    matrix = np.eye(4)
    matrix[:3, :3] = axes.T
    matrix[:3, 3] = place @ axes
    return Matrix(matrix.tolist())


def new_camera(name: str, matrix: Matrix, size: float) -> bpy.types.Object:
    """A camera object that is in no scene yet; ``size`` of what it looks at sets how near and far it sees."""
    data = bpy.data.cameras.new(name)
    data.lens, data.sensor_width, data.sensor_fit = LENS_MM, SENSOR_MM, "AUTO"
    data.clip_start, data.clip_end = 0.01 * size, 200.0 * size
    camera = bpy.data.objects.new(name, data)
    camera.matrix_world = matrix
    return camera


def box_corners(low: Array, high: Array) -> Array:
    """(8, 3) corners of a box."""
    return np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])


def pad_points(points: Array, size: float) -> Array:
    """The points (N, 3) with room for the body of a figure of ``size`` around its bones, and its shade below."""
    shifts = 0.07 * size * np.concatenate([np.eye(3), -np.eye(3)])
    floor = points * np.array([1.0, 1.0, 0.0]) + np.array([0.0, 0.0, min(0.0, float(points[:, 2].min()))])
    return np.concatenate([(points[:, None] + shifts).reshape(-1, 3), floor])


def figure_size(found: Sequence[Array]) -> float:
    """How big the figure of ``sample_outlines`` is: its longest side in the frame where that is longest; never 0."""
    return max(float((points.max(axis=0) - points.min(axis=0)).max()) for points in found) or 1.0


def _outline(obj: bpy.types.Object) -> Array:
    if obj.type == "ARMATURE" and len(obj.pose.bones):
        count = len(obj.pose.bones)
        ends = np.empty((2, count * 3), dtype=np.float32)
        obj.pose.bones.foreach_get("head", ends[0])
        obj.pose.bones.foreach_get("tail", ends[1])
        ends[1] = ends[0] + (ends[1] - ends[0]) * np.repeat(_shares_of_tails(obj), 3)
        local = ends.reshape(-1, 3).astype(float)
    else:
        local = np.array(obj.bound_box, dtype=float)
    matrix = np.array(obj.matrix_world)
    points = local @ matrix[:3, :3].T + matrix[:3, 3]
    return points[np.isfinite(points).all(axis=1)]


def _shares_of_tails(obj: bpy.types.Object) -> Array:
    """(B,) how much of each pose bone's length is believable, 1 for most."""
    bones = [pose.bone for pose in obj.pose.bones]
    place = {bone.name: index for index, bone in enumerate(bones)}
    parents = np.array([place[bone.parent.name] if bone.parent else -1 for bone in bones])
    lengths = np.array([bone.length for bone in bones])
    heads = np.array([bone.head_local for bone in bones])
    return np.asarray(replace_impossible_lengths(parents, heads, lengths) / np.maximum(lengths, 1e-12))
