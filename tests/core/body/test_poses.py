# SPDX-License-Identifier: GPL-3.0-or-later
"""Clips to poses and back: what is exact, what is lost and said so."""

import dataclasses

import numpy as np
import pytest

from sinew.core.body import build_body, clip_of_pose, loss_of_clip, pose_of_clip, targets_of_pose
from sinew.core.body.poses import link_transforms
from sinew.core.errors import BadMotion
from sinew.core.geometry.quaternions import angle_between, conjugate, from_rotation_vector, multiply, rotate
from sinew.core.motion import Clip, Tag
from sinew.core.motion.io import stock

from .figures import person, wiggling


def hinged(skeleton, seed=0, frames=40):
    """A clip in which knees, elbows and toes only bend, and everything else moves freely."""
    clip = wiggling(skeleton, seed, frames)
    body, _ = build_body(skeleton)
    quat = clip.local_quat_wxyz.copy()
    for link in body.links:
        if link.joint.kind == "hinge":
            bone = skeleton.index(link.bone)
            angle = 0.7 + 0.5 * np.sin(np.linspace(0.0, 6.0, frames) + seed)
            quat[:, bone] = multiply(
                skeleton.rest_quat_wxyz[bone], from_rotation_vector(angle[:, None] * link.joint.axis)
            )
    return dataclasses.replace(clip, local_quat_wxyz=quat)


def assert_same(clip: Clip, again: Clip, tolerance: float = 1e-6):
    (pos, quat), (pos_again, quat_again) = clip.world(), again.world()
    assert np.abs(pos - pos_again).max() < tolerance
    assert angle_between(quat, quat_again).max() < tolerance


@pytest.mark.parametrize("name", stock.stock_names())
def test_a_stock_clip_comes_back_as_it_was(name):
    clip = stock.load_stock(name)
    body, _ = build_body(clip.skeleton, clip=clip)
    qpos, _ = pose_of_clip(body, clip)
    for offsets in ("source", "body"):
        assert_same(clip, clip_of_pose(body, clip, qpos, clip.fps, offsets=offsets))
    loss = loss_of_clip(body, clip)
    assert loss.off_axis.max() < 1e-6 and loss.off_place.max() < 1e-6


@pytest.mark.parametrize("seed", range(4))
def test_a_clip_comes_back_with_merged_bones_riders_and_stretch(seed):
    skeleton = person()
    clip = hinged(skeleton, seed)
    rng = np.random.default_rng(seed)
    pos = clip.local_pos + rng.normal(scale=0.02, size=clip.local_pos.shape)  # every bone stretches
    clip = dataclasses.replace(clip, local_pos=pos)
    body, _ = build_body(skeleton, clip=clip)
    qpos, _ = pose_of_clip(body, clip)
    assert_same(clip, clip_of_pose(body, clip, qpos, clip.fps))
    assert loss_of_clip(body, clip).off_place.max() > 0.02  # the stretch, which the body itself cannot show


def test_what_a_hinge_cannot_turn_is_lost_and_reported():
    skeleton = person()
    clip = wiggling(skeleton, amount=0.5)
    body, report = build_body(skeleton, clip=clip)
    loss = loss_of_clip(body, clip)
    worst = loss.worst
    assert worst["shin.L"][0] > 0.05
    assert worst["spine2"][0] < 1e-6 and worst["hand.L"][0] < 1e-6 and worst["foot.R"][0] < 1e-6
    assert any("degrees" in note for note in report.notes)
    qpos, _ = pose_of_clip(body, clip)
    again = clip_of_pose(body, clip, qpos, clip.fps)
    quat, quat_again = clip.world()[1], again.world()[1]
    for index, link in enumerate(body.links):
        bone = skeleton.index(link.bone)
        assert angle_between(quat[:, bone], quat_again[:, bone]) == pytest.approx(loss.off_axis[:, index], abs=1e-6)


