# SPDX-License-Identifier: GPL-3.0-or-later
"""Free copies: of a character, without constraints or drivers, its meshes bound to the copy; and of a loose thing."""

import bpy

from .setting_aside import bring_back_alone, followers

_COPIED = "sinew_copied"


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
    _begin_anew(copy)
    _link_beside(copy, obj)
    copy_followers(obj, copy)
    return copy


def copy_followers(obj: bpy.types.Object, copy: bpy.types.Object) -> None:
    """Give the copy all that its model deforms or carries and the copy does not have yet."""
    known = {other.data for other in followers(copy, bpy.data.objects)} - {None}
    new = not any(_COPIED in other for other in followers(copy, bpy.data.objects))
    for child in followers(obj, bpy.context.scene.objects):
        # A thing without data, such as an empty, cannot be told from another: it comes along once.
        if child.data in known or _is_copy(child) or (child.data is None and not new):
            continue
        follower = child.copy()
        _begin_anew(follower)
        follower[_COPIED] = True
        _link_beside(follower, child)
        if follower.parent == obj:
            follower.parent = copy
        for modifier in follower.modifiers:
            if modifier.type == "ARMATURE" and modifier.object == obj:
                modifier.object = copy
    # The new objects must be evaluated before anyone asks where they are.
    bpy.context.view_layer.update()


def remove_character_copy(copy: bpy.types.Object, model: bpy.types.Object | None = None) -> None:
    """Remove a copy and the copies of its model's meshes again. What else hangs on it is let go where it is."""
    data = copy.data
    shared = {other.data for other in followers(model, bpy.data.objects)} - {None} if model is not None else set()
    for follower in followers(copy, bpy.data.objects):
        if _COPIED in follower or follower.data in shared:  # files of before do not say it
            bpy.data.objects.remove(follower)
        elif follower.parent == copy:
            matrix = follower.matrix_world.copy()
            follower.parent = None
            follower.matrix_world = matrix
    bpy.data.objects.remove(copy)
    if data.users == 0:
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
    _begin_anew(copy)
    _link_beside(copy, obj)
    bpy.context.view_layer.update()
    return copy


def remove_prop_copy(copy: bpy.types.Object) -> None:
    """Take a copy of a thing away again."""
    bpy.data.objects.remove(copy)


def _begin_anew(copy: bpy.types.Object) -> None:
    """A copy shows a take: on the stage it would stand in what it was copied from, whose marks and takes it has not."""
    if hasattr(copy, "sinew"):
        copy.sinew.role = "NONE"
    if hasattr(copy, "sinew_takes"):
        copy.sinew_takes.clear()
        copy.sinew_mark = ""
        bring_back_alone(copy)


def _is_copy(child: bpy.types.Object) -> bool:
    """Whether it is an armature that was baked before and is parented to its model."""
    return child.type == "ARMATURE" and any(row.armature_name for row in getattr(child, "sinew_takes", ()))


def _link_beside(new: bpy.types.Object, old: bpy.types.Object) -> None:
    """Put ``new`` into the collections of ``old`` that can be changed, else into the scene's own."""
    physics = bpy.context.scene.rigidbody_world
    # Whatever is in Blender's own physics collection is moved by that.
    ours = [home for home in old.users_collection if home.library is None and home != (physics and physics.collection)]
    homes = ours or [bpy.context.scene.collection]
    for home in homes:
        home.objects.link(new)
