# SPDX-License-Identifier: GPL-3.0-or-later
"""Seeded variations: the same for the same seed, within their ranges, from the side that was asked for."""

import dataclasses

import numpy as np
import pytest

from sinew.core.body import BodyModel, Joint, Link, Shape
from sinew.core.errors import BadSettings, BadStage
from sinew.core.geometry.quaternions import from_rotation_vector, multiply, rotate
from sinew.core.motion import Clip, Skeleton
from sinew.core.sim.assembly import assemble_stage
from sinew.core.sim.stage_io import stage_from_arrays, stage_to_arrays
from sinew.core.sim.stage_parts import PropPart, PushPart, StageParts
from sinew.core.sim.variations import VariationSettings, facing_direction_at, make_variations, trunk_bone

BALL = Shape("sphere", np.array([0.1, 0.0, 0.0]), np.zeros(3))
BONES = ("hips", "chest", "thigh.L", "thigh.R", "hat")
FPS = 50.0


def link(bone, role, side, parent, kind="ball"):
    return Link(bone, role, side, parent, Joint(kind, np.zeros(3)), (BALL,), 2.0, np.zeros(3), np.eye(3))


@pytest.fixture
def figure():
    """A body that looks along +X at first and turns to the left, a whole turn in two seconds, and its clip."""
    offsets = np.array([[0, 0, 1.0], [0, 0, 0.4], [0, 0.1, -0.1], [0, -0.1, -0.1], [0, 0, 0.7]])
    turns = np.tile([1.0, 0.0, 0.0, 0.0], (5, 1))
    skeleton = Skeleton(BONES, np.array([-1, 0, 0, 0, 1]), offsets, turns, np.full(5, 0.3))
    body = BodyModel(
        skeleton,
        (
            link("hips", "pelvis", "", -1, "free"),
            link("chest", "spine", "", 0),
            link("thigh.L", "thigh", "L", 0),
            link("thigh.R", "thigh", "R", 0),
        ),
    )
    frames = 101
    angle = np.linspace(0.0, 2 * np.pi, frames)
    quat = np.tile(turns, (frames, 1, 1))
    quat[:, 0] = from_rotation_vector(np.stack([0 * angle, 0 * angle, angle], -1))
    return body, Clip(skeleton, FPS, np.tile(offsets, (frames, 1, 1)), quat, "Turn")


def many(figure, parts=None, seed=0, **settings):
    body, clip = figure
    return make_variations(parts or StageParts(("Hero",)), clip, body, VariationSettings(**settings), seed)


def values(variation):
    arrays, meta = stage_to_arrays(variation.parts)
    return {name: array.tolist() for name, array in arrays.items()}, meta, variation.seed, variation.words


def test_the_same_seed_gives_the_same_variations_however_many(figure):
    ten, three = many(figure, count=10), many(figure, count=3)
    assert [values(one) for one in ten[:3]] == [values(one) for one in three]
    assert [values(one) for one in many(figure, count=10)] == [values(one) for one in ten]
    assert [one.number for one in ten] == list(range(1, 11)) and [one.seed for one in ten] == list(range(10))
    assert len({one.words for one in ten}) == 10
    assert [one.words for one in many(figure, count=10, seed=1)] != [one.words for one in ten]


def test_pushes_are_within_their_ranges_and_all_over_them(figure):
    found = many(figure, count=300, least_n=50.0, most_n=200.0, earliest=0.25, latest=0.5, duration_s=0.1)
    pushes = [one.parts.pushes[0] for one in found]
    forces = np.array([np.linalg.norm(push.force) for push in pushes])
    starts = np.array([push.start_s for push in pushes])
    assert 50.0 <= forces.min() < 60.0 and 190.0 < forces.max() <= 200.0
    assert 0.5 <= starts.min() < 0.52 and 0.98 < starts.max() <= 1.0
    assert all(push.force[2] == 0.0 and push.duration_s == 0.1 and push.character == "Hero" for push in pushes)
    assert all(push.bone == "chest" for push in pushes)
    sides = np.array([one.facts["from_deg"] for one in found])
    assert np.all(np.histogram(sides, bins=8, range=(0, 360))[0] > 15)


def test_who_turns_is_pushed_from_its_own_side(figure):
    body, clip = figure
    for time_s, expected in ((0.0, [1, 0, 0]), (0.5, [0, 1, 0]), (1.0, [-1, 0, 0])):
        assert facing_direction_at(body, clip, time_s) == pytest.approx(expected, abs=1e-9)
    ways = {"front": [-1, 0], "back": [1, 0], "left": [0, -1], "right": [0, 1]}
    for side, way in ways.items():
        for one in many(figure, count=30, side=side):
            push = one.parts.pushes[0]
            angle = push.start_s * np.pi  # how far it has turned by then
            turned = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) @ way
            # Within 30 degrees, and the clip's frames are 3.6 degrees apart.
            assert push.force[:2] @ turned / np.linalg.norm(push.force) > np.cos(np.radians(32.0)), side
            assert side in one.words


def test_words_say_what_happens(figure):
    one = many(figure, count=1, least_n=120.0, most_n=120.0, side="left")[0]
    assert one.title("Walk").startswith("Walk push 1: 120 N from the ")
    assert one.facts["push_n"] == 120.0 and one.facts["bone"] == "chest"


