# SPDX-License-Identifier: GPL-3.0-or-later
"""Small rigs for tests: built by hand, each with one thing that real rigs do."""

import bpy
import numpy as np

from sinew.bridge.rig import actions


def arm(name="Arm", bones=3, connected=True):
    """A chain of bones along +Z, each half a metre long, in the current scene."""
    data = bpy.data.armatures.new(name)
    obj = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    previous = None
    for i in range(bones):
        bone = data.edit_bones.new(f"bone{i}")
        bone.head, bone.tail, bone.roll = (0, 0, 0.5 * i), (0, 0.02 * i, 0.5 * (i + 1)), 0.3 * i
        if previous is not None:
            bone.parent, bone.use_connect = previous, connected
        previous = bone
    bpy.ops.object.mode_set(mode="OBJECT")
    return obj


def edit(obj, change):
    """Change edit bones: ``change(edit_bones)`` in edit mode."""
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    change(obj.data.edit_bones)
    bpy.ops.object.mode_set(mode="OBJECT")


def wave(obj, name="Wave", frames=20, seed=0, location=True):
    """An Action that turns every bone about everything, smoothly, and moves the roots."""
    rng = np.random.default_rng(seed)
    action, slot, bag = actions.new_action(name, obj)
    time = np.linspace(0, 2 * np.pi, frames)
    for bone in obj.pose.bones:
        bone.rotation_mode = "XYZ"
        for axis in range(3):
            values = rng.uniform(-1, 1) * np.sin(time + rng.uniform(0, 6)) + rng.uniform(-0.5, 0.5)
            actions.add_curve(bag, bone.path_from_id("rotation_euler"), axis, bone.name, 1, values)
            if location and bone.parent is None:
                values = rng.uniform(-1, 1) * np.cos(time) + rng.uniform(-1, 1)
                actions.add_curve(bag, bone.path_from_id("location"), axis, bone.name, 1, values)
    actions.assign(obj, action, slot)
    return action


def squash(obj, action, first=0.0):
    """Let 20 frames of the armature's Action smile and squash a bone more and more; gives bag and ramp (20,)."""
    obj["smile"] = 0.0
    bag = action.layers[0].strips[0].channelbag(action.slots[0])
    ramp = np.linspace(first, 1.0, 20)
    actions.add_curve(bag, '["smile"]', 0, "Face", 1, ramp)
    actions.add_curve(bag, 'pose.bones["bone0"].scale', 1, "bone0", 1, 1.0 + ramp)
    return bag, ramp


def digest(action):
    """Everything in an Action that an animator could miss."""
    return [
        (
            curve.data_path,
            curve.array_index,
            curve.mute,
            [(tuple(k.co), k.interpolation) for k in curve.keyframe_points],
        )
        for slot in action.slots
        for curve in actions.curves_of(action, slot)
    ]
