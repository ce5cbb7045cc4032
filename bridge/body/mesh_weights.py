# SPDX-License-Identifier: GPL-3.0-or-later
"""How much each bone has of each vertex. Blender tells it vertex by vertex, which takes long for a heavy mesh: so it is
copied off the mesh at once, and looked through on any thread."""

from collections.abc import Mapping
from dataclasses import dataclass

import bmesh
import bpy
import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class VertexWeights:
    """Vertex groups as they were copied: a ``BMesh`` that belongs to nobody else, or None where there are none.

    bones: by the index of a vertex group the index of its bone. count: how many vertices there are. whole: the bone
        that has all of every vertex, None where groups say who has how much.
    """

    copied: bmesh.types.BMesh | None
    bones: Mapping[int, int]
    count: int
    whole: int | None = None

    @classmethod
    def of(cls, data: bpy.types.Mesh, bones: Mapping[int, int]) -> "VertexWeights":
        """Those of a mesh's vertices."""
        copied = bmesh.new(use_operators=False)
        copied.from_mesh(data, face_normals=False, vertex_normals=False)
        return cls(copied, bones, len(data.vertices))

    @classmethod
    def all_to(cls, bone: int, count: int) -> "VertexWeights":
        """One bone has all of every vertex."""
        return cls(None, {}, count, bone)

    def weights(self, bones: int) -> NDArray[np.float32]:
        """(V, bones) how much each bone has of each vertex. Nothing of the scene's is touched: any thread may ask."""
        weights = np.zeros((self.count, bones), dtype=np.float32)
        if self.whole is not None:
            weights[:, self.whole] = 1.0
            return weights
        assert self.copied is not None
        vertices = self.copied.verts
        layer = vertices.layers.deform.active
        if layer is None:
            return weights
        shares = [(i, *share) for i, vertex in enumerate(vertices) for share in vertex[layer].items()]
        kept = [(i, self.bones[group], share) for i, group, share in shares if group in self.bones]
        if kept:
            places, owners, values = zip(*kept, strict=True)
            np.add.at(weights, (np.array(places), np.array(owners)), np.array(values, dtype=np.float32))
        return weights