def test_without_pushes_only_the_seed_differs(figure):
    parts = StageParts(("Hero",))
    found = many(figure, parts, seed=5, count=3, least_n=0.0, most_n=0.0)
    assert all(one.parts is parts for one in found)
    assert [one.title("Walk") for one in found] == ["Walk 1: seed 5", "Walk 2: seed 6", "Walk 3: seed 7"]


def test_what_the_scene_has_stays(figure):
    own = PushPart("Mine", "Hero", "hips", np.array([0.0, 0.0, 9.0]), 0.1, 0.1)
    found = many(figure, StageParts(("Hero", "Rival"), pushes=(own,)), count=2)
    assert all(one.parts.pushes[0] is own and len(one.parts.pushes) == 2 for one in found)
    assert all(one.parts.characters == ("Hero", "Rival") for one in found)


def test_weight_friction_and_gravity_vary_by_as_much_as_was_asked(figure):
    body, _ = figure
    found = many(figure, count=100, least_n=0.0, most_n=0.0, mass=0.2, friction=0.5, gravity=0.1)
    for name, spread in (("mass", 0.2), ("friction", 0.5), ("gravity", 0.1)):
        factors = np.array([one.facts[f"{name}_factor"] for one in found])
        assert 1 - spread <= factors.min() < 1 - 0.9 * spread and 1 + 0.9 * spread < factors.max() <= 1 + spread
    one = found[0]
    stage, _ = assemble_stage(stage_from_arrays(*stage_to_arrays(one.parts)), (body,))
    assert stage.characters[0].body.mass == pytest.approx(body.mass * one.facts["mass_factor"])
    assert stage.characters[0].body.links[1].inertia == pytest.approx(np.eye(3) * one.facts["mass_factor"])
    assert stage.friction == pytest.approx(one.facts["friction_factor"])
    assert stage.gravity == pytest.approx([0, 0, -9.81 * one.facts["gravity_factor"]])
    assert "mass " in one.words and " %" in one.words


def test_one_thing_more_does_not_change_the_others(figure):
    plain, more = many(figure, count=5), many(figure, count=5, mass=0.3, gravity=0.2)
    assert [one.facts["push_n"] for one in plain] == [one.facts["push_n"] for one in more]
    assert [one.facts["from_deg"] for one in plain] == [one.facts["from_deg"] for one in more]


def test_projectiles_are_thrown_from_other_sides_and_meet_the_character(figure):
    ball = PropPart("Ball", 1.0, np.array([4.0, 0.0, 1.2]), shape=BALL, velocity=np.array([-8.0, 0, 0]), appears_s=0.2)
    crate = PropPart("Crate", 5.0, np.array([2.0, 2.0, 0.5]), shape=BALL)
    parts = StageParts(("Hero",), props=(ball, crate))
    for one in many(figure, parts, count=12, throw=True, least_n=0.0, most_n=0.0):
        thrown, still = one.parts.props
        assert still is crate and not one.parts.pushes
        assert np.linalg.norm(thrown.pos[:2]) == pytest.approx(4.0) and thrown.pos[2] == 1.2
        assert np.linalg.norm(thrown.velocity) == pytest.approx(8.0) and thrown.appears_s == one.facts["at_s"]
        time_s = np.arange(0.0, 1.0, 0.001)[:, None]
        way = thrown.pos + time_s * thrown.velocity + 0.5 * time_s**2 * [0, 0, -9.81]
        assert np.linalg.norm(way - [0.0, 0.0, 1.4], axis=-1).min() < 0.05


def test_nothing_to_throw_is_said(figure):
    with pytest.raises(BadStage, match="nothing on the stage to throw"):
        many(figure, count=1, throw=True)


def test_a_bone_without_a_body_is_refused(figure):
    with pytest.raises(BadStage, match="'hat' has no body") as caught:
        many(figure, count=1, bone="hat")
    assert "chest" in caught.value.hint


def test_a_push_longer_than_the_clip_is_refused(figure):
    with pytest.raises(BadSettings, match=r"3 s does not fit into a clip of 2\.00 s"):
        many(figure, count=1, duration_s=3.0)


@pytest.mark.parametrize("wrong", [{"least_n": 300.0}, {"earliest": 0.9}, {"count": 0}, {"side": "above"}])
def test_wrong_ranges_are_refused(wrong):
    with pytest.raises(BadSettings):
        VariationSettings(**wrong)


def test_who_lies_on_the_side_or_has_no_legs_still_faces_somewhere(figure):
    body, clip = figure
    quat = np.array(clip.local_quat_wxyz)
    lying = from_rotation_vector(np.array([np.pi / 2, 0.0, 0.0]))
    quat[:, 0] = multiply(np.broadcast_to(lying, quat[:, 0].shape), quat[:1, 0])
    found = facing_direction_at(body, dataclasses.replace(clip, local_quat_wxyz=quat), 0.0)
    assert np.linalg.norm(found) == pytest.approx(1.0) and found[2] == 0.0
    one = BodyModel(body.skeleton, (link("hips", "body", "", -1, "free"),))
    assert facing_direction_at(one, clip, 0.5) == pytest.approx(
        rotate(clip.local_quat_wxyz[25, 0], np.array([0.0, -1.0, 0.0]))
    )
    assert trunk_bone(one) == "hips"
