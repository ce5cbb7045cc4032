# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole skeletons: which bone is what, by name, by shape and by hand."""

import dataclasses

import pytest

from sinew.core.body.anatomy import SkeletonTree
from sinew.core.body.roles import find_roles
from sinew.core.errors import BadMotion, RigError
from sinew.core.motion import Skeleton
from sinew.core.motion.io import stock

from .figures import fox, nameless, person, turned, wiggling

SIDES = {"L": ("Left", "l", "L"), "R": ("Right", "r", "R")}
MIDDLE = ("pelvis", "spine1", "spine2", "spine3", "neck", "head")
SIDED = ("clavicle", "upper_arm", "forearm", "hand", "thumb", "index", "pinky", "thigh", "shin", "foot", "toe")
# Prefix, then the names of MIDDLE and of SIDED in that order: {0} is Left or Right, {1} l or r, {2} L or R.
CONVENTIONS = {
    "mixamo": (
        "mixamorig:",
        "Hips|Spine|Spine1|Spine2|Neck|Head",
        "{0}Shoulder|{0}Arm|{0}ForeArm|{0}Hand|{0}HandThumb1|{0}HandIndex1|{0}HandPinky1",
        "{0}UpLeg|{0}Leg|{0}Foot|{0}ToeBase",
    ),
    "unreal": (
        "",
        "pelvis|spine_01|spine_02|spine_03|neck_01|head",
        "clavicle_{1}|upperarm_{1}|lowerarm_{1}|hand_{1}|thumb_01_{1}|index_01_{1}|pinky_01_{1}",
        "thigh_{1}|calf_{1}|foot_{1}|ball_{1}",
    ),
    "rigify": (
        "DEF-",
        "spine|spine.001|spine.002|spine.003|spine.004|spine.005",
        "shoulder.{2}|upper_arm.{2}|forearm.{2}|hand.{2}|thumb.01.{2}|f_index.01.{2}|f_pinky.01.{2}",
        "thigh.{2}|shin.{2}|foot.{2}|toe.{2}",
    ),
    "vrm": (
        "J_Bip_",
        "C_Hips|C_Spine|C_Chest|C_UpperChest|C_Neck|C_Head",
        "{2}_Shoulder|{2}_UpperArm|{2}_LowerArm|{2}_Hand|{2}_Thumb1|{2}_Index1|{2}_Little1",
        "{2}_UpperLeg|{2}_LowerLeg|{2}_Foot|{2}_ToeBase",
    ),
    "biped": (
        "Bip01 ",
        "Pelvis|Spine|Spine1|Spine2|Neck|Head",
        "{2} Clavicle|{2} UpperArm|{2} Forearm|{2} Hand|{2} Finger0|{2} Finger1|{2} Finger4",
        "{2} Thigh|{2} Calf|{2} Foot|{2} Toe0",
    ),
    "joints": (
        "",
        "Root|Waist|Torso|Chest|Neck|Head",
        "{0}Collar|{0}Shoulder|{0}Elbow|{0}Wrist|{0}Thumb|{0}Index|{0}Pinky",
        "{0}Hip|{0}Knee|{0}Ankle|{0}Toes",
    ),
    "counted": (
        "Skeleton_",
        "torso_joint_1|torso_joint_2|torso_joint_3|torso_joint_4|neck_joint_1|neck_joint_2",
        "collar_joint_{2}|arm_joint_{2}_1|arm_joint_{2}_2|arm_joint_{2}_3|thumb_{2}|index_{2}|pinky_{2}",
        "leg_joint_{2}_1|leg_joint_{2}_2|leg_joint_{2}_3|leg_joint_{2}_4",
    ),
}
LIMBS = ("clavicle", "upper_arm", "forearm", "hand", "thigh", "shin", "foot", "toe")


def named(convention: str) -> dict[str, str]:
    prefix, middle, arm, leg = CONVENTIONS[convention]
    names = {key: prefix + name for key, name in zip(MIDDLE, middle.split("|"), strict=True)}
    for side, forms in SIDES.items():
        for key, pattern in zip(SIDED, f"{arm}|{leg}".split("|"), strict=True):
            names[f"{key}.{side}"] = prefix + pattern.format(*forms)
    return names


def roles_of(skeleton: Skeleton, **options) -> dict[str, str]:
    """By role (with side), the name of its bone; the trunk, neck and tail as lists."""
    found = find_roles(SkeletonTree.of(skeleton), **options)
    names = skeleton.names
    table = {f"{role}.{side}": names[bone] for (role, side), bone in found.limbs.items()}
    table["pelvis"] = names[found.pelvis]
    table["trunk"] = [names[bone] for bone in found.trunk]
    table["head"] = [names[bone] for bone in (*found.neck, found.head) if bone >= 0]
    table["tail"] = [names[bone] for bone in found.tail]
    return table


def expected(names: dict[str, str]) -> dict[str, str]:
    table = {f"{role}.{side}": names[f"{role}.{side}"] for role in LIMBS for side in SIDES}
    table["pelvis"] = names["pelvis"]
    table["trunk"] = [names["spine1"], names["spine2"], names["spine3"]]
    table["head"] = [names["neck"], names["head"]]
    table["tail"] = []
    return table


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_every_naming_is_understood(convention):
    names = named(convention)
    assert roles_of(person(names)) == expected(names)


