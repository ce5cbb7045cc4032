# SPDX-License-Identifier: GPL-3.0-or-later
"""Skills as rows of whole fragments: gaits even and begun with a step, seams closed, rates and targets true."""

import numpy as np
import pytest

from sinew.core.body.poses import link_transforms, targets_of_pose, velocity_of_pose
from sinew.core.body.servos import servo_torques
from sinew.core.control.graph.model.chains import FRAGMENT_S, align_last_pose, pose_distance, skill_motion
from sinew.core.control.graph.model.fragments import concatenate_fragments
from sinew.core.control.graph.transitions.footskate_cleanup import link_heights
from sinew.core.control.graph.transitions.motion_graph import Skill
from sinew.core.control.tracking.facing import rotate_pose_about_z, twist_angle
from sinew.core.control.tracking.reference import CONTROL_FPS, FRAGMENT_STEPS
from sinew.core.motion.io import stock


@pytest.fixture(scope="module")
def walk(body, stock_skill):
    return skill_motion(body, stock_skill("walk"))


def soles(body, side: str) -> list[int]:
    return [i for i, link in enumerate(body.links) if link.role in ("foot", "toe") and link.side == side]


@pytest.mark.parametrize("name", ["walk", "run", "kick", "getup_faceup", "dance_a"])
def test_a_skill_is_a_whole_number_of_fragments_of_about_its_length(body, stock_skill, name):
    skill = stock_skill(name)
    moments = skill_motion(body, skill)
    count = len(moments.times_s) - 1
    assert len(moments.qpos) == len(moments.rates) == len(moments.targets) == count * FRAGMENT_STEPS + 1
    assert count * FRAGMENT_S == pytest.approx(skill.clip.duration_s, abs=2 * FRAGMENT_S)
    assert moments.times_s[-1] - moments.times_s[0] == pytest.approx(skill.clip.duration_s, rel=0.01)
    assert count % 2 == 0 or not skill.gait
    # Standing on the floor: not in it, and not above it all the time.
    lowest = link_heights(body, moments.qpos).min(1)
    assert lowest.min() > -0.02 and np.abs(lowest).min() < 0.02


@pytest.mark.parametrize("name", ["walk", "run"])
def test_feet_come_down_where_fragments_begin_half_a_cycle_apart(body, stock_skill, name):
    gait = skill_motion(body, stock_skill(name))
    heights = link_heights(body, gait.qpos[:-1])
    places = link_transforms(body, gait.qpos)[0][..., :2]
    count = len(heights)
    for side, touch in (("L", gait.touch * FRAGMENT_STEPS), ("R", gait.touch * FRAGMENT_STEPS + count // 2)):
        feet = soles(body, side)
        low = heights[:, feet].min(1) < 0.02
        slow = np.linalg.norm(np.diff(places[:, feet], axis=0), axis=-1).min(1) * CONTROL_FPS < 1.0
        stands = np.roll(low & slow, -touch)  # not who only skims the floor
        assert stands[1:6].any() and not stands[-12:-3].any(), side


def test_the_second_half_of_a_gait_is_the_first_in_the_mirror(body, walk):
    """Seen by what both sides share: heights of the left are those of the right half a cycle later."""
    heights = link_heights(body, walk.qpos[:-1])
    half = len(heights) // 2
    left, right = (heights[:, soles(body, side)] for side in "LR")
    assert np.roll(left, half, axis=0) == pytest.approx(right, abs=0.01)
    assert np.abs(left - right).max() > 0.05


def test_a_cycle_ends_as_it_begins(body, walk):
    back = align_last_pose(walk.qpos[-1:], walk.qpos[0])[0]
    assert link_transforms(body, back[None])[0] == pytest.approx(link_transforms(body, walk.qpos[:1])[0], abs=5e-3)
    heading = twist_angle(walk.qpos[-1, 3:7], walk.qpos[0, 3:7])
    _, rates = rotate_pose_about_z(-heading, walk.qpos[-1], walk.rates[-1])
    assert rates[:3] == pytest.approx(walk.rates[0, :3], abs=0.05)


def test_a_wide_seam_is_closed_by_a_blend(body):
    """The spin kick ends far from how it begins: played on and on it would jump."""
    clip = stock.load_stock("spinkick")
    skill = Skill("spinkick", clip, "cycle")
    assert not skill.closes
    once, cycle = skill_motion(body, Skill("spinkick", clip, "once")), skill_motion(body, skill)
    ends = [((one.qpos[0], one.rates[0]), (one.qpos[-1], one.rates[-1])) for one in (once, cycle)]
    open_m, closed_m = (pose_distance(body, *pair) for pair in ends)
    assert open_m > 0.1 and closed_m < 0.02
    assert len(cycle.qpos) == len(once.qpos)  # its beginning has become its end
    # Nothing in it is faster than the kick itself, and its joins are no jerks.
    track = cycle.segment(body)
    laid = concatenate_fragments(track, list(range(len(track))) * 2)
    fastest = np.linalg.norm(np.diff(link_transforms(body, once.qpos)[0], axis=0), axis=-1).max()
    steps = np.linalg.norm(np.diff(link_transforms(body, laid.qpos)[0], axis=0), axis=-1).max(1)
    assert steps.max() < 1.1 * fastest
    seam = len(track) * FRAGMENT_STEPS
    assert steps[seam - 2 : seam + 2].max() < 2.0 * np.median(steps)


def test_rates_are_those_of_the_poses(body, walk):
    rates = velocity_of_pose(body, walk.qpos, 1.0 / CONTROL_FPS)
    assert walk.rates[2:-2] == pytest.approx(rates[2:-2], abs=1e-6)


def test_targets_lead_so_that_damping_holds_nobody_back(body, walk):
    """Servos damp the rates that a motion has: aimed at the pose itself, they would lag behind it."""
    knee = next(i for i, link in enumerate(body.links) if link.role == "shin")
    at = int(body.qvel_starts[knee]) - 6
    whole = np.ones(len(walk.qpos))
    led, lagging = (
        np.abs(servo_torques(body, walk.qpos, walk.rates, targets, whole)[2:-2, at]).mean()
        for targets in (walk.targets, targets_of_pose(body, walk.qpos))
    )
    assert led < 0.1 * lagging


def test_a_moment_is_far_from_another_and_not_from_itself_turned_and_moved(body, walk):
    here = (walk.qpos[0], walk.rates[0])
    qpos, rates = rotate_pose_about_z(np.array(2.0), *here)
    qpos[:2] += [4.0, 5.0]
    assert pose_distance(body, here, (qpos, rates)) == pytest.approx(0.0, abs=1e-6)
    half = len(walk.qpos) // 2
    assert pose_distance(body, here, (walk.qpos[half], walk.rates[half])) > 0.1


def test_moved_onto_brings_the_last_pose_to_where_another_is(body, walk):
    onto = rotate_pose_about_z(np.array(-1.2), walk.qpos[10], np.zeros(3))[0] + np.pad([7.0, 8.0], (0, body.nq - 2))
    moved = align_last_pose(walk.qpos[:11], onto)
    assert moved[-1] == pytest.approx(onto, abs=1e-9)
    before, after = (np.linalg.norm(np.diff(qpos[:, :3], axis=0), axis=-1) for qpos in (walk.qpos[:11], moved))
    assert after == pytest.approx(before, abs=1e-9)