def test_feet_and_hands_stay_near_their_place_where_a_knee_or_elbow_turns_off_its_hinge():
    """The ball above turns about itself, so that a bent limb still points the right way."""
    skeleton = person()
    clip = hinged(skeleton)
    quat = clip.local_quat_wxyz.copy()
    for bone in ("shin.L", "forearm.R"):
        index = skeleton.index(bone)
        sway = 0.35 * np.sin(np.linspace(0.0, 12.0, len(clip)))
        quat[:, index] = multiply(from_rotation_vector(sway[:, None] * np.array([0.0, 1.0, 0.0])), quat[:, index])
    clip = dataclasses.replace(clip, local_quat_wxyz=quat)
    body, _ = build_body(skeleton, clip=clip)
    loss = loss_of_clip(body, clip)
    naive = 0.41 * np.sin(0.7) * 0.3  # the shin pointing wrong by what is off its hinge
    assert loss.worst["foot.L"][1] < 0.4 * naive + 0.02


def test_links_are_where_the_source_has_them():
    clip = stock.load_stock("walk")
    body, _ = build_body(clip.skeleton, clip=clip)
    qpos, _ = pose_of_clip(body, clip)
    pos, quat = link_transforms(body, qpos)
    bones = [clip.skeleton.index(link.bone) for link in body.links]
    assert pos == pytest.approx(clip.world()[0][:, bones], abs=1e-9)
    assert angle_between(quat, clip.world()[1][:, bones]).max() < 1e-9


def test_velocities_carry_a_pose_to_the_next():
    """Velocities mean what BodyModel says: the root's turning and the balls' are in the link's own frame."""
    clip = hinged(person()).resample(400.0)
    body, _ = build_body(clip.skeleton, clip=clip)
    qpos, qvel = pose_of_clip(body, clip)
    here, there, middle = 100, 102, 101
    dt = 2.0 * clip.dt_s
    for index, link in enumerate(body.links):
        own = slice(body.qpos_starts[index], body.qpos_starts[index + 1])
        rate = qvel[middle, body.qvel_starts[index] : body.qvel_starts[index + 1]]
        a, b = qpos[here, own], qpos[there, own]
        if link.joint.kind == "hinge":
            assert a + rate * dt == pytest.approx(b, abs=1e-5)
            continue
        if link.joint.kind == "free":
            assert a[:3] + rate[:3] * dt == pytest.approx(b[:3], abs=1e-5)
            assert rate[:3] == pytest.approx((clip.world()[0][there, 0] - clip.world()[0][here, 0]) / dt, abs=1e-3)
        # Half the turn before the middle and half after it, both in the link's own frame.
        assert angle_between(multiply(a[-4:], from_rotation_vector(rate[-3:] * dt)), b[-4:]) < 1e-4


def test_targets_hold_the_pose():
    clip = stock.load_stock("spinkick")
    body, _ = build_body(clip.skeleton, clip=clip)
    qpos, _ = pose_of_clip(body, clip)
    targets = targets_of_pose(body, qpos)
    assert targets.shape == (len(clip), body.nu)
    for index, link in enumerate(body.links[1:], start=1):
        own = qpos[:, body.qpos_starts[index] : body.qpos_starts[index + 1]]
        target = targets[:, body.qvel_starts[index] - 6 : body.qvel_starts[index + 1] - 6]
        if link.joint.kind == "hinge":
            assert target == pytest.approx(own)
        else:
            assert angle_between(from_rotation_vector(target), own).max() < 1e-9


def test_targets_go_on_past_half_a_turn_and_begin_again_after_a_jump():
    clip = stock.load_stock("walk")
    body, _ = build_body(clip.skeleton, clip=clip)
    frames = 60
    qpos = np.repeat(pose_of_clip(body, clip)[0][:1], frames, axis=0)
    index = body.link_of("upper_arm.L")
    own = slice(body.qpos_starts[index], body.qpos_starts[index + 1])
    angle = np.linspace(0.0, 4.5, frames)
    qpos[:, own] = from_rotation_vector(angle[:, None] * np.array([0.6, 0.0, 0.8]))
    qpos[50:, own] = from_rotation_vector(np.array([0.2, 0.0, 0.0]))
    target = targets_of_pose(body, qpos)[:, body.qvel_starts[index] - 6 : body.qvel_starts[index + 1] - 6]
    assert target[:50] == pytest.approx(angle[:50, None] * np.array([0.6, 0.0, 0.8]), abs=1e-9)
    assert target[50:] == pytest.approx(np.tile([0.2, 0.0, 0.0], (10, 1)), abs=1e-9)


