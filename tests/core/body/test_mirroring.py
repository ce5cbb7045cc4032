# SPDX-License-Identifier: GPL-3.0-or-later
"""The mirror image of a body's motion, on rigs whose bones are turned all ways."""

import dataclasses

import numpy as np
import pytest

from sinew.core.body import build_body, pose_of_clip, targets_of_pose
from sinew.core.body.mirroring import BodyMirror
from sinew.core.body.poses import link_transforms, velocity_of_pose
from sinew.core.errors import RigError
from sinew.core.geometry.quaternions import (
    from_rotation_vector,
    multiply,
    rotate,
    to_matrix,
    to_rotation_vector,
)
from sinew.core.motion import Skeleton
from sinew.core.motion.io import stock
from sinew.core.motion.skeleton import to_local

from ...body_links import replace_link
from .figures import fox, layered, person, turned, wiggling


def rolled(skeleton: Skeleton, seed: int = 1) -> Skeleton:
    """The same places, each bone's own axes turned at random: nothing about them tells of left and right."""
    rng = np.random.default_rng(seed)
    heads, quats = skeleton.rest_world()
    quats = multiply(quats, from_rotation_vector(rng.normal(size=(len(skeleton), 3))))
    pos, quat = to_local(skeleton.parents, heads, quats)
    return Skeleton(skeleton.names, skeleton.parents, pos, quat, skeleton.lengths)


def leaning(skeleton: Skeleton, degrees: float = 20.0) -> Skeleton:
    """The skeleton as a whole tipped over to its side."""
    turn = from_rotation_vector(np.array([0.0, np.radians(degrees), 0.0]))
    heads, quats = skeleton.rest_world()
    pos, quat = to_local(skeleton.parents, rotate(turn, heads), multiply(turn, quats))
    return Skeleton(skeleton.names, skeleton.parents, pos, quat, skeleton.lengths)


RIGS = {
    "stock": stock.stock_skeleton,
    "person": person,
    "turned": lambda: turned(person(), 37.0),
    "rolled": lambda: rolled(person()),
    "leaning": lambda: leaning(person()),
    "fox": fox,
    "layered": layered,
}
UPRIGHT = [
    name for name in RIGS if name != "leaning"
]  # a body that leans at rest is not quite built alike on both sides


def body_and_poses(name, frames=20):
    """A body of that rig and poses of it in which everything swings and travels."""
    skeleton = RIGS[name]()
    body, _ = build_body(skeleton)
    qpos, qvel = pose_of_clip(body, wiggling(skeleton, 3, frames, 0.4))
    return body, qpos, qvel


@pytest.mark.parametrize("name", RIGS)
def test_every_link_is_where_its_partner_is_seen_in_the_mirror(name):
    body, qpos, _ = body_and_poses(name)
    mirror = BodyMirror(body)
    pos, image_pos = link_transforms(body, qpos)[0], link_transforms(body, mirror.pose(qpos))[0]
    assert image_pos[:, mirror.links] == pytest.approx(mirror.reflect(pos), abs=1e-9)


@pytest.mark.parametrize("name", UPRIGHT)
def test_solids_are_seen_in_the_mirror(name):
    body, qpos, _ = body_and_poses(name)
    mirror = BodyMirror(body)
    own = np.array([link.com for link in body.links])
    (pos, quat), (image_pos, image_quat) = link_transforms(body, qpos), link_transforms(body, mirror.pose(qpos))
    images = image_pos + rotate(image_quat, own)
    assert images[:, mirror.links] == pytest.approx(mirror.reflect(pos + rotate(quat, own)), abs=2e-3)


@pytest.mark.parametrize("name", UPRIGHT)
def test_turns_from_rest_are_seen_the_other_way_round(name):
    body, qpos, _ = body_and_poses(name)
    mirror = BodyMirror(body)
    flip = np.eye(3) - 2.0 * np.outer(mirror.normal, mirror.normal)
    rest = to_matrix(body.skeleton.rest_world()[1])[[body.skeleton.index(link.bone) for link in body.links]]
    turns = to_matrix(link_transforms(body, qpos)[1]) @ np.swapaxes(rest, -1, -2)
    images = to_matrix(link_transforms(body, mirror.pose(qpos))[1]) @ np.swapaxes(rest, -1, -2)
    assert images[:, mirror.links] == pytest.approx(flip @ turns @ flip, abs=1e-9)


@pytest.mark.parametrize("name", RIGS)
def test_partners_are_on_the_other_side_and_the_middle_keeps_to_itself(name):
    body, _, _ = body_and_poses(name)
    links = BodyMirror(body).links
    assert np.array_equal(links[links], np.arange(len(body.links)))
    for link, other in zip(body.links, links, strict=True):
        assert body.links[other].role == link.role
        assert body.links[other].side == {"L": "R", "R": "L", "": ""}[link.side]
        assert link.side or body.links[other] is link


