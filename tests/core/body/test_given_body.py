# SPDX-License-Identifier: GPL-3.0-or-later
"""Given bodies: exact as texts, kept to their own rest pose; and hinges in a row as one joint."""

import json
from dataclasses import replace

import numpy as np
import pytest

from sinew.core.body import BodyModel, Joint, Link, build_body
from sinew.core.body.given_body import build_given_body, given_from_mapping, given_from_text, given_to_mapping
from sinew.core.body.hinge_rows import solve_hinge_row
from sinew.core.body.poses import link_transforms, pose_of_clip
from sinew.core.errors import BadFile, RigError
from sinew.core.geometry.quaternions import IDENTITY, angle_between, from_rotation_vector, multiply
from sinew.core.motion import Clip, Skeleton
from sinew.core.motion.io.stock import stock_skeleton

AXES = ([0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0])


def hinges(count=3, limit=1.2):
    tilt = from_rotation_vector(np.array([0.0, 0.17, 0.0]))
    return [Joint("hinge", np.array([0.0, 0.0, -0.1]), tilt, np.array(axis), -limit, limit) for axis in AXES[:count]]


def turned(joints, angles):
    own = np.broadcast_to(IDENTITY, (len(angles), 4))
    for column, joint in enumerate(joints):
        own = multiply(own, multiply(joint.zero_quat_wxyz, from_rotation_vector(angles[:, column, None] * joint.axis)))
    return own


@pytest.mark.parametrize("count", [2, 3])
def test_a_row_of_hinges_turns_as_it_did(count):
    joints = hinges(count)
    time = np.linspace(0.0, 6.0, 60)[:, None]
    angles = np.sin(time * np.arange(1, count + 1)) * [0.9, 0.8, 1.0][:count]
    found = solve_hinge_row(joints, turned(joints, angles), np.zeros((60, count)))
    np.testing.assert_allclose(found, angles, atol=1e-3)


def test_a_row_of_hinges_keeps_within_limits_and_gets_near():
    joints, free = hinges(3, 0.4), hinges(3, 3.0)
    wanted = turned(free, np.array([[0.9, 0.1, -0.2]]))
    found = solve_hinge_row(joints, wanted, np.zeros((1, 3)))
    assert np.abs(found).max() <= 0.4
    assert angle_between(turned(joints, found), wanted)[0] < 0.6 < angle_between(turned(joints, 0.0 * found), wanted)[0]


@pytest.fixture(scope="module")
def robot():
    """A root, three hinges in a row down to a thigh, and a knee."""
    joints = [Joint("free", np.array([0.0, 0.0, 1.0])), *hinges(3), hinges(1, 2.0)[0]]
    pos, quat = (np.array([getattr(joint, name) for joint in joints]) for name in ("pos", "zero_quat_wxyz"))
    names = ("pelvis", "pitch", "roll", "thigh.L", "shin.L")
    skeleton = Skeleton(names, np.arange(-1, 4), pos, quat, np.full(5, 0.1))
    roles = (("pelvis", ""), ("", "L"), ("", "L"), ("thigh", "L"), ("shin", "L"))
    made = build_body(stock_skeleton())[0].links[0]
    links = tuple(
        Link(name, role, side, index - 1, joint, made.shapes, 1.0 + index, made.com, made.inertia)
        for index, (name, (role, side), joint) in enumerate(zip(names, roles, joints, strict=True))
    )
    return BodyModel(skeleton, links)


def test_hinges_are_filled_from_where_the_limb_points(robot):
    """What turns the thigh's bone alone turns all three hinges."""
    assert robot.hinge_rows == ((1, 2, 3),) and robot.joint_roles[1] == "thigh"
    local = np.tile(robot.skeleton.rest_quat_wxyz, (5, 1, 1))
    local[:, 3] = multiply(local[:, 3], from_rotation_vector(np.linspace(0.0, 0.7, 5)[:, None] * [0.6, 0.6, 0.5]))
    clip = Clip(robot.skeleton, 30.0, np.tile(robot.skeleton.rest_pos, (5, 1, 1)), local)
    qpos, _ = pose_of_clip(robot, clip)
    np.testing.assert_array_less(angle_between(link_transforms(robot, qpos)[1][:, 3], clip.world()[1][:, 3]), 1e-3)
    assert np.abs(qpos[-1, 7:10]).min() > 0.05


def test_it_is_the_same_as_a_text(robot):
    again = given_from_mapping(json.loads(json.dumps(given_to_mapping(robot))))
    for one, other in zip(robot.links, again.links, strict=True):
        assert np.array_equal(one.inertia, other.inertia) and one.mass == other.mass
        assert np.array_equal(one.joint.axis, other.joint.axis) and one.joint.lower == other.joint.lower


def test_efforts_are_kept_and_the_rest_is_made_for_what_is_carried(robot):
    shin = replace(robot.links[4], joint=replace(robot.links[4].joint, torque_limit=33.0))
    strong = replace(robot, links=(*robot.links[:4], shin))
    body, report = build_given_body(robot.skeleton, strong)
    assert body.links[4].joint.torque_limit == 33.0
    assert len({link.joint.kp for link in body.links[1:4]}) == 1 and body.links[1].joint.kp > 0.0
    assert report.body_preset == "given" and body.mass == robot.mass
    assert build_given_body(robot.skeleton, strong, mass_kg=30.0)[0].mass == pytest.approx(30.0)


def test_a_skeleton_that_was_changed_is_refused(robot):
    own = robot.skeleton
    longer = Skeleton(own.names, own.parents, own.rest_pos * [1, 1, 1.2], own.rest_quat_wxyz, own.lengths)
    with pytest.raises(RigError, match="from where the given body has it"):
        build_given_body(longer, robot)
    renamed = Skeleton(("hips", *own.names[1:]), own.parents, own.rest_pos, own.rest_quat_wxyz, own.lengths)
    with pytest.raises(RigError, match="moves bone 'pelvis', which is not there"):
        build_given_body(renamed, robot)
    with pytest.raises(RigError, match="cannot ride"):
        build_given_body(own, robot, overrides={"shin.L": "ride"})


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"meta": {}, "arrays": {}}', '{"meta": 1, "arrays": {"a": "b"}}'])
def test_a_text_that_is_no_body_is_refused(text):
    with pytest.raises(BadFile):
        given_from_text(text)


def test_a_text_without_end_is_refused():
    with pytest.raises(BadFile, match="is the most"):
        given_from_text("x" * 3_000_000)
