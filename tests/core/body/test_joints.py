# SPDX-License-Identifier: GPL-3.0-or-later
"""Hinge axes, zeros and limits."""

import dataclasses

import numpy as np
import pytest

from sinew.core.body import build_body, pose_of_clip
from sinew.core.body.joints import mean_rotation
from sinew.core.geometry.quaternions import angle_between, from_rotation_vector, multiply, rotate, to_rotation_vector
from sinew.core.motion.io import stock

from .figures import fox, person, turned, wiggling


def axis_at_rest(skeleton, link) -> np.ndarray:
    """(3,) a hinge's axis in the world at rest."""
    return rotate(skeleton.rest_world()[1][skeleton.index(link.bone)], link.joint.axis)


def hinges(body) -> dict:
    return {link.bone: link for link in body.links if link.joint.kind == "hinge"}


@pytest.mark.parametrize("degrees", [0.0, 130.0])
def test_without_a_clip_hinges_lie_across_the_limb_and_bend_as_people_do(degrees):
    skeleton = turned(person(), degrees)
    body, _ = build_body(skeleton)
    turn = from_rotation_vector(np.array([0.0, 0.0, np.radians(degrees)]))
    front, up = rotate(turn, np.array([0.0, -1.0, 0.0])), np.array([0.0, 0.0, 1.0])
    heads, _ = skeleton.rest_world()
    for bone, link in hinges(body).items():
        kind, _, side = bone.partition(".")
        end = {"shin": "foot", "forearm": "hand", "toe": None}[kind]
        if end is None:
            assert np.cross(axis_at_rest(skeleton, link), front) @ up > 0.9  # toes turn up
            continue
        limb = heads[skeleton.index(f"{end}.{side}")] - heads[skeleton.index(bone)]
        moves = np.cross(axis_at_rest(skeleton, link), limb / np.linalg.norm(limb))
        assert moves @ (-front if kind == "shin" else front) > 0.9


@pytest.mark.parametrize("name", ["walk", "cartwheel", "punch", "getup_faceup"])
def test_stock_hinges_turn_about_their_own_x_and_give_back_the_source(name):
    clip = stock.load_stock(name)
    body, _ = build_body(clip.skeleton, clip=clip)
    qpos, _ = pose_of_clip(body, clip)
    for bone, link in hinges(body).items():
        assert link.joint.axis == pytest.approx([1.0, 0.0, 0.0], abs=1e-6)
        index = body.link_of(bone)
        angle = qpos[:, body.qpos_starts[index]]
        source = clip.local_quat_wxyz[:, clip.skeleton.index(bone)]
        mine = multiply(link.joint.zero_quat_wxyz, from_rotation_vector(angle[:, None] * link.joint.axis))
        assert angle_between(mine, source).max() < 1e-9


def bending(skeleton, bone: str, axis: np.ndarray, angles: np.ndarray):
    clip = wiggling(skeleton, frames=len(angles), amount=0.0)
    quat = clip.local_quat_wxyz.copy()
    index = skeleton.index(bone)
    quat[:, index] = multiply(skeleton.rest_quat_wxyz[index], from_rotation_vector(angles[:, None] * axis))
    return dataclasses.replace(clip, local_quat_wxyz=quat)


@pytest.mark.parametrize("bone", ["shin.L", "shin.R", "forearm.L", "toe.R"])
def test_a_hinge_takes_the_axis_that_the_clip_bends_about(bone):
    skeleton = person()
    build, _ = build_body(skeleton)
    usual = build.links[build.link_of(bone)].joint.axis
    odd = rotate(from_rotation_vector(np.array([0.0, 0.25, 0.1])), usual)  # some degrees off what anatomy says
    clip = bending(skeleton, bone, odd, np.linspace(0.05, 1.2, 40))
    body, report = build_body(skeleton, clip=clip)
    joint = body.links[body.link_of(bone)].joint
    assert joint.axis == pytest.approx(odd, abs=1e-6)
    assert "clip" in report.links[body.link_of(bone)].joint


def test_an_elbow_with_a_turning_forearm_keeps_the_axis_it_bends_about():
    """A forearm that also turns about itself: the axis is across the bend, not a mixture."""
    skeleton = person()
    build, _ = build_body(skeleton)
    link = build.links[build.link_of("forearm.L")]
    along = build.links[build.link_of("hand.L")].joint.pos
    along = along / np.linalg.norm(along)
    clip = bending(skeleton, "forearm.L", link.joint.axis, np.linspace(0.3, 1.6, 60))
    quat = clip.local_quat_wxyz.copy()
    index = skeleton.index("forearm.L")
    roll = 0.8 * np.sin(np.linspace(0.0, 9.0, 60))
    quat[:, index] = multiply(quat[:, index], from_rotation_vector(roll[:, None] * along))
    body, _ = build_body(skeleton, clip=dataclasses.replace(clip, local_quat_wxyz=quat))
    fitted = body.links[body.link_of("forearm.L")].joint
    mean_roll = from_rotation_vector(-np.mean(roll) * along)
    off = np.degrees(np.arccos(abs(rotate(mean_roll, link.joint.axis) @ fitted.axis)))
    assert off < 12.0


