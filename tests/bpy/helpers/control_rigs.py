# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs with controls: a body whose legs hang on IK targets and poles, and one with the structure of Rigify's limbs."""

import bpy
import numpy as np

from sinew.core.geometry.quaternions import from_rotation_vector, multiply
from sinew.core.motion import Clip, Take

BODY = ("hips", "spine", "head", *(f"{n}.{s}" for s in "LR" for n in ("thigh", "shin", "foot", "arm", "hand")))
LIMB = ("DEF-hips", "DEF-arm", "DEF-forearm", "DEF-hand")


def ik_body(name="Rig", pole_angle=-np.pi / 2, roll=0.0, target=True):
    """A body with legs on IK targets, with poles, and feet that copy their targets; target False for no pole."""
    obj = _armature(name)
    bones = obj.data.edit_bones
    _bone(bones, "root", (0, 0, 0), (0, 0.3, 0), deform=False)
    _bone(bones, "hips", (0, 0, 1), (0, 0, 1.15), "root")
    _bone(bones, "spine", (0, 0, 1.15), (0, 0, 1.5), "hips", True)
    _bone(bones, "head", (0, 0, 1.5), (0, 0, 1.75), "spine", True)
    for side, x in (("L", 0.1), ("R", -0.1)):
        _bone(bones, f"thigh.{side}", (x, 0, 1), (x, -0.03, 0.53), "hips").roll = roll
        _bone(bones, f"shin.{side}", (x, -0.03, 0.53), (x, 0.02, 0.08), f"thigh.{side}", True)
        _bone(bones, f"foot.{side}", (x, 0.02, 0.08), (x, -0.15, 0.02), f"shin.{side}", True)
        _bone(bones, f"arm.{side}", (2 * x, 0, 1.45), (4.5 * x, 0.02, 1.45), "spine")
        _bone(bones, f"hand.{side}", (4.5 * x, 0.02, 1.45), (7 * x, 0, 1.45), f"arm.{side}", True)
        _bone(bones, f"foot_ik.{side}", (x, 0.02, 0.08), (x, -0.25, 0.08), "root")
        _bone(bones, f"knee.{side}", (x, -0.8, 0.5), (x, -0.8, 0.6), "root")
    bpy.ops.object.mode_set(mode="OBJECT")
    for side in "LR":
        ik = obj.pose.bones[f"shin.{side}"].constraints.new("IK")
        ik.target, ik.subtarget, ik.chain_count = obj, f"foot_ik.{side}", 2
        if target:
            ik.pole_target, ik.pole_subtarget, ik.pole_angle = obj, f"knee.{side}", pole_angle
        copy = obj.pose.bones[f"foot.{side}"].constraints.new("COPY_ROTATION")
        copy.target, copy.subtarget = obj, f"foot_ik.{side}"
    return obj


def stepping(obj, frames=12):
    """An Action that sways the hips and lifts the feet by their targets."""
    bones = obj.pose.bones
    for frame in range(1, frames + 1):
        phase = 2.0 * np.pi * frame / frames
        bones["hips"].location = (0.03 * np.sin(phase), -0.06 + 0.02 * np.cos(2 * phase), 0.0)
        bones["hips"].keyframe_insert("location", frame=frame)
        for turn, side in enumerate("LR"):
            foot, own = bones[f"foot_ik.{side}"], phase + np.pi * turn
            foot.location, foot.rotation_mode = (0.0, 0.2 * np.sin(own), max(0.0, 0.1 * np.cos(own))), "XYZ"
            foot.rotation_euler = (0.3 * np.sin(own), 0.0, 0.0)
            for channel in ("location", "rotation_euler"):
                foot.keyframe_insert(channel, frame=frame)
    return obj.animation_data.action


