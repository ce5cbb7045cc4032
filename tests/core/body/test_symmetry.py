# SPDX-License-Identifier: GPL-3.0-or-later
"""Gaits made symmetric: exactly so, straight ahead, and as little changed as can be."""

import dataclasses

import numpy as np
import pytest

from sinew.core.body import build_body, pose_of_clip
from sinew.core.body.mirroring import BodyMirror
from sinew.core.body.poses import link_transforms
from sinew.core.body.symmetry import _Cycle, symmetrize_cycle
from sinew.core.errors import BadMotion, RigError
from sinew.core.geometry.quaternions import angle_between, from_rotation_vector, multiply, rotate
from sinew.core.motion import Clip, Tag
from sinew.core.motion.io import stock
from sinew.core.motion.loops import is_cyclic, loop_clip, seam_angle

from .figures import fox, person, turned, wiggling

GAITS = ["walk", "run"]
UP = np.array([0.0, 0.0, 1.0])


def stock_body(name):
    clip = stock.load_stock(name)
    return build_body(clip.skeleton, clip=clip)[0], clip


def asymmetry(body, clip):
    """Radians between a cycle and its mirror image half a cycle later: root mean square over time and links by mass.

    What the cycle turns by counts as well. Captured walks and runs have 7 to 12 degrees, a jump or a crawl more than
    20, dances and kicks 100.
    """
    mirror = BodyMirror(body)
    cycle = _Cycle.of(body, mirror, clip)
    # Headings that part at a steady rate, by the whole turn: the root mean square of a straight line about its middle.
    return float(np.hypot(cycle.best_half(body, mirror)[1], cycle.turn / np.sqrt(12.0)))


def whole(clip):
    """A cycle whose last frame is exactly its first, moved on."""
    return loop_clip(clip, 2).frames(0, len(clip))


def bent(clip, bone, vector):
    """The clip with a bone turned all the time by a rotation vector in its own frame."""
    quat = clip.local_quat_wxyz.copy()
    index = clip.skeleton.index(bone)
    quat[:, index] = multiply(quat[:, index], from_rotation_vector(np.asarray(vector)))
    return dataclasses.replace(clip, local_quat_wxyz=quat)


def carried(clip, angles, shift=(0.0, 0.0, 0.0)):
    """The clip with its way and itself turned about Z, frame by frame by angles (T,), and moved."""
    turn = from_rotation_vector(np.broadcast_to(angles, len(clip))[:, None] * UP)
    pos, quat = clip.local_pos.copy(), clip.local_quat_wxyz.copy()
    pos[1:, 0] = pos[0, 0] + np.cumsum(rotate(turn[:-1], np.diff(pos[:, 0], axis=0)), axis=0)
    pos[:, 0] += shift
    quat[:, 0] = multiply(turn, quat[:, 0])
    return dataclasses.replace(clip, local_pos=pos, local_quat_wxyz=quat)


def played(clip, times):
    """The clip with frames at parts (T,) of it, of the same duration."""
    pos, quat = clip.sample(np.asarray(times) * clip.duration_s)
    return Clip(clip.skeleton, (len(times) - 1) / clip.duration_s, pos, quat, clip.name)


def assert_symmetric(body, clip, tolerance=1e-9):
    """The second half is the first one mirrored, turned and moved; and the end is the beginning moved on."""
    mirror = BodyMirror(body)
    qpos, _ = pose_of_clip(body, clip)
    assert len(qpos) % 2 == 1
    half = len(qpos) // 2
    pos, quat = link_transforms(body, qpos)
    image_pos, image_quat = link_transforms(body, mirror.pose(qpos))
    # The images face elsewhere, by one and the same turn about Z for all frames and links.
    turns = multiply(quat[half:], image_quat[: half + 1] * [1.0, -1.0, -1.0, -1.0])
    assert np.abs(turns[..., 1:3]).max() < tolerance
    assert angle_between(turns, turns[:1, :1]).max() < tolerance
    shift = pos[half:] - rotate(turns, image_pos[: half + 1])
    assert np.ptp(shift.reshape(-1, 3), axis=0).max() < tolerance
    ends = pos[-1] - pos[0]
    assert np.ptp(ends, axis=0).max() < tolerance and np.abs(ends[:, 2]).max() < tolerance
    assert angle_between(quat[-1], quat[0]).max() < tolerance
    assert asymmetry(body, clip) < tolerance


