# SPDX-License-Identifier: GPL-3.0-or-later
"""A human that Blender's own Rigify generates: takes go onto its controls where those can reach them."""

import addon_utils
import bpy
import numpy as np
import pytest

from sinew.bridge.rig.rig_reader import read_rig
from sinew.bridge.rig.rig_writer import write_take
from sinew.core.geometry.quaternions import angle_between
from sinew.core.motion import Take

FRAMES = 6
FAR_M, TURNED_RAD = 0.01, np.radians(2.0)
FORWARD = ("thigh_fk", "shin_fk", "foot_fk", "upper_arm_fk", "forearm_fk", "hand_fk")


@pytest.fixture
def human(scene):
    """The generated rig of the basic human; Rigify is disabled afterwards."""
    addon_utils.enable("rigify", default_set=True)
    try:
        bpy.ops.object.armature_basic_human_metarig_add()
        meta = bpy.context.object
        bpy.ops.pose.rigify_generate()
        rig = next(obj for obj in scene.objects if obj.type == "ARMATURE" and obj != meta)
        bpy.data.objects.remove(meta)
        bpy.context.view_layer.objects.active = rig
        yield rig
    finally:
        addon_utils.disable("rigify", default_set=True)


def keyed(rig, name, moves):
    """An Action in which controls swing: control -> (channel, three amplitudes)."""
    rig.animation_data_create().action = bpy.data.actions.new(name)
    for frame in range(1, FRAMES + 1):
        swing = np.sin(2.0 * np.pi * frame / FRAMES)
        for bone, (channel, amounts) in moves.items():
            control = rig.pose.bones[bone]
            control.rotation_mode = "XYZ"
            setattr(control, channel, [amount * swing for amount in amounts])
            control.keyframe_insert(channel, frame=frame)
    return rig.animation_data.action


def switched(rig, value):
    for holder in rig.pose.bones:
        if "IK_FK" in holder:
            holder["IK_FK"] = value


def test_a_take_that_forward_chains_can_reach_goes_onto_the_controls(human):
    by_targets = {"foot_ik.L": ("location", (0.0, 0.1, 0.0)), "hand_ik.R": ("location", (0.05, 0.0, -0.1))}
    by_chains = {f"{name}.{side}": ("rotation_euler", (0.3, 0.05, 0.1)) for name in FORWARD for side in "LR"}
    by_chains |= {"torso": ("location", (0.05, 0.02, -0.03)), "neck": ("rotation_euler", (0.2, 0.0, 0.1))}
    by_chains |= {"head": ("rotation_euler", (-0.1, 0.1, 0.0))}
    switched(human, 1.0)
    keyed(human, "wanted", by_chains)
    wanted = read_rig(human).clip
    switched(human, 0.0)
    for bone in human.pose.bones:
        bone.matrix_basis.identity()
    keyed(human, "source", by_targets)
    rig = read_rig(human)
    written = write_take(human, Take(wanted), rig, name="take")
    assert written.where == "CONTROLS" and written.obj == human, written.match
    clip = read_rig(human).clip
    shown = [i for i, name in enumerate(clip.skeleton.names) if human.data.bones[name].use_deform]
    (pos, quat), (wanted_pos, wanted_quat) = clip.world(), wanted.world()
    assert np.linalg.norm(pos - wanted_pos, axis=-1)[:, shown].max() < FAR_M
    assert angle_between(quat, wanted_quat)[:, shown].max() < TURNED_RAD
    assert np.linalg.norm(rig.clip.world()[0] - wanted_pos, axis=-1)[:, shown].max() > 0.1
    keys = {curve.data_path.split('"')[1] for curve in written.action.layers[0].strips[0].channelbag(
        written.action.slots[0]).fcurves}  # fmt: skip
    assert {"thigh_fk.L", "upper_arm_fk.R", "head"} <= keys and not any(name.startswith("DEF-") for name in keys)