def switched_limb(name="Limb"):
    """Hips and an arm of bones that copy an FK chain or an IK chain, by a property 'IK_FK', as Rigify's limbs do."""
    obj = _armature(name)
    bones = obj.data.edit_bones
    parts = (
        ("hips", (0, 0, 0.8), (0, 0, 1)),
        ("arm", (0, 0, 1), (0.3, 0.02, 1)),
        ("forearm", (0.3, 0.02, 1), (0.6, 0, 1)),
    )
    parts += (("hand", (0.6, 0, 1), (0.7, 0, 1)),)
    _bone(bones, "torso", (0, 0, 0.8), (0, 0.3, 0.8), deform=False)
    above = {"hips": "torso", "arm": "hips", "forearm": "arm", "hand": "forearm"}
    for kind in ("ORG-", "DEF-", "fk", "MCH-ik"):
        for part, head, tail in parts:
            if part == "hips" and kind in {"fk", "MCH-ik"}:
                continue
            own = f"{part}_fk" if kind == "fk" else f"{kind}{part}"
            over = above[part]
            parent = over if over == "torso" else (f"{over}_fk" if kind == "fk" else f"{kind}{over}")
            if over == "hips" and kind != "DEF-":
                parent = "ORG-hips"
            _bone(bones, own, head, tail, parent, deform=kind == "DEF-")
    _bone(bones, "hand_ik", (0.6, 0, 1), (0.7, 0, 1), deform=False)
    bpy.ops.object.mode_set(mode="OBJECT")
    pose = obj.pose.bones
    pose["torso"]["IK_FK"] = 0.0
    ik = pose["MCH-ikforearm"].constraints.new("IK")
    ik.target, ik.subtarget, ik.chain_count = obj, "hand_ik", 2
    for part in ("hips", "arm", "forearm", "hand"):
        _copy(obj, f"DEF-{part}", f"ORG-{part}")
        if part == "hips":
            continue
        _copy(obj, f"ORG-{part}", "hand_ik" if part == "hand" else f"MCH-ik{part}")
        constraint = _copy(obj, f"ORG-{part}", f"{part}_fk")
        driver = constraint.driver_add("influence").driver
        driver.type = "AVERAGE"
        variable = driver.variables.new()
        variable.targets[0].id, variable.targets[0].data_path = obj, 'pose.bones["torso"]["IK_FK"]'
    return obj


def reaching(obj, frames=10):
    """An Action that moves the torso and the hand's IK control."""
    for frame in range(1, frames + 1):
        phase = 2.0 * np.pi * frame / frames
        for name, place in (
            ("torso", (0.05 * np.sin(phase), 0, 0)),
            ("hand_ik", (0.05, 0.05 * np.sin(phase) - 0.15, 0.05)),
        ):
            obj.pose.bones[name].location = place
            obj.pose.bones[name].keyframe_insert("location", frame=frame)
    return obj.animation_data.action


def disturbed(rig, bones, turn_rad=0.1, move_m=0.03):
    """A take in which these bones turn otherwise than in the source, and the first is moved."""
    rng, clip = np.random.default_rng(1), rig.clip
    quats, places = np.array(clip.local_quat_wxyz), np.array(clip.local_pos)
    phase = np.linspace(0.0, 2.0 * np.pi, len(clip))
    for name in bones:
        bone = clip.skeleton.index(name)
        about = np.stack([rng.uniform(-turn_rad, turn_rad) * np.sin(phase + rng.uniform(0, 6)) for _ in range(3)], -1)
        quats[:, bone] = multiply(quats[:, bone], from_rotation_vector(about))
    places[:, clip.skeleton.index(bones[0])] += move_m * np.sin(phase)[:, None]
    return Take(Clip(clip.skeleton, clip.fps, places, quats, clip.name, clip.tags))


def _armature(name):
    data = bpy.data.armatures.new(name)
    obj = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    return obj


def _bone(bones, name, head, tail, parent="", connected=False, deform=True):
    bone = bones.new(name)
    bone.head, bone.tail, bone.use_deform = head, tail, deform
    if parent:
        bone.parent, bone.use_connect = bones[parent], connected
    return bone


def _copy(obj, bone, target):
    constraint = obj.pose.bones[bone].constraints.new("COPY_TRANSFORMS")
    constraint.target, constraint.subtarget = obj, target
    return constraint
