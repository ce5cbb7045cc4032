# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies on four legs: which bones are what, what they stand on, what they weigh, and who is refused."""

from dataclasses import replace

import numpy as np
import pytest

from sinew.core.body.anatomy import SkeletonTree
from sinew.core.body.build import build_body
from sinew.core.body.creature import share_mass
from sinew.core.body.foot_skate import sole_links
from sinew.core.body.four_legs import find_front_feet, flag_soles, lowest_height, stands_on_four_legs
from sinew.core.body.mesh import SkinnedMesh
from sinew.core.body.roles import find_roles
from sinew.core.body.tables import PAIRED, QUADRUPED_SEGMENTS
from sinew.core.control.character import override_choices
from sinew.core.errors import RigError
from sinew.core.motion import Skeleton
from sinew.core.motion.io import stock

from .figures import fox, layered, nameless, person, pony, spider


def bottoms(body):
    """(L,) metres: how low each link's shapes are at rest."""
    pos, quat = body.skeleton.rest_world()
    found = []
    for link in body.links:
        bone = body.skeleton.index(link.bone)
        found.append(min(lowest_height(shape, pos[bone][None], quat[bone][None])[0] for shape in link.shapes))
    return np.array(found)


def hooves(skeleton):
    """A mesh of a box around every bone's head, of a hand's breadth; feet reach 2 cm into the ground."""
    heads, _ = skeleton.rest_world()
    corners = np.array(np.meshgrid([-1, 0, 1], [-1, 0, 1], [-1, 0, 1])).reshape(3, -1).T
    points = (heads[:, None] + 0.04 * corners).reshape(-1, 3)
    return SkinnedMesh(points, np.repeat(np.eye(len(heads)), len(corners), axis=0))


@pytest.mark.parametrize(
    "skeleton", [person(), layered(), stock.stock_skeleton(), person(without=("foot", "toe"))], ids=lambda s: s.names[1]
)
def test_two_legs_have_no_front_feet(skeleton):
    tree = SkeletonTree.of(skeleton)
    body, report = build_body(skeleton)
    assert report.kind == "biped"
    assert not stands_on_four_legs(tree, find_roles(tree).limbs)
    assert len(find_front_feet(body)) == 0


@pytest.mark.parametrize("skeleton", [fox(), pony()], ids=["fox", "pony"])
def test_four_feet_stand_on_the_ground(skeleton):
    body, report = build_body(skeleton)
    assert report.kind == "quadruped"
    feet = {(link.role, link.side) for link, stands in zip(body.links, flag_soles(body), strict=True) if stands}
    assert feet == {("hand", "L"), ("hand", "R"), ("foot", "L"), ("foot", "R")}
    assert list(sole_links(body)) == list(np.flatnonzero(flag_soles(body)))
    low = bottoms(body)
    assert low[flag_soles(body)] == pytest.approx(0.0, abs=1e-9)
    assert low[~flag_soles(body)].min() > 0.0  # nothing else touches the ground


def test_a_trunk_of_one_bone_has_all_legs_on_it():
    skeleton = pony()
    body, report = build_body(skeleton)
    links = {link.bone: link for link in body.links}
    parents = {link.bone: body.links[link.parent].bone for link in body.links[1:]}
    assert body.links[0].bone == "Body"
    assert {"Hips", "Torso", "Back", "FrontLeg.L", "BackLeg.R"} <= set(body.links[0].merged)
    assert [links[f"{bone}.L"].role for bone in ("FrontUpLeg", "FrontLowLeg", "FrontFoot")] == [
        "upper_arm",
        "forearm",
        "hand",
    ]
    assert [links[f"{bone}.R"].role for bone in ("BackUpLeg", "BackLowLeg", "BackFoot")] == ["thigh", "shin", "foot"]
    assert parents["FrontUpLeg.L"] == parents["BackUpLeg.L"] == parents["Tail1"] == parents["Shoulders"] == "Body"
    assert parents["FrontFoot.L"] == "FrontLowLeg.L" and parents["Neck"] == "Shoulders"
    assert report.choice("BackLeg.L").role == ""


