# SPDX-License-Identifier: GPL-3.0-or-later
"""A free copy of a character: its armature without constraints or drivers, its meshes bound to the copy."""

import bpy


def baked_copy(obj: bpy.types.Object, name: str) -> bpy.types.Object:
    """Copy the armature and what it deforms or carries; the copy stands still where ``obj`` stands now."""
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    copy = obj.copy()
    copy.data = obj.data.copy()
    copy.name = copy.data.name = name
    for block in (copy, copy.data):
        block.animation_data_clear()
    copy.parent = None
    copy.constraints.clear()
    copy.matrix_world = evaluated.matrix_world.copy()
    for bone in copy.pose.bones:
        while bone.constraints:
            bone.constraints.remove(bone.constraints[0])
    _link_beside(copy, obj)
    for child in _followers(obj):
        twin = child.copy()
        _link_beside(twin, child)
        if twin.parent == obj:
            twin.parent = copy
        for modifier in twin.modifiers:
            if modifier.type == "ARMATURE" and modifier.object == obj:
                modifier.object = copy
    # The new objects must be evaluated before anyone asks where they are.
    bpy.context.view_layer.update()
    return copy


def remove_copy(copy: bpy.types.Object) -> None:
    """Take a copy and its meshes' twins away again."""
    data = copy.data
    for twin in _followers(copy):
        bpy.data.objects.remove(twin)
    bpy.data.objects.remove(copy)
    bpy.data.armatures.remove(data)


def _followers(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """Objects that the armature deforms by a modifier or carries as their parent."""
    return [
        other
        for other in bpy.context.scene.objects
        if other != obj
        and (other.parent == obj or any(m.type == "ARMATURE" and m.object == obj for m in other.modifiers))
    ]


def _link_beside(new: bpy.types.Object, old: bpy.types.Object) -> None:
    """Put ``new`` into the collections of ``old`` that can be changed, else into the scene's own."""
    homes = [home for home in old.users_collection if home.library is None] or [bpy.context.scene.collection]
    for home in homes:
        home.objects.link(new)
