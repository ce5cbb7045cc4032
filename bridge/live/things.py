# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects for the balls and boxes of a live session, which a take of it moves."""

import bmesh
import bpy

from ...core.control.live.things import THINGS, Thing

_COLLECTION = "Live Things"


def is_thing(name: str) -> bool:
    """Whether a prop is a ball or box of the session, and not the scene's own."""
    return any(thing.name == name for thing in THINGS)


def ensure_thing(name: str, metres_per_unit: float) -> bpy.types.Object | None:
    """The object for a ball or box of that name, made if it is not there; None for what is neither."""
    thing = next((thing for thing in THINGS if thing.name == name), None)
    if thing is None:
        return None
    scene = bpy.context.scene
    obj = bpy.data.objects.get(name)
    if obj is None:
        obj = bpy.data.objects.new(name, _make_mesh(thing, metres_per_unit))
    if scene.objects.get(name) is None:
        _things_collection(scene).objects.link(obj)
    return obj


def remove_things(names: tuple[str, ...]) -> None:
    """Remove objects that nothing has moved: they were for a session that is over."""
    for name in names:
        obj = bpy.data.objects.get(name)
        if obj is not None and obj.animation_data is None:
            mesh = obj.data
            bpy.data.objects.remove(obj)
            if mesh is not None and mesh.users == 0:
                bpy.data.meshes.remove(mesh)
    collection = bpy.data.collections.get(_COLLECTION)
    if collection is not None and not collection.objects and not collection.children:
        bpy.data.collections.remove(collection)


def _make_mesh(thing: Thing, metres_per_unit: float) -> bpy.types.Mesh:
    mesh, made = bpy.data.meshes.new(thing.name), bmesh.new()
    size = thing.size / metres_per_unit
    try:
        if thing.kind == "ball":
            bmesh.ops.create_uvsphere(made, u_segments=24, v_segments=12, radius=size)
        else:
            bmesh.ops.create_cube(made, size=2.0 * size)
        made.to_mesh(mesh)
    finally:
        made.free()
    return mesh


def _things_collection(scene: bpy.types.Scene) -> bpy.types.Collection:
    collection = bpy.data.collections.get(_COLLECTION) or bpy.data.collections.new(_COLLECTION)
    if collection.name not in scene.collection.children:
        scene.collection.children.link(collection)
    return collection