def test_a_straight_limb_reads_zero_and_bending_is_positive():
    skeleton = person()
    clip = bending(
        skeleton, "shin.L", build_body(skeleton)[0].links[0].joint.axis * 0.0 + [1.0, 0.0, 0.0], np.linspace(0, 1.5, 30)
    )
    body, _ = build_body(skeleton, clip=clip)
    qpos, _ = pose_of_clip(body, clip)
    index = body.link_of("shin.L")
    heads, _ = clip.world()
    hip, knee, ankle = (heads[:, skeleton.index(bone)] for bone in ("thigh.L", "shin.L", "foot.L"))
    thigh, shin = knee - hip, ankle - knee
    bend = np.arccos(np.sum(thigh * shin, -1) / np.linalg.norm(thigh, axis=-1) / np.linalg.norm(shin, axis=-1))
    angle = qpos[:, body.qpos_starts[index]]
    assert np.abs(angle) == pytest.approx(bend, abs=0.05)
    assert np.median(angle) > 0.5


@pytest.mark.parametrize("make", [person, fox])
@pytest.mark.parametrize("seed", range(4))
def test_limits_contain_clip_and_rest_with_a_margin(make, seed):
    skeleton = make()
    clip = wiggling(skeleton, seed, amount=1.2)
    body, _ = build_body(skeleton, clip=clip)
    rest = wiggling(skeleton, amount=0.0, frames=2)
    for each in (clip, rest):
        qpos, _ = pose_of_clip(body, each)
        for index, link in enumerate(body.links[1:], start=1):
            own = qpos[:, body.qpos_starts[index] : body.qpos_starts[index + 1]]
            if link.joint.kind == "hinge":
                assert link.joint.lower < own.min() - 0.1 and own.max() + 0.1 < link.joint.upper
            else:
                angle = np.linalg.norm(to_rotation_vector(own), axis=-1).max()
                assert angle < link.joint.max_angle or link.joint.max_angle == pytest.approx(np.pi)


def test_limits_are_peoples_where_the_clip_asks_for_less():
    body, _ = build_body(person())
    knee, shoulder = (body.links[body.link_of(bone)].joint for bone in ("shin.L", "upper_arm.L"))
    assert np.degrees([knee.lower, knee.upper]) == pytest.approx([-10.0, 150.0])
    assert np.degrees(shoulder.max_angle) == pytest.approx(120.0)


@pytest.mark.parametrize("name", stock.stock_names())
def test_balls_stay_away_from_half_a_turn(name):
    clip = stock.load_stock(name)
    body, _ = build_body(clip.skeleton, clip=clip)
    qpos, _ = pose_of_clip(body, clip)
    for index, link in enumerate(body.links):
        if link.joint.kind == "ball":
            own = qpos[:, body.qpos_starts[index] : body.qpos_starts[index + 1]]
            assert np.linalg.norm(to_rotation_vector(own), axis=-1).max() < 0.75 * np.pi


def test_a_ball_whose_clip_is_far_from_the_middle_of_its_range_moves_its_zero():
    skeleton = person()
    clip = wiggling(skeleton, amount=0.1)
    quat = clip.local_quat_wxyz.copy()
    index = skeleton.index("hand.L")
    quat[:, index] = multiply(quat[:, index], from_rotation_vector(np.array([0.0, 3.0, 0.0])))
    body, report = build_body(skeleton, clip=dataclasses.replace(clip, local_quat_wxyz=quat))
    qpos, _ = pose_of_clip(body, dataclasses.replace(clip, local_quat_wxyz=quat))
    link = body.link_of("hand.L")
    own = qpos[:, body.qpos_starts[link] : body.qpos_starts[link + 1]]
    assert np.linalg.norm(to_rotation_vector(own), axis=-1).max() < 0.5
    assert "clip" in report.links[link].joint


def test_the_mean_of_rotations_does_not_care_for_signs():
    vectors = np.random.default_rng(0).normal(size=(50, 3)) * 0.2
    quats = multiply(from_rotation_vector(np.array([1.0, 0.5, -0.3])), from_rotation_vector(vectors - vectors.mean(0)))
    flipped = quats * np.where(np.arange(50) % 2, 1.0, -1.0)[:, None]
    assert angle_between(mean_rotation(flipped), from_rotation_vector(np.array([1.0, 0.5, -0.3]))) < 0.02
