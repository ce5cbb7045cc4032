# SPDX-License-Identifier: GPL-3.0-or-later
"""The mannequin as Blender objects: an armature and a mesh that is skinned to it."""

from collections.abc import Sequence
from itertools import chain

import bpy
import numpy as np

from ...core.motion import Skeleton
from ...core.motion.io import stock
from ..rig.armatures import armature_from_skeleton
from . import capsules, figure
from .materials import plain_material
from .mesh_primitives import SkinnedPart

Colour = tuple[float, float, float]

BODY_COLOUR: Colour = (0.72, 0.66, 0.58)
JOINT_COLOUR: Colour = (0.035, 0.045, 0.06)


def build(
    scene: bpy.types.Scene,
    skeleton: Skeleton | None = None,
    name: str = "Mannequin",
    *,
    body_colour: Colour = BODY_COLOUR,
    joint_colour: Colour = JOINT_COLOUR,
) -> bpy.types.Object:
    """A skinned character in a collection of its own; returns its armature object.

    skeleton: None for the stock clips' one. A skeleton that is not that one, whatever its size, is dressed in
    tapered capsules along its bones.
    """
    skeleton = stock.stock_skeleton() if skeleton is None else skeleton
    collection = bpy.data.collections.new(name)
    scene.collection.children.link(collection)
    armature = armature_from_skeleton(skeleton, name, collection)
    armature.data.display_type = "STICK"
    armature.show_in_front = True
    collection.objects.link(dress(armature, skeleton, body_colour=body_colour, joint_colour=joint_colour))
    return armature


def dress(
    armature: bpy.types.Object,
    skeleton: Skeleton,
    *,
    body_colour: Colour = BODY_COLOUR,
    joint_colour: Colour = JOINT_COLOUR,
) -> bpy.types.Object:
    """A mesh object, in no collection yet, that an armature with the skeleton's bones at rest moves."""
    if skeleton is stock.stock_skeleton():
        parts = list(figure.stock_parts())
    else:
        parts = (
            figure.make_figure_parts(skeleton) if figure.is_stock(skeleton) else capsules.make_capsule_parts(skeleton)
        )
    # Control bones that are not meant to move a mesh would leave their parts behind.
    idle = [index for index, bone in enumerate(skeleton.names) if not armature.data.bones[bone].use_deform]
    parts = [part for part in parts if not part.weights[:, idle].any()] or parts
    name = f"{armature.name} body"
    mesh = _mesh(parts, name)
    for label, colour, roughness in (("body", body_colour, 0.45), ("joints", joint_colour, 0.35)):
        mesh.materials.append(plain_material(f"{armature.name} {label}", colour, roughness))
    body = bpy.data.objects.new(name, mesh)
    _skin(body, np.concatenate([part.weights for part in parts]), skeleton.names)
    body.parent = armature
    modifier = body.modifiers.new("Armature", "ARMATURE")
    modifier.object = armature
    return body


def _mesh(parts: Sequence[SkinnedPart], name: str) -> bpy.types.Mesh:
    """All parts as one mesh, put in as arrays: a click waits for it."""
    points = np.concatenate([part.vertices for part in parts])
    starts = np.cumsum([0, *(len(part.vertices) for part in parts)])
    corners = [np.fromiter(chain.from_iterable(part.faces), dtype=np.int32) for part in parts]
    sizes = np.fromiter((len(face) for part in parts for face in part.faces), dtype=np.int32)
    loops = np.concatenate([own + start for own, start in zip(corners, starts[:-1], strict=True)]).astype(np.int32)
    mesh = bpy.data.meshes.new(name)
    mesh.vertices.add(len(points))
    mesh.vertices.foreach_set("co", points.astype(np.float32).ravel())
    mesh.loops.add(len(loops))
    mesh.loops.foreach_set("vertex_index", loops)
    mesh.polygons.add(len(sizes))
    mesh.polygons.foreach_set("loop_start", (np.cumsum(sizes) - sizes).astype(np.int32))
    materials = np.repeat([part.material for part in parts], [len(part.faces) for part in parts])
    mesh.polygons.foreach_set("material_index", materials.astype(np.int32))
    mesh.shade_smooth()
    mesh.update(calc_edges=True)
    return mesh


def _skin(body: bpy.types.Object, weights: np.ndarray, names: Sequence[str]) -> None:
    """Vertex groups of weights (V, B)."""
    for bone, name in enumerate(names):
        group = body.vertex_groups.new(name=name)
        column = weights[:, bone]
        # Most vertices belong to one bone alone: those go in one call.
        group.add(np.flatnonzero(column >= 1.0).tolist(), 1.0, "REPLACE")
        for vertex in np.flatnonzero((column > 1e-5) & (column < 1.0)):
            group.add([int(vertex)], float(column[vertex]), "REPLACE")
