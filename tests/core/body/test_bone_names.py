# SPDX-License-Identifier: GPL-3.0-or-later
"""Bone names of every convention say the right role and side."""

import pytest

from sinew.core.body.bone_names import parse_bone_name, split_name

# For each convention: what the left and right bones of a role are called. {} is where nothing else is known.
SIDED = {
    "Mixamo": {
        "thigh": "mixamorig:{Left}UpLeg",
        "foot": "mixamorig:{Left}Foot",
        "toe": "mixamorig:{Left}ToeBase",
        "leg": "mixamorig:{Left}Leg",
        "arm": "mixamorig:{Left}Arm",
        "forearm": "mixamorig:{Left}ForeArm",
        "hand": "mixamorig:{Left}Hand",
        "shoulder": "mixamorig:{Left}Shoulder",
        "ride": "mixamorig:{Left}HandIndex1",
    },
    "CMU": {"hip": "{L}HipJoint", "thigh": "{Left}UpLeg", "ride": "{L}Thumb", "toe": "{Left}ToeBase"},
    "Rigify": {
        "thigh": "thigh.{L}",
        "shin": "shin.{L}",
        "foot": "foot.{L}",
        "toe": "toe.{L}",
        "upper_arm": "upper_arm.{L}",
        "forearm": "forearm.{L}",
        "hand": "hand.{L}",
        "shoulder": "shoulder.{L}",
        "hip": "pelvis.{L}",
        "palm": "palm.01.{L}",
    },
    "Rigify DEF": {"thigh": "DEF-thigh.{L}.001", "shin": "DEF-shin.{L}", "ride": "DEF-f_index.01.{L}"},
    "Rigify controls": {"ride": "thigh_ik.{L}"},
    "Unreal": {
        "thigh": "thigh_{l}",
        "shin": "calf_{l}",
        "foot": "foot_{l}",
        "toe": "ball_{l}",
        "clavicle": "clavicle_{l}",
        "upper_arm": "upperarm_{l}",
        "forearm": "lowerarm_{l}",
        "hand": "hand_{l}",
        "ride": "upperarm_twist_01_{l}",
    },
    "VRM": {
        "thigh": "J_Bip_{L}_UpperLeg",
        "shin": "J_Bip_{L}_LowerLeg",
        "foot": "J_Bip_{L}_Foot",
        "toe": "J_Bip_{L}_ToeBase",
        "upper_arm": "J_Bip_{L}_UpperArm",
        "forearm": "J_Bip_{L}_LowerArm",
        "ride": "J_Sec_{L}_Bust1",
    },
    "Biped": {
        "thigh": "Bip01 {L} Thigh",
        "shin": "Bip01 {L} Calf",
        "foot": "Bip01 {L} Foot",
        "toe": "Bip01 {L} Toe0",
        "upper_arm": "Bip01 {L} UpperArm",
        "forearm": "Bip01 {L} Forearm",
        "clavicle": "Bip01 {L} Clavicle",
        "ride": "Bip01{L}Finger0Nub",
    },
    "Valve": {"thigh": "ValveBiped.Bip01_{L}_Thigh", "shin": "ValveBiped.Bip01_{L}_Calf"},
    "DAZ": {"upper_arm": "{l}Shldr", "forearm": "{l}ForeArm", "thigh": "{l}Thigh", "clavicle": "{l}Collar"},
    "joints": {
        "hip": "{left}_hip",
        "shin": "{left}_knee",
        "foot": "{Left}Ankle",
        "forearm": "{Left}Elbow",
        "hand": "{left}_wrist",
    },
    "English": {
        "thigh": "{Left} Upper Leg",
        "shin": "lower leg {left}",
        "hand": "hand ({Left})",
        "forearm": "{Left}_Lower_Arm",
    },
    "lower case": {"thigh": "{left}upleg", "hand": "{left}hand", "shin": "{l}shin"},
    "upper case": {"thigh": "{LEFT}UPLEG", "forearm": "MIXAMORIG:{LEFT}FOREARM", "toe": "{LEFT}TOEBASE"},
    "glTF sample": {"leg": "leg_joint_{L}_1", "arm": "Skeleton_arm_joint_{L}__4_"},
    "a fox": {"upper_arm": "b_{Left}UpperArm_06", "leg": "b_{Left}Leg01_015", "foot": "b_{Left}Foot02_018"},
    "Auto-Rig Pro": {"thigh": "thigh_stretch.{l}", "leg": "leg_stretch.{l}", "arm": "arm_stretch.{l}"},
    "big toe": {"toe": "{Left}FootThumb1"},
}
MIDDLE = {
    "pelvis": ["mixamorig:Hips", "pelvis", "Hips", "b_Hip_01", "J_Bip_C_Hips", "Bip01 Pelvis", "Armature|Hips"],
    "spine": [
        "mixamorig:Spine2", "LowerBack", "spine_01", "DEF-spine.003", "Chest", "J_Bip_C_UpperChest", "torso_joint_3",
        "Ab", "abdomenLower", "spine middle",
    ],
    "neck": ["neck_01", "mixamorig:Neck1", "Skeleton_neck_joint_1"],
    "head": ["head", "Bip01 Head", "J_Bip_C_Head"],
    "tail": ["b_Tail01_012", "tail.001"],
    "ride": [
        "HeadTop_End", "Bip01HeadNub", "MCH-spine", "J_Sec_Hair1_01", "jaw", "weapon", "PoleTarget", "Bip01 Footsteps",
    ],
    "": ["Bone.001", "root", "armor", "rib", "Object_7", "", "rearbumper"],
}  # fmt: skip


def both_sides(pattern: str) -> list[tuple[str, str]]:
    words = {"L": ("l", "left"), "R": ("r", "right")}
    found = []
    for side, (letter, word) in words.items():
        forms = {"l": letter, "L": letter.upper(), "left": word, "Left": word.capitalize(), "LEFT": word.upper()}
        found.append((side, pattern.format(**forms)))
    return found


@pytest.mark.parametrize(
    ("role", "side", "name"),
    [
        pytest.param(role, side, name, id=f"{convention}: {name}")
        for convention, roles in SIDED.items()
        for role, pattern in roles.items()
        for side, name in both_sides(pattern)
    ],
)
def test_a_sided_name_says_role_and_side(role, side, name):
    guess = parse_bone_name(name)
    assert (guess.role, guess.side) == (role, side)


@pytest.mark.parametrize(("role", "name"), [(role, name) for role, names in MIDDLE.items() for name in names])
def test_a_middle_name_says_its_role(role, name):
    assert parse_bone_name(name).role == role
    assert parse_bone_name(name).side == ""


def test_case_and_separators_make_no_difference():
    names = ["LeftUpperLeg", "left_upper_leg", "LEFT-UPPER-LEG", "left.upper.leg", "leftUpperLeg", "rig:LeftUpperLeg"]
    assert {split_name(name) for name in names} == {("left", "upper", "leg")}


def test_a_rigs_layers_are_told_apart():
    assert [parse_bone_name(name).layer for name in ("DEF-thigh.L", "thigh.L", "ORG-thigh.L")] == [0, 1, 2]
