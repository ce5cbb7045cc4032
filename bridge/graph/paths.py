# SPDX-License-Identifier: GPL-3.0-or-later
"""A Blender curve as points to go along."""

import bpy
import numpy as np

from ...core.body import BodyModel
from ...core.errors import GraphError
from ...core.files import Attachment
from ...core.geometry.quaternions import Array, from_rotation_vector, multiply, rotate
from ...core.motion import Clip
from ...core.sim.variations import facing_direction_at

_LEAST_M, _STEP_M = 0.1, 0.5
_NEAR_M = 1e-6


def read_path(scene: bpy.types.Scene, name: str, metres_per_unit: float) -> Attachment:
    """({'points': (P, 3) metres in the world}, {'closed': bool}) of the curve's first spline, as the scene shows it."""
    obj = scene.objects.get(name) if name else None
    if obj is None or obj.type != "CURVE":
        curves = ", ".join(f"'{found.name}'" for found in scene.objects if found.type == "CURVE")
        hint = f"The curves here are: {curves}" if curves else "Add a curve (Add > Curve > Bézier) and choose it"
        raise GraphError(f"There is no curve '{name}' in this scene" if name else "No curve is chosen", hint)
    if not obj.data.splines:
        raise GraphError(f"Curve '{name}' is empty", "Give it at least two points")
    if len(obj.data.splines) > 1:
        raise GraphError(f"Curve '{name}' has {len(obj.data.splines)} parts", "Separate it, and choose one of them")
    closed = bool(obj.data.splines[0].use_cyclic_u)
    points = _along(obj) * metres_per_unit
    if closed:
        points = np.concatenate([points, points[:1]])
    apart = np.linalg.norm(np.diff(points, axis=0), axis=-1)
    points = points[np.concatenate([[True], apart > _NEAR_M])]
    length = float(np.linalg.norm(np.diff(points[:, :2], axis=0), axis=-1).sum())
    if length < _LEAST_M:
        raise GraphError(f"Curve '{name}' is only {length:.2f} m long", "Make it longer, or look at Metres a Unit")
    return {"points": points}, {"closed": closed}


def begun_on(body: BodyModel, clip: Clip, points: Array) -> Clip:
    """The clip moved over the floor and turned so that it begins where a path (P, 3) does, facing along it."""
    pos, quat = clip.world()
    ahead, towards = facing_direction_at(body, clip, 0.0), _onward(points)
    angle = float(np.arctan2(towards[1], towards[0]) - np.arctan2(ahead[1], ahead[0]))
    turn = from_rotation_vector(np.array([0.0, 0.0, angle]))
    root = np.array([*pos[0, clip.skeleton.index(body.links[0].bone), :2], 0.0])
    start = np.array([*points[0, :2], 0.0])
    moved = rotate(np.broadcast_to(turn, quat.shape), pos - root) + start
    return Clip.from_world(clip.skeleton, clip.fps, moved, multiply(turn, quat), clip.name, clip.tags)


def _onward(points: Array) -> Array:
    """(2,) where a path goes at first: to its first point that is a step away, or to its end."""
    away = points[:, :2] - points[0, :2]
    far = np.linalg.norm(away, axis=-1)
    return away[int(np.argmax(far > _STEP_M))] if far.max() > _STEP_M else away[int(np.argmax(far))]


def _along(obj: bpy.types.Object) -> np.ndarray:
    """(P, 3) Blender units in the world: the curve as it is drawn, without thickness."""
    plain = obj.copy()
    plain.data = obj.data.copy()
    try:
        plain.data.bevel_depth = plain.data.extrude = 0.0
        plain.data.bevel_object = None
        plain.data.fill_mode = "FULL" if plain.data.dimensions == "3D" else "NONE"
        mesh = plain.to_mesh()
        found = np.empty(len(mesh.vertices) * 3, dtype=np.float32)
        mesh.vertices.foreach_get("co", found)
        plain.to_mesh_clear()
    finally:
        data = plain.data
        bpy.data.objects.remove(plain)
        bpy.data.curves.remove(data)
    matrix = np.array(obj.matrix_world)
    return found.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]