def test_the_sign_of_a_quaternion_changes_nothing():
    clip = stock.load_stock("dance_a")
    flipped = Clip(clip.skeleton, clip.fps, clip.local_pos, -clip.local_quat_wxyz)
    body, _ = build_body(clip.skeleton, clip=clip)
    for one, other in zip(pose_of_clip(body, clip), pose_of_clip(body, flipped), strict=True):
        same = np.minimum(np.abs(one - other), np.abs(one + other))
        assert same.max() < 1e-9
    assert targets_of_pose(body, pose_of_clip(body, flipped)[0]) == pytest.approx(
        targets_of_pose(body, pose_of_clip(body, clip)[0])
    )


def test_riders_and_merged_bones_follow_a_body_that_went_elsewhere():
    skeleton = person()
    clip = hinged(skeleton)
    body, _ = build_body(skeleton, clip=clip)
    qpos, _ = pose_of_clip(body, clip)
    turn = from_rotation_vector(np.array([0.0, 0.0, 1.0]))
    qpos[:, :3] = rotate(turn, qpos[:, :3]) + np.array([1.0, 2.0, 0.0])
    qpos[:, 3:7] = multiply(turn, qpos[:, 3:7])
    pos, quat = clip_of_pose(body, clip, qpos, clip.fps).world()
    was_pos, was_quat = clip.world()
    assert pos == pytest.approx(rotate(turn, was_pos) + np.array([1.0, 2.0, 0.0]), abs=1e-6)
    assert angle_between(quat, multiply(turn, was_quat)).max() < 1e-6


def test_offsets_of_the_body_put_links_exactly_where_they_were_simulated():
    skeleton = person()
    clip = wiggling(skeleton, amount=0.4)
    body, _ = build_body(skeleton, clip=clip)
    qpos, _ = pose_of_clip(body, clip)
    pos, quat = clip_of_pose(body, clip, qpos, clip.fps, offsets="body").world()
    placed, turned = link_transforms(body, qpos)
    bones = [skeleton.index(link.bone) for link in body.links]
    assert pos[:, bones] == pytest.approx(placed, abs=1e-9)
    assert angle_between(quat[:, bones], turned).max() < 1e-6
    # Fingers keep their place on the hand.
    for bone in ("thumb.L", "pinky.R"):
        hand = skeleton.index("hand." + bone[-1])
        finger = skeleton.index(bone)
        own = multiply(conjugate(quat[:, hand]), quat[:, finger])
        assert angle_between(own, clip.local_quat_wxyz[:, finger]).max() < 1e-6


def test_poses_at_another_rate_take_riders_from_the_same_moments():
    skeleton = person()
    clip = dataclasses.replace(hinged(skeleton, frames=31), tags=(Tag("all", 0, 31),))
    body, _ = build_body(skeleton, clip=clip)
    fast = clip.resample(120.0)
    qpos, _ = pose_of_clip(body, fast)
    again = clip_of_pose(body, clip, qpos, 120.0)
    assert len(again) == len(fast) and again.tags[0].stop == len(fast)
    assert_same(fast, again, 1e-5)
    longer = np.concatenate([qpos, np.repeat(qpos[-1:], 10, axis=0)])
    held = clip_of_pose(body, clip, longer, 120.0)
    assert len(held) == len(fast) + 10
    assert np.abs(held.world()[0][-1] - fast.world()[0][-1]).max() < 1e-5


def test_what_does_not_fit_is_refused():
    clip = stock.load_stock("walk")
    body, _ = build_body(person())
    with pytest.raises(BadMotion, match="other bones"):
        pose_of_clip(body, clip)
    with pytest.raises(BadMotion, match="shape"):
        clip_of_pose(body, wiggling(person()), np.zeros((5, 3)), 30.0)
