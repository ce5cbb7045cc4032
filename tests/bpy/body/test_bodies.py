# SPDX-License-Identifier: GPL-3.0-or-later
"""Every real character gets a body: its roles, its mass, its joints, and its own motion back."""

from pathlib import Path

import bpy
import numpy as np
import pytest

from sinew.bridge.importing.importers import open_input
from sinew.bridge.rig import actions
from sinew.bridge.rig.rig_reader import read_rig
from sinew.core.body import build_body, clip_of_pose, loss_of_clip, pose_of_clip, targets_of_pose
from sinew.core.body.anatomy import SkeletonTree
from sinew.core.body.roles import find_roles
from sinew.core.geometry.quaternions import angle_between, to_rotation_vector
from sinew.core.motion import Clip, Skeleton

from ..helpers.mocap_files import FILES, scale_of

MOST_FRAMES = 150

# Which bones the links of each character are, {} standing for its sides; checked by eye once.
_CMU = (
    "Hips LowerBack Spine Neck {Left}Arm {Left}ForeArm {Left}Hand {Left}UpLeg {Left}Leg {Left}Foot {Left}ToeBase",
    18,
)
_PAB = (
    "Pelvis Spine1 Spine2 Spine3 Neck {Left}Arm {Left}ForeArm {Left}UpLeg {Left}Leg {Left}Foot {Left}FootThumb1",
    19,
)
_DEEPMIMIC = ("root chest neck {left}_shoulder {left}_elbow {left}_hip {left}_knee {left}_ankle", 13)
LINKS = {
    "boxing_toes": ("Hips Ab Chest Neck {Left}Shoulder {Left}Elbow {Left}Wrist {Left}Hip {Left}Knee {Left}Toes", 18),
    "milad": ("Hips Spine Spine1 Spine3 Neck {Left}Arm {Left}ForeArm {Left}Hand {Left}UpLeg {Left}Leg {Left}Foot", 17),
    "olaf": ("Hips Spine Spine1 Neck {Left}Arm {Left}ForeArm {Left}Hand {Left}UpLeg {Left}Leg {Left}Foot", 16),
    "spinkick": _DEEPMIMIC,
    "getup_facedown": _DEEPMIMIC,
    "cartwheel": _DEEPMIMIC,
    "pab_walk": _PAB,
    "arnaud": _PAB,
    "mixamo": (" ".join(f"mixamorig:{n}" for n in "Hips Spine Spine1 Neck {Left}Arm {Left}ToeBase".split()), 18),
    "CesiumMan": ("Skeleton_torso_joint_1 torso_joint_3 Skeleton_arm_joint_R__3_ leg_joint_{L}_1 leg_joint_{L}_3", 16),
    "Fox": ("b_Hip_01 b_Spine02_03 b_Neck_04 b_{Left}Leg01_0* b_{Left}Foot01_0* b_{Left}Hand_0* b_Tail01_012", 18),
    "Robot": ("Body Abdomen Torso Neck UpperArm.{L} LowerArm.{L} UpperLeg.{L} LowerLeg.{L} Foot.{L}", 16),
    "mannequiny": (
        "pelvis spine_01 spine_02 neck_01 upperarm.{l} lowerarm.{l} hand.{l} thigh.{l} calf.{l} ball.{l}",
        18,
    ),
}


def expected(name: str) -> tuple[list[str], int]:
    if name.startswith("cmu/"):
        pattern, count = _CMU
    else:
        pattern, count = next((links for key, links in LINKS.items() if key in name), _CMU)
    sides = [("left", "l"), ("right", "r")]
    bones = []
    for word in pattern.split():
        for long, short in sides:
            bones.append(word.format(left=long, Left=long.capitalize(), l=short, L=short.upper()))
    return sorted(set(bones)), count


def clips_of(name: str, folder: Path, most: int = 3) -> list[Clip]:
    """The clips of a file's armature, at most so many, none too long."""
    scale = open_input(str(folder / name), scale_of(name))
    obj = next(o for o in bpy.context.scene.objects if o.type == "ARMATURE")
    found = []
    for action in list(bpy.data.actions):
        slot = actions.slot_for(action, obj)
        if any(curve.data_path.startswith("pose.") for curve in actions.curves_of(action, slot)):
            first, last = actions.frame_range(action, slot)
            # The first frame of the CMU files is a T-pose, part of no motion.
            first += 1 if name.startswith("cmu/") else 0
            frames = (first, min(last, first + MOST_FRAMES))
            found.append(read_rig(obj, action=action, frames=frames, scale=scale).clip)
    assert found
    return found[:most]


def nameless(clip: Clip) -> Clip:
    old = clip.skeleton
    names = tuple(f"Bone.{i:03d}" for i in range(len(old)))
    bare = Skeleton(names, old.parents, old.rest_pos, old.rest_quat_wxyz, old.lengths)
    return Clip(bare, clip.fps, clip.local_pos, clip.local_quat_wxyz, clip.name)


def assert_body(clip: Clip) -> None:
    body, report = build_body(clip.skeleton, clip=clip)
    assert report.mass == pytest.approx(sum(link.mass for link in body.links))
    qpos, qvel = pose_of_clip(body, clip)
    assert np.isfinite(qpos).all() and np.isfinite(qvel).all()
    loss = loss_of_clip(body, clip)
    for index, link in enumerate(body.links):
        own = qpos[:, body.qpos_starts[index] : body.qpos_starts[index + 1]]
        if link.joint.kind == "hinge":
            assert link.joint.lower < own.min() and own.max() < link.joint.upper, link.bone
        elif link.joint.kind == "ball":
            angle = np.linalg.norm(to_rotation_vector(own), axis=-1).max()
            assert angle < 0.85 * np.pi, link.bone  # well away from where the logarithm flips
            assert angle < link.joint.max_angle
    targets = targets_of_pose(body, qpos)
    assert np.abs(targets).max() < 1.5 * np.pi
    _, quat = clip.world()
    _, again = clip_of_pose(body, clip, qpos, clip.fps).world()
    bones = [clip.skeleton.index(link.bone) for link in body.links]
    off = angle_between(quat[:, bones], again[:, bones])
    assert off == pytest.approx(loss.off_axis, abs=1e-6)
    # What the hinges lose is all that is lost.
    if loss.off_axis.max() < 1e-5:
        assert angle_between(quat, again).max() < 2e-5


def assert_shape_says_the_same(clip: Clip) -> None:
    """Limbs and pelvis are found without a single name."""
    bare = nameless(clip)
    named = find_roles(SkeletonTree.of(clip.skeleton), clip)
    shaped = find_roles(SkeletonTree.of(bare.skeleton), bare)
    assert dict(shaped.limbs) == dict(named.limbs)
    assert shaped.pelvis == named.pelvis


@pytest.mark.parametrize("name", FILES)
def test_every_character_gets_a_body(name, shared_mocap, scene):
    clips = clips_of(name, shared_mocap)
    skeleton = clips[0].skeleton
    body, report = build_body(skeleton, clip=clips[0])
    bones, count = expected(name)
    links = {link.bone for link in body.links}
    missing = [
        b for b in bones if not any(link == b or (b.endswith("*") and link.startswith(b[:-1])) for link in links)
    ]
    assert not missing
    assert len(links) == count
    assert report.kind == ("quadruped" if "Fox" in name else "biped")
    assert 5.0 < report.mass < 12.0 if "Fox" in name else report.mass > 30.0
    for clip in clips:
        assert_body(clip)
    assert_shape_says_the_same(clips[0])
