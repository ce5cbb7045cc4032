# SPDX-License-Identifier: GPL-3.0-or-later
"""One mesh that becomes a ball, a capsule, a box or a cone, so that everything solid is drawn by one call.

It is a cube whose faces are grids. Each corner of a grid knows where it is on the cube, where on the ball inside it,
which way its face looks, and to which end of a capsule it belongs; the shader puts these together. The rows in the
middle are there twice, once for each end: what lies between them is a capsule's straight part.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_STEPS = 2  # of the grids, from the middle outwards: a ball of 16 segments

Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class SolidMesh:
    """cube, ball, face: (V, 3); end: (V,) -1 or 1; triangles: (F, 3), seen from outside against the clock."""

    cube: Floats
    ball: Floats
    face: Floats
    end: Floats
    triangles: NDArray[np.int32]


def make_solid_mesh(steps: int = _STEPS) -> SolidMesh:
    """The mesh, within -1 and 1."""
    half = np.sin(np.linspace(0.0, np.pi / 4.0, steps + 1)) / np.sin(np.pi / 4.0)  # even on the ball
    plain = np.concatenate([-half[:0:-1], half])
    split, ends = np.concatenate([-half[::-1], half]), np.repeat([-1.0, 1.0], steps + 1)
    cubes, faces, sides, triangles = [], [], [], []
    count = 0
    for axis in range(3):
        for sign in (-1.0, 1.0):
            first, second = (axis + 1) % 3, (axis + 2) % 3
            # The grid's lines along z are split; a lid has no such lines, and lies at one end as a whole.
            rows, columns = (split if first == 2 else plain), (split if second == 2 else plain)
            u, v = np.meshgrid(rows, columns, indexing="ij")
            points = np.empty((*u.shape, 3))
            points[..., axis], points[..., first], points[..., second] = sign, u, v
            if axis == 2:
                end = np.full(u.shape, sign)
            else:
                end = np.broadcast_to(ends[:, None] if first == 2 else ends[None, :], u.shape)
            cubes.append(points.reshape(-1, 3))
            faces.append(np.broadcast_to(sign * np.eye(3)[axis], (u.size, 3)))
            sides.append(end.reshape(-1))
            triangles.append(count + _grid(*u.shape, turned=sign < 0.0))
            count += u.size
    cube = np.concatenate(cubes)
    ball = cube / np.linalg.norm(cube, axis=-1, keepdims=True)
    arrays = (cube, ball, np.concatenate(faces), np.concatenate(sides))
    floats = [np.ascontiguousarray(array, dtype=np.float32) for array in arrays]
    return SolidMesh(*floats, np.concatenate(triangles).astype(np.int32))


def _grid(rows: int, columns: int, *, turned: bool) -> NDArray[np.int64]:
    """(F, 3) two triangles for each field of a grid."""
    corner = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).reshape(-1)
    a, b, c, d = corner, corner + columns, corner + columns + 1, corner + 1
    fields = np.concatenate([np.stack([a, b, c], -1), np.stack([a, c, d], -1)])
    return fields[:, ::-1] if turned else fields
