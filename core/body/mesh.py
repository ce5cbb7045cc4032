# SPDX-License-Identifier: GPL-3.0-or-later
"""The mesh that a skeleton moves, as a body is fitted to it."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..errors import BadMotion
from ..geometry.quaternions import Array
from ..motion import Skeleton
from ..motion.skeleton import freeze_array


@dataclass(frozen=True, eq=False)
class SkinnedMesh:
    """Vertices at rest and which bones move them.

    vertices: (V, 3) metres, in the frame of ``Skeleton.rest_world``.
    weights: (V, B) the share of each bone in each vertex; rows sum to 1, or to 0 where no bone moves the vertex.
    areas: (V,) square metres of the outer surface that each vertex stands for, 0 for what lies inside and is never
        seen: shells over bodies, clothes over skin. Left out, all vertices count alike.
    """

    vertices: Array
    weights: NDArray[np.float32]
    areas: Array = field(default_factory=lambda: np.empty(0))

    def __post_init__(self) -> None:
        vertices = np.array(self.vertices, dtype=np.float64)
        weights = np.array(self.weights, dtype=np.float32)
        if vertices.ndim != 2 or vertices.shape[1] != 3 or weights.shape[:1] != vertices.shape[:1]:
            raise BadMotion(f"The mesh has vertices of shape {vertices.shape} and weights of shape {weights.shape}")
        if not (np.isfinite(vertices).all() and np.isfinite(weights).all()):
            raise BadMotion("The mesh has vertices or weights that are not numbers")
        total = weights.sum(1, keepdims=True)
        freeze_array(vertices)
        object.__setattr__(self, "vertices", vertices)
        weights = np.where(total > 1e-6, weights / np.maximum(total, 1e-6), 0.0).astype(np.float32)
        freeze_array(weights)
        object.__setattr__(self, "weights", weights)
        areas = np.array(self.areas, dtype=np.float64) if np.size(self.areas) else np.ones(len(vertices))
        if areas.shape != vertices.shape[:1] or not np.all(areas >= 0.0):
            raise BadMotion(f"The mesh has {len(vertices)} vertices and areas of shape {areas.shape}")
        freeze_array(areas)
        object.__setattr__(self, "areas", areas)

    def require_fits(self, skeleton: Skeleton) -> None:
        """Refuse a mesh that the skeleton does not move, or that is of quite another size."""
        if self.weights.shape[1] != len(skeleton):
            raise BadMotion(f"The mesh is skinned to {self.weights.shape[1]} bones, the skeleton has {len(skeleton)}")
        if not self.weights.any():
            raise BadMotion("The mesh is not skinned to any bone", "Give it weights (Parent > With Automatic Weights)")
        heads, _ = skeleton.rest_world()
        skinned = self.vertices[self.weights.any(1)]
        ratio = float(np.ptp(skinned, axis=0).max() / max(float(np.ptp(heads, axis=0).max()), 1e-9))
        if not 0.2 < ratio < 8.0:
            raise BadMotion(
                f"The mesh is {ratio:.3g} times as large as its skeleton",
                "Apply the scale of mesh and armature with Object > Apply > Scale (Ctrl+A)",
            )
