# SPDX-License-Identifier: GPL-3.0-or-later
"""A Blender curve as points to go along."""

import bpy
import numpy as np

from ...core.control.cast import Attachment
from ...core.errors import GraphError

_LEAST_M = 0.1
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