@pytest.mark.parametrize("change", [str.upper, str.lower])
@pytest.mark.parametrize("convention", ["mixamo", "unreal", "vrm", "joints"])
def test_case_makes_no_difference(convention, change):
    names = {key: change(name) for key, name in named(convention).items()}
    assert roles_of(person(names)) == expected(names)


@pytest.mark.parametrize("degrees", [0.0, 90.0, 180.0, 215.0])
@pytest.mark.parametrize("lift", [0.0, -0.96])
def test_without_names_the_shape_says_the_same(degrees, lift):
    skeleton = turned(person(), degrees, lift)
    bare = nameless(skeleton)
    plain = dict(zip(skeleton.names, bare.names, strict=True))
    assert roles_of(bare) == expected({name: plain[name] for name in skeleton.names})


@pytest.mark.parametrize(
    "without", [("clavicle",), ("toe",), ("thumb", "index", "pinky"), ("neck",), ("hand", "thumb", "index", "pinky")]
)
def test_shape_and_names_agree_on_skeletons_that_lack_parts(without):
    skeleton = person(without=without)
    bare = nameless(skeleton)
    by_name, by_shape = roles_of(skeleton), roles_of(bare)
    plain = dict(zip(bare.names, skeleton.names, strict=True))
    limbs = {key: plain[name] for key, name in by_shape.items() if isinstance(name, str)}
    assert limbs == {key: name for key, name in by_name.items() if isinstance(name, str)}


def test_the_stock_humanoid_has_its_roles_with_and_without_names():
    skeleton = stock.stock_skeleton()
    wanted = {
        f"{role}.{side}": f"{role}.{side}"
        for role in ("thigh", "shin", "foot", "upper_arm", "forearm")
        for side in "LR"
    }
    wanted |= {"pelvis": "pelvis", "trunk": ["chest"], "head": ["head"], "tail": []}
    assert roles_of(skeleton) == wanted
    bare = nameless(skeleton)
    plain = dict(zip(bare.names, skeleton.names, strict=True))
    by_shape = {
        key: plain[name] if isinstance(name, str) else [plain[n] for n in name] for key, name in roles_of(bare).items()
    }
    assert by_shape == wanted


def test_an_animal_has_a_tail_and_fore_legs_with_and_without_names():
    skeleton = fox()
    found = roles_of(skeleton)
    assert found["pelvis"] == "hip"
    assert found["tail"] == ["tail1", "tail2", "tail3"]
    assert found["upper_arm.L"] == "upper_arm.L" and found["toe.R"] == "toe.R"
    bare = nameless(skeleton)
    plain = dict(zip(bare.names, skeleton.names, strict=True))
    assert {k: plain[v] for k, v in roles_of(bare).items() if isinstance(v, str)} == {
        k: v for k, v in found.items() if isinstance(v, str)
    }


def test_feet_that_hang_on_the_root_are_found_by_name_and_by_shape():
    skeleton = person(on_root=("pelvis", "foot"))
    assert roles_of(skeleton)["foot.L"] == "foot.L"
    bare = nameless(skeleton)
    plain = dict(zip(bare.names, skeleton.names, strict=True))
    assert plain[roles_of(bare)["foot.R"]] == "foot.R"


def test_a_walk_tells_the_front_of_a_nameless_skeleton_without_feet():
    skeleton = turned(person(without=("foot", "toe")), 90.0)
    bare = nameless(skeleton)
    clip = wiggling(skeleton)
    pos = clip.local_pos.copy()
    pos[:, 0, :] = skeleton.rest_pos[0]
    pos[:, 0, 0] += clip.local_pos[:, 0, 1] * -1.0  # it faces +X after the turn, and goes there
    clip = dataclasses.replace(clip, skeleton=bare, local_pos=pos)
    plain = dict(zip(bare.names, skeleton.names, strict=True))
    assert plain[roles_of(bare, clip=clip)["thigh.L"]] == "thigh.L"


def test_an_override_comes_before_name_and_shape():
    skeleton = person({"thumb.L": "hand_prop.L"})
    found = find_roles(SkeletonTree.of(skeleton), overrides={"index.L": "hand.L", "spine3": "ride"})
    index = skeleton.index("index.L")
    assert found.limbs["hand", "L"] == index
    assert found.why[index] == "override"
    assert found.forced[skeleton.index("spine3")] == "ride"


@pytest.mark.parametrize(
    ("overrides", "error", "said"),
    [
        ({"nobody": "thigh.L"}, BadMotion, "nobody"),
        ({"head": "thigh"}, RigError, "thigh"),
        ({"head": "nose"}, RigError, "nose"),
    ],
)
def test_a_wrong_override_is_refused_by_name(overrides, error, said):
    with pytest.raises(error, match=said):
        find_roles(SkeletonTree.of(person()), overrides=overrides)


def test_a_skeleton_without_legs_is_refused_and_told_what_is_missing():
    with pytest.raises(RigError, match="no left thigh") as caught:
        find_roles(SkeletonTree.of(person(without=("thigh", "shin", "foot", "toe"))))
    assert "thigh.L" in caught.value.hint