def test_mass_is_shared_out_as_animals_have_it():
    body, _ = build_body(fox())
    by_role = {}
    for link in body.links:
        by_role[link.role, link.side] = by_role.get((link.role, link.side), 0.0) + link.mass / body.mass
    whole = sum(part * (2 if segment in PAIRED else 1) for segment, part in QUADRUPED_SEGMENTS.items())
    trunk = sum(by_role[role, ""] for role in ("pelvis", "spine", "chest"))
    assert trunk == pytest.approx(QUADRUPED_SEGMENTS["trunk"] / whole)
    for role in ("thigh", "shin", "foot", "upper_arm", "forearm", "hand"):
        assert by_role[role, "L"] == by_role[role, "R"] == pytest.approx(QUADRUPED_SEGMENTS[role] / whole)
    # A heavy tail and a light head make no difference, and nothing is lost.
    odd = tuple(replace(link, mass=link.mass * (9.0 if link.role == "tail" else 1.0)) for link in body.links)
    again = share_mass(odd)
    assert sum(link.mass for link in again) == pytest.approx(sum(link.mass for link in odd))
    assert again[0].mass / sum(link.mass for link in again) == pytest.approx(body.links[0].mass / body.mass)


def test_hooves_of_a_mesh_are_what_it_stands_on():
    skeleton = pony()
    body, _ = build_body(skeleton, mesh=hooves(skeleton))
    low, soles = bottoms(body), flag_soles(body)
    assert soles.sum() == 4
    assert low[soles] == pytest.approx(-0.02, abs=1e-6)  # the boxes' undersides
    assert low[~soles].min() > -0.02 + 0.01
    for link, stands in zip(body.links, soles, strict=True):
        if stands:
            assert {shape.kind for shape in link.shapes} == {"capsule"}


def test_six_legs_and_more_are_refused_unless_roles_say_which():
    for legs in (6, 8):
        with pytest.raises(RigError, match=rf"stands on {legs} legs \('leg0a\.L'") as caught:
            build_body(spider(legs))
        assert "thigh.L" in caught.value.hint
    chosen = {}
    for side in ("L", "R"):
        for place, roles in ((3, ("thigh", "shin", "foot")), (0, ("upper_arm", "forearm", "hand"))):
            chosen |= {f"leg{place}{part}.{side}": f"{role}.{side}" for part, role in zip("abc", roles, strict=True)}
    _, report = build_body(spider(8), overrides=chosen)
    assert report.kind == "quadruped" and report.choice("leg1a.L").use == "ride"
    assert build_body(nameless(fox()))[1].kind == "quadruped"


def chain(name, count):
    """Bones in a row on the ground, along X."""
    places = np.tile([0.0, 0.2, 0.0], (count, 1))
    rest = np.tile([1.0, 0.0, 0.0, 0.0], (count, 1))
    names = tuple(f"{name}.{index:02d}" for index in range(count))
    return Skeleton(names, np.arange(-1, count - 1), places, rest, np.full(count, 0.2))


def test_what_cannot_stand_is_told_so():
    with pytest.raises(RigError, match="Nothing in the skeleton can stand: none of its 9 bones is a leg"):
        build_body(chain("snake", 9))
    with pytest.raises(RigError, match=r"rolls on wheels \('wheel\.00', 'wheel\.01'") as caught:
        build_body(chain("wheel", 2))
    assert "prop" in caught.value.hint


def test_roles_of_front_legs_are_named_as_such():
    shown = {value: (label, text) for value, label, text in override_choices()}
    assert shown["upper_arm.L"][0] == "Left Upper Arm (Front Thigh)"
    assert "right front foot" in shown["hand.R"][1]
    assert shown["thigh.L"][0] == "Left Thigh"
