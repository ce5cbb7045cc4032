# SPDX-License-Identifier: GPL-3.0-or-later
"""Which bones become links, which are merged, which ride along, and what hangs on what."""

import json

import pytest

from sinew.core.body import build_body
from sinew.core.errors import RigError
from sinew.core.motion import Skeleton
from sinew.core.motion.io import stock

from .figures import fox, layered, person, wiggling


def links_of(skeleton, **options):
    body, report = build_body(skeleton, **options)
    return {link.bone: link for link in body.links}, body, report


def test_the_stock_humanoid_has_thirteen_links_and_34_degrees_of_freedom():
    body, _ = build_body(stock.stock_skeleton())
    assert len(body.links) == 13
    assert (body.nv, body.nu, body.nq) == (34, 28, 7 + 4 * 8 + 4)
    hinges = {link.bone for link in body.links if link.joint.kind == "hinge"}
    assert hinges == {"shin.L", "shin.R", "forearm.L", "forearm.R"}


def test_what_is_fine_is_merged_or_rides():
    links, body, report = links_of(person())
    assert len(links) == 5 + 14
    assert links["spine3"].merged == ("clavicle.L", "clavicle.R")
    assert links["neck"].role == "head" and links["neck"].merged == ("head",)
    for finger in ("thumb.L", "index.R"):
        assert report.choice(finger).use == "ride" and body.link_of(finger) == -1
    assert report.choice("clavicle.L").use == "merge" and report.choice("clavicle.L").link == "spine3"
    assert report.choice("thigh.L").why == "name"


def test_a_links_parent_is_the_next_one_up_the_limb():
    links, body, _ = links_of(person())
    parents = {bone: body.links[link.parent].bone for bone, link in links.items() if link.parent >= 0}
    assert parents["toe.L"] == "foot.L" and parents["shin.R"] == "thigh.R"
    assert parents["upper_arm.L"] == "spine3" == parents["neck"]
    assert parents["thigh.L"] == parents["spine1"] == "pelvis"


def test_feet_on_the_root_hang_on_the_shins_all_the_same():
    links, body, report = links_of(person(on_root=("pelvis", "foot")))
    assert body.links[links["foot.L"].parent].bone == "shin.L"
    assert any("foot.L" in note and "shin.L" in note for note in report.notes)
    assert report.choice("root").use == "ride"


def test_a_long_chain_of_spine_bones_becomes_three_links_at_most():
    skeleton = person(names={"spine1": "spine_01"})
    _, body, _ = links_of(skeleton)
    assert [link.role for link in body.links[:4]] == ["pelvis", "spine", "spine", "chest"]


def test_of_a_rig_in_layers_the_deforming_bones_are_simulated():
    skeleton = layered()
    links, body, report = links_of(skeleton)
    assert all(bone.startswith("DEF-") for bone in links) and len(links) == 19
    assert body.links[links["DEF-upper_arm.L"].parent].bone == "DEF-spine.003"
    assert body.links[links["DEF-thigh.R"].parent].bone == "DEF-spine"
    assert "DEF-shoulder.L" in links["DEF-spine.003"].merged  # its bone hangs on ORG-spine.003
    assert report.choice("ORG-thigh.L").use == report.choice("thigh_fk.L").use == "ride"


def test_an_animal_gets_a_body_with_a_tail():
    _, body, report = links_of(fox())
    assert report.kind == "quadruped"
    assert {"tail", "thigh", "upper_arm", "hand", "foot"} <= {link.role for link in body.links}
    assert report.choice("root").use == "ride"
    assert 4.0 < body.mass < 9.0  # what foxes of this size weigh


def test_overrides_make_links_merge_bones_and_let_them_ride():
    overrides = {
        "clavicle.L": "clavicle.L",
        "clavicle.R": "clavicle.R",
        "toe.L": "merge",
        "toe.R": "ride",
        "head": "head",
    }
    links, body, report = links_of(person(), overrides=overrides)
    assert body.links[links["upper_arm.L"].parent].bone == "clavicle.L"
    assert "toe.L" in links["foot.L"].merged
    assert body.link_of("toe.R") == -1
    assert body.links[links["head"].parent].bone == "neck"
    assert {report.choice(bone).why for bone in overrides} == {"override"}


def test_the_links_do_not_depend_on_the_clip():
    skeleton = person()
    alone, _ = build_body(skeleton)
    for seed in range(3):
        moving, _ = build_body(skeleton, clip=wiggling(skeleton, seed))
        assert [(a.bone, a.merged, a.parent) for a in moving.links] == [
            (b.bone, b.merged, b.parent) for b in alone.links
        ]


def test_the_report_is_plain_data():
    _, report = build_body(person(), clip=wiggling(person()))
    again = json.loads(json.dumps(report.to_mapping()))
    assert len(again["bones"]) == len(person())
    assert {bone["use"] for bone in again["bones"]} == {"link", "merge", "ride"}
    assert again["mass"] == pytest.approx(sum(link["mass"] for link in again["links"]))


@pytest.mark.parametrize(
    ("options", "said"),
    [({"mass_kg": 0.0}, "0.0 kg"), ({"mass_kg": float("nan")}, "nan"), ({"clip": wiggling(fox())}, "other bones")],
)
def test_what_makes_no_sense_is_refused(options, said):
    with pytest.raises(RigError, match=said):
        build_body(person(), **options)


def test_a_merged_elbow_leaves_the_hand_on_the_upper_arm_but_a_leg_must_bend():
    links, body, _ = links_of(person(), overrides={"forearm.L": "merge"})
    assert "forearm.L" in links["upper_arm.L"].merged
    assert body.links[links["hand.L"].parent].bone == "upper_arm.L"
    with pytest.raises(RigError, match="no left shin"):
        build_body(person(), overrides={"shin.L": "merge"})


@pytest.mark.parametrize("without", [("forearm", "hand", "thumb", "index", "pinky"), ("foot", "toe"), ("head", "neck")])
def test_a_body_can_do_without_parts(without):
    _, body, report = links_of(person(without=without))
    assert not set(without) & {link.role for link in body.links}
    assert report.mass > 45.0


def test_a_character_of_unlikely_size_gets_its_body_and_a_word_about_it():
    old = person()
    large = Skeleton(old.names, old.parents, 100.0 * old.rest_pos, old.rest_quat_wxyz, 100.0 * old.lengths)
    _, report = build_body(large)
    assert any("scale" in note for note in report.notes)
    assert not build_body(old)[1].notes


def test_riders_say_why_they_ride():
    _, _, report = links_of(person(names={"pinky.L": "Bone.007"}))
    assert report.choice("thumb.L").why == "name"
    assert report.choice("Bone.007").why == "none"