@pytest.mark.parametrize("name", RIGS)
def test_mirrored_twice_it_is_the_same(name):
    body, qpos, qvel = body_and_poses(name)
    mirror = BodyMirror(body)
    assert mirror.pose(mirror.pose(qpos)) == pytest.approx(qpos, abs=1e-12)
    assert mirror.velocity(mirror.velocity(qvel)) == pytest.approx(qvel, abs=1e-12)
    assert mirror.offsets @ mirror.offsets == pytest.approx(np.eye(body.nu), abs=1e-12)
    assert np.abs(mirror.pose(qpos) - qpos).max() > 0.1


def test_a_single_pose_and_a_batch_of_them_are_mirrored_alike():
    body, qpos, qvel = body_and_poses("person", 12)
    mirror = BodyMirror(body)
    assert np.array_equal(mirror.pose(qpos[5]), mirror.pose(qpos)[5])
    assert np.array_equal(mirror.pose(qpos.reshape(3, 4, -1))[1, 1], mirror.pose(qpos)[5])
    assert mirror.velocity(qvel[5]) == pytest.approx(mirror.velocity(qvel)[5], abs=1e-12)


@pytest.mark.parametrize("name", RIGS)
def test_mirrored_velocities_are_those_of_the_mirrored_motion(name):
    body, qpos, _ = body_and_poses(name, 200)
    mirror = BodyMirror(body)
    dt_s = 0.005
    expected = velocity_of_pose(body, mirror.pose(qpos), dt_s)
    assert mirror.velocity(velocity_of_pose(body, qpos, dt_s)) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", UPRIGHT)
def test_mirrored_offsets_lead_to_the_mirrored_pose(name):
    """Targets moved by d and then mirrored are the mirrored targets moved by the mirrored d."""
    body, qpos, _ = body_and_poses(name)
    mirror = BodyMirror(body)
    targets = targets_of_pose(body, qpos)
    offsets = np.random.default_rng(5).normal(scale=0.2, size=targets.shape)
    moved = posed(body, qpos, targets + offsets)
    expected = targets_of_pose(body, mirror.pose(moved))
    assert targets_of_pose(body, mirror.pose(qpos)) + offsets @ mirror.offsets.T == pytest.approx(expected, abs=1e-9)


def posed(body, qpos, targets):
    """The poses (T, nq) with joints where targets (T, nu) want them."""
    moved = qpos.copy()
    for index, link in enumerate(body.links[1:], start=1):
        own = slice(body.qpos_starts[index], body.qpos_starts[index + 1])
        target = targets[:, body.qvel_starts[index] - 6 : body.qvel_starts[index + 1] - 6]
        moved[:, own] = target if link.joint.kind == "hinge" else from_rotation_vector(target)
    return moved


def test_a_hinge_that_is_measured_the_other_way_round_changes_its_sign():
    body, qpos, _ = body_and_poses("person")
    shin = next(i for i, link in enumerate(body.links) if (link.role, link.side) == ("shin", "L"))
    joint = body.links[shin].joint
    other = dataclasses.replace(joint, axis=-joint.axis, lower=-joint.upper, upper=-joint.lower)
    reversed_ = replace_link(body, shin, dataclasses.replace(body.links[shin], joint=other))
    at = body.qpos_starts[shin]
    same = qpos.copy()
    same[:, at] *= -1.0
    image = BodyMirror(reversed_).pose(same)
    expected = BodyMirror(body).pose(qpos)
    expected[:, at] *= -1.0
    assert image == pytest.approx(expected, abs=1e-12)
    partner = BodyMirror(reversed_).links[shin]
    starts = body.qvel_starts - 6
    assert BodyMirror(reversed_).offsets[starts[partner], starts[shin]] == -1.0


def test_zeros_that_a_clip_told_differently_on_both_sides_do_not_bend_the_image():
    body, qpos, _ = body_and_poses("rolled")
    rng = np.random.default_rng(2)
    for index, link in enumerate(body.links[1:], start=1):
        joint = link.joint
        turn = from_rotation_vector(rng.normal(scale=0.3, size=3) if joint.kind == "ball" else 0.4 * joint.axis)
        joint = dataclasses.replace(joint, zero_quat_wxyz=multiply(joint.zero_quat_wxyz, turn))
        if link.side == "L" or joint.kind == "ball":
            body = replace_link(body, index, dataclasses.replace(link, joint=joint))
    mirror = BodyMirror(body)
    image = mirror.pose(qpos)
    assert link_transforms(body, image)[0][:, mirror.links] == pytest.approx(
        mirror.reflect(link_transforms(body, qpos)[0]), abs=1e-9
    )
    assert mirror.pose(image) == pytest.approx(qpos, abs=1e-12)
    assert mirror.offsets @ mirror.offsets == pytest.approx(np.eye(body.nu), abs=1e-12)