def speed_of(body, clip):
    """m/s, level, over the whole clip."""
    root = pose_of_clip(body, clip)[0][:, :2]
    return float(np.linalg.norm(root[-1] - root[0])) / clip.duration_s


@pytest.mark.parametrize("name", GAITS)
def test_a_stock_gait_becomes_exactly_symmetric_and_keeps_its_speed(name):
    body, clip = stock_body(name)
    even = symmetrize_cycle(body, clip)
    assert_symmetric(body, even)
    assert is_cyclic(even) and seam_angle(even) < 1e-9
    assert speed_of(body, even) == pytest.approx(speed_of(body, clip), rel=0.02)
    assert even.duration_s == pytest.approx(clip.duration_s)
    assert even.name == clip.name


@pytest.mark.parametrize(("name", "most_mm"), [("walk", 10.0), ("run", 30.0)])
def test_a_gait_that_was_nearly_symmetric_hardly_changes(name, most_mm):
    body, clip = stock_body(name)
    # The last frame of the files is not the first one moved on; it is made so.
    before, _ = link_transforms(body, pose_of_clip(body, clip)[0][:-1])
    after, _ = link_transforms(body, pose_of_clip(body, symmetrize_cycle(body, clip))[0][:-1])
    assert np.sqrt(np.mean(np.sum((after - before) ** 2, axis=-1))) < most_mm / 1000.0


@pytest.mark.parametrize("name", GAITS)
def test_the_jump_where_the_halves_of_a_file_meet_is_gone(name):
    """The stock gaits are one captured step and its mirror image, which do not quite fit together."""
    body, clip = stock_body(name)
    even = symmetrize_cycle(body, clip)
    half = len(clip) // 2
    was, now = (
        np.linalg.norm(np.diff(each.world()[0], n=2, axis=0), axis=-1).max(1)
        for each in (loop_clip(clip, 2), loop_clip(even, 2))
    )
    inside = np.delete(was[: 2 * half], [half - 2, half - 1, half, 0, -1, -2]).max()
    assert was[half - 2 : half + 1].max() > 2.0 * inside  # so that there is something to mend
    assert now.max() < 2.0 * inside
    assert now.max() < 0.6 * was.max()


def test_what_is_crooked_turned_away_and_walks_in_a_circle_comes_out_straight():
    body, clip = stock_body("walk")
    walk = whole(clip)
    crooked = bent(bent(walk, "chest", [0.0, 0.1, 0.15]), "thigh.L", [0.0, 0.1, 0.1])
    bow = np.linspace(-0.3, 0.3, len(walk))
    crooked = carried(carried(crooked, bow), 0.9, (3.0, -2.0, 0.0))
    even = symmetrize_cycle(body, crooked)
    assert_symmetric(body, even)
    assert speed_of(body, even) == pytest.approx(speed_of(body, walk), rel=0.02)
    # It goes where the source went, in the middle of it.
    was, now = (pose_of_clip(body, each)[0][:, :3] for each in (crooked, even))
    assert now[:-1].mean(0) == pytest.approx(was[:-1].mean(0), abs=0.04)  # which bows out from its way
    ways = [path[-1] - path[0] for path in (was, now)]
    angle = np.arctan2(np.cross(*ways)[2], ways[0] @ ways[1])
    assert abs(angle) < np.radians(1.0)


def test_crooked_parts_end_up_half_way_between_left_and_right():
    body, clip = stock_body("walk")
    plain = symmetrize_cycle(body, clip)
    crooked = symmetrize_cycle(body, bent(bent(plain, "upper_arm.L", [0.3, 0.0, 0.0]), "head", [0.0, 0.3, 0.0]))
    arm, head = (plain.skeleton.index(bone) for bone in ("upper_arm.L", "head"))
    apart = angle_between(crooked.local_quat_wxyz, plain.local_quat_wxyz)
    assert apart[:, arm] == pytest.approx(0.15, abs=1e-6)
    assert apart[:, head].max() < 1e-6  # looking aside has no mirror image that looks the same way


