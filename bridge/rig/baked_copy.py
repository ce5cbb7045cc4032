# SPDX-License-Identifier: GPL-3.0-or-later
"""Free copies: of a character, without constraints or drivers, its meshes bound to the copy; and of a loose thing."""

import bpy


def copy_character(obj: bpy.types.Object, name: str) -> bpy.types.Object:
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
    _off_stage(copy)
    _link_beside(copy, obj)
    for child in _followers(obj):
        follower = child.copy()
        _off_stage(follower)
        _link_beside(follower, child)
        if follower.parent == obj:
            follower.parent = copy
        for modifier in follower.modifiers:
            if modifier.type == "ARMATURE" and modifier.object == obj:
                modifier.object = copy
    # The new objects must be evaluated before anyone asks where they are.
    bpy.context.view_layer.update()
    return copy


def remove_character_copy(copy: bpy.types.Object) -> None:
    """Remove a copy and the copies of its meshes again."""
    data = copy.data
    for follower in _followers(copy):
        bpy.data.objects.remove(follower)
    bpy.data.objects.remove(copy)
    bpy.data.armatures.remove(data)


def copy_prop(obj: bpy.types.Object, name: str) -> bpy.types.Object:
    """A copy of a thing that nothing else moves, standing where ``obj`` stands now; it shares its mesh."""
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    matrix = evaluated.matrix_world.copy()
    copy = obj.copy()
    copy.name = name
    copy.animation_data_clear()
    copy.parent = None
    copy.constraints.clear()
    for channel, nothing in (("location", 0.0), ("rotation_euler", 0.0), ("scale", 1.0)):
        setattr(copy, f"delta_{channel}", [nothing] * 3)
    copy.delta_rotation_quaternion = (1.0, 0.0, 0.0, 0.0)
    copy.matrix_world = matrix
    _off_stage(copy)
    _link_beside(copy, obj)
    bpy.context.view_layer.update()
    return copy


def remove_prop_copy(copy: bpy.types.Object) -> None:
    """Take a copy of a thing away again."""
    bpy.data.objects.remove(copy)


def _off_stage(copy: bpy.types.Object) -> None:
    """A copy shows a take; on the stage it would stand in what it was copied from."""
    if hasattr(copy, "sinew"):
        copy.sinew.role = "NONE"


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
    physics = bpy.context.scene.rigidbody_world
    # Whatever is in Blender's own physics collection is moved by that.
    ours = [home for home in old.users_collection if home.library is None and home != (physics and physics.collection)]
    homes = ours or [bpy.context.scene.collection]
    for home in homes:
        home.objects.link(new)