def test_offsets_are_right_half_way_between_zeros_that_differ():
    body, qpos, _ = body_and_poses("rolled", 1)
    arm = next(i for i, link in enumerate(body.links) if (link.role, link.side) == ("upper_arm", "L"))
    joint = body.links[arm].joint
    zero = multiply(joint.zero_quat_wxyz, from_rotation_vector(np.array([0.5, -0.6, 0.4])))
    joint = dataclasses.replace(joint, zero_quat_wxyz=zero)
    body = replace_link(body, arm, dataclasses.replace(body.links[arm], joint=joint))
    mirror = BodyMirror(body)
    own, its = (slice(body.qpos_starts[i], body.qpos_starts[i + 1]) for i in (arm, mirror.links[arm]))
    qpos[:, own] = [1.0, 0.0, 0.0, 0.0]
    image = mirror.pose(qpos)
    image[:, its] = from_rotation_vector(0.5 * to_rotation_vector(image[:, its]))
    half_way = mirror.pose(image)
    offset = np.zeros((1, body.nu))
    offset[:, body.qvel_starts[arm] - 6 : body.qvel_starts[arm + 1] - 6] = [[1e-5, 2e-5, -3e-5]]
    moved = posed(body, half_way, targets_of_pose(body, half_way) + offset)
    change = targets_of_pose(body, mirror.pose(moved)) - targets_of_pose(body, image)
    assert change == pytest.approx(offset @ mirror.offsets.T, abs=1e-9)


def test_vectors_and_momenta_are_mirrored_as_the_motion_is():
    """The angular momentum of a turning body, and the way it goes, are those of its image."""
    body, qpos, qvel = body_and_poses("turned", 200)
    mirror = BodyMirror(body)
    masses = np.array([link.mass for link in body.links])

    def momentum(poses):
        pos, quat = link_transforms(body, poses)
        coms = pos + rotate(quat, np.array([link.com for link in body.links]))
        centre = np.average(coms, axis=1, weights=masses)
        speed = np.gradient(coms, 0.005, axis=0)
        spin = np.cross(coms - centre[:, None], speed - np.average(speed, axis=1, weights=masses)[:, None])
        return centre, np.einsum("l,tlk->tk", masses, spin)

    centre, spin = momentum(qpos)
    image_centre, image_spin = momentum(mirror.pose(qpos))
    assert image_centre == pytest.approx(mirror.reflect(centre), abs=1e-3)
    assert image_spin == pytest.approx(-mirror.reflect(spin), abs=0.02 * np.abs(spin).max())
    assert mirror.velocity(qvel)[:, :3] == pytest.approx(mirror.reflect(qvel[:, :3]), abs=1e-12)


def test_a_captured_body_whose_hinges_a_clip_told_is_mirrored_nearly():
    skeleton = person()
    clip = wiggling(skeleton)
    body, _ = build_body(skeleton, clip=clip)
    qpos, _ = pose_of_clip(body, clip)
    mirror = BodyMirror(body)
    off = link_transforms(body, mirror.pose(qpos))[0][:, mirror.links] - mirror.reflect(link_transforms(body, qpos)[0])
    assert np.linalg.norm(off, axis=-1).max() < 0.02
    assert mirror.pose(mirror.pose(qpos)) == pytest.approx(qpos, abs=1e-12)


def test_a_link_without_a_counterpart_is_named():
    body, _ = build_body(person(), overrides={"forearm.R": "merge", "hand.R": "merge"})
    with pytest.raises(RigError, match=r"'forearm\.L' has no counterpart"):
        BodyMirror(body)


def test_a_body_without_sides_is_refused():
    body, _ = build_body(person())
    trunk = tuple(link for link in body.links if not link.side)
    assert all(link.parent < len(trunk) for link in trunk)
    with pytest.raises(RigError, match="no left and right side"):
        BodyMirror(dataclasses.replace(body, links=trunk))


def test_a_rest_pose_with_one_arm_raised_is_refused():
    skeleton = person()
    bone = skeleton.index("upper_arm.L")
    quat = skeleton.rest_quat_wxyz.copy()
    quat[bone] = multiply(quat[bone], from_rotation_vector(np.array([0.0, 0.0, 0.9])))
    raised = Skeleton(skeleton.names, skeleton.parents, skeleton.rest_pos, quat, skeleton.lengths)
    body, _ = build_body(raised)
    with pytest.raises(RigError, match="not symmetric"):
        BodyMirror(body)


def test_knees_that_bend_about_different_axes_are_refused():
    body, _ = build_body(person())
    shin = next(i for i, link in enumerate(body.links) if link.role == "shin")
    link = body.links[shin]
    away = np.cross(link.joint.axis, np.array([0.0, 1.0, 0.0]))
    joint = dataclasses.replace(link.joint, axis=away / np.linalg.norm(away))
    with pytest.raises(RigError, match="different axes"):
        BodyMirror(replace_link(body, shin, dataclasses.replace(link, joint=joint)))