def test_an_odd_number_of_frames_becomes_even_at_the_same_duration():
    body, clip = stock_body("walk")
    odd = played(whole(clip), np.linspace(0.0, 1.0, 38))
    odd = dataclasses.replace(odd, tags=(Tag("step", 30, 38),))
    even = symmetrize_cycle(body, odd)
    assert len(even) == 39
    assert even.duration_s == pytest.approx(odd.duration_s)
    assert_symmetric(body, even)
    assert speed_of(body, even) == pytest.approx(speed_of(body, odd), rel=0.02)
    (tag,) = even.tags
    assert tag.name == "step" and abs(tag.start - 31) <= 1 and tag.stop == 39


def test_steps_that_take_different_times_are_paired_with_each_other():
    body, clip = stock_body("walk")
    plain = symmetrize_cycle(body, clip)
    part = np.linspace(0.0, 1.0, 77)
    uneven = played(plain, np.interp(part, [0.0, 0.44, 1.0], [0.0, 0.5, 1.0]))
    assert asymmetry(body, uneven) < np.radians(3.0)  # the mean of both would be a walk that smears its steps
    even = symmetrize_cycle(body, uneven)
    assert_symmetric(body, even)
    expected = played(plain, part)
    off = (
        link_transforms(body, pose_of_clip(body, even)[0])[1],
        link_transforms(body, pose_of_clip(body, expected)[0])[1],
    )
    assert np.sqrt(np.mean(angle_between(*off) ** 2)) < np.radians(2.0)


def test_a_gait_on_the_spot_stays_there_and_faces_as_before():
    body, clip = stock_body("run")
    run = carried(whole(clip), 0.7)
    pos = run.local_pos.copy()
    pos[:, 0] -= np.linspace(0.0, 1.0, len(run))[:, None] * (pos[-1, 0] - pos[0, 0])
    even = symmetrize_cycle(body, dataclasses.replace(run, local_pos=pos))
    assert_symmetric(body, even)
    assert np.linalg.norm(even.local_pos[-1, 0] - even.local_pos[0, 0]) < 1e-3
    assert angle_between(even.local_quat_wxyz[:, 0], run.local_quat_wxyz[:, 0]).mean() < np.radians(5.0)


@pytest.mark.parametrize("make", [person, fox, lambda: turned(person(), 37.0)], ids=["person", "fox", "turned"])
def test_any_rig_can_be_made_symmetric(make):
    """Fingers, merged bones and a root bone that stands still are no hindrance, nor is a motion with nothing even."""
    skeleton = make()
    clip = wiggling(skeleton, 2, 41)
    body, _ = build_body(skeleton)
    assert asymmetry(body, clip) > np.radians(10.0)
    assert_symmetric(body, symmetrize_cycle(body, clip))


@pytest.mark.parametrize("name", ["dance_a", "dance_b", "kick", "spinkick", "cartwheel", "jump", "crawl"])
def test_what_is_no_gait_is_far_from_symmetric(name):
    assert asymmetry(*stock_body(name)) > np.radians(20.0)


@pytest.mark.parametrize("name", GAITS)
def test_gaits_are_near_symmetric_and_limps_are_not(name):
    body, clip = stock_body(name)
    assert asymmetry(body, clip) < np.radians(2.0)
    stiff = bent(bent(clip, "thigh.L", [-0.6, 0.0, 0.0]), "shin.L", [0.6, 0.0, 0.0])
    assert asymmetry(body, stiff) > np.radians(10.0)


def test_walking_in_a_circle_counts_as_asymmetric():
    body, clip = stock_body("walk")
    walk = whole(clip)
    found = [asymmetry(body, carried(walk, np.linspace(0.0, turn, len(walk)))) for turn in (0.0, 0.5, 1.0)]
    assert found[2] == pytest.approx(1.0 / np.sqrt(12.0), rel=0.2)
    assert found[0] < 0.5 * found[1] < 0.7 * found[2]


def test_a_kick_is_not_made_a_cycle():
    with pytest.raises(BadMotion, match="'kick' is not a cycle"):
        symmetrize_cycle(*stock_body("kick"))


def test_too_few_frames_are_refused():
    body, clip = stock_body("walk")
    with pytest.raises(BadMotion, match="too few"):
        symmetrize_cycle(body, clip.frames(0, 5))


def test_a_body_without_symmetry_is_refused():
    skeleton = person()
    body, _ = build_body(skeleton, overrides={"forearm.R": "merge", "hand.R": "merge"})
    with pytest.raises(RigError, match="no counterpart"):
        symmetrize_cycle(body, wiggling(skeleton, 2, 41))
