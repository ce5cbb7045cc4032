# SPDX-License-Identifier: GPL-3.0-or-later
"""Edited motions: key moments exactly when, where and as wanted, key poses kept, standing feet stand, limbs reach."""

from functools import cache

import numpy as np
import pytest

from sinew.core.body.build import build_body
from sinew.core.control.editing.constraints import EditConstraint, Reach
from sinew.core.control.editing.limb_reaching import find_limb, limb_point
from sinew.core.control.editing.motion_editing import edit_motion
from sinew.core.control.editing.time_map import PaceBounds
from sinew.core.control.tracking.facing import twist_angle, upright_rotation
from sinew.core.errors import BadSettings
from sinew.core.geometry.quaternions import angle_between
from sinew.core.motion.plain_walk import plain_walk
from stock_clips import stock_clip

KICK = 23  # the foot is highest


@cache
def source(name):
    """A clip and its body."""
    clip = plain_walk() if name == "plain" else stock_clip(name)
    return clip, build_body(clip.skeleton, clip=clip)[0]


def edit(name, constraints, reaches=(), **more):
    clip, body = source(name)
    return edit_motion(body, clip, constraints, reaches, **more)


def root_at(body, clip, frame):
    """Where the root is on the ground, and which way it faces."""
    pos, quat = clip.world()
    bone = clip.skeleton.index(body.links[0].bone)
    return pos[frame, bone, :2], float(twist_angle(quat[frame, bone], upright_rotation(body)))


def angle_off(a, b):
    return abs(np.degrees(np.angle(np.exp(1j * (a - b)))))


EDITS = [
    ("kick", EditConstraint(KICK, 30 / 30, (0.5, -1.0), -1.1)),
    ("kick", EditConstraint(KICK, 16 / 30, (0.2, -0.8))),
    ("kick", EditConstraint(KICK, 27 / 30, heading=-0.5)),
    ("walk", EditConstraint(20, 25 / 30, (0.3, -0.7), -1.2)),
    ("walk", EditConstraint(19, 24 / 30, (0.3, -0.7), -1.2)),  # in the stance that the clip begins with
    ("plain", EditConstraint(60, 66 / 24, (1.0, 0.5), 0.0)),
    ("plain", EditConstraint(100, None, (2.0, 0.0))),
]


@pytest.mark.parametrize(("name", "wanted"), EDITS)
def test_a_key_moment_is_when_where_and_as_it_is_wanted(name, wanted):
    made, (clip, body) = edit(name, [wanted]), source(name)
    (met,) = made.constraints
    frame = met.result_frame
    if wanted.time_s is not None:
        assert frame == round(wanted.time_s * clip.fps)
    place, heading = root_at(body, made.clip, frame)
    if wanted.place is not None:
        assert np.linalg.norm(place - wanted.place) < 0.01
    if wanted.heading is not None:
        assert angle_off(heading, wanted.heading) < 1.0
    inner = clip.skeleton.parents >= 0
    turned = angle_between(made.clip.local_quat_wxyz[frame, inner], clip.local_quat_wxyz[wanted.frame, inner])
    assert np.degrees(turned.max()) < 0.01, "the key pose is kept"
    assert met.pose_rad < 1e-4 and met.place_off_m < 0.01 and abs(met.heading_off_rad) < np.radians(1.0)


@pytest.mark.parametrize(("name", "wanted"), EDITS)
def test_feet_that_stand_in_the_source_stand_in_the_result(name, wanted):
    made = edit(name, [wanted])
    assert made.contacts.any() and made.slide_m_s < 0.02 <= made.source_slide_m_s
    assert made.let_go_s < 0.5


def test_the_first_pose_stays_where_it_is_and_the_end_too_if_it_is_held():
    clip, body = source("plain")
    made = edit("plain", [EditConstraint(50, 54 / 24, (0.4, 0.2))], hold_end=True)
    assert len(made.clip) == len(clip)
    np.testing.assert_allclose(made.clip.world()[0][0], clip.world()[0][0], atol=1e-6)
    for place, wanted in zip(root_at(body, made.clip, -1), root_at(body, clip, -1), strict=True):
        assert place == pytest.approx(wanted, abs=1e-6)


def test_without_a_start_to_hold_all_of_it_is_moved():
    clip, _ = source("plain")
    made = edit("plain", [EditConstraint(60, None, (5.0, 5.0), 1.0)], hold_start=False)
    away = made.clip.world()[0][:, 0, :2]
    before = clip.world()[0][:, 0, :2]
    assert made.stretch < 1.01 and made.shift_m_s < 0.01
    np.testing.assert_allclose(np.linalg.norm(away[0] - away[-1]), np.linalg.norm(before[0] - before[-1]), rtol=0.01)


def test_several_key_moments_at_once():
    clip, body = source("plain")
    wanted = [
        EditConstraint(30, 33 / 24, (0.4, 1.0)),
        EditConstraint(60, 60 / 24, (0.9, 0.2), -0.8),
        EditConstraint(90, 96 / 24, (1.8, 0.2)),
    ]
    made = edit("plain", wanted)
    assert [met.result_frame for met in made.constraints] == [33, 60, 96]
    for one, met in zip(wanted, made.constraints, strict=True):
        assert np.linalg.norm(root_at(body, made.clip, met.result_frame)[0] - one.place) < 0.01
    assert 0.5 <= made.slowest <= made.fastest <= 2.0
    assert np.all(np.diff(made.times_s) > 0.0) and made.times_s[33] * clip.fps == pytest.approx(30.0)


@pytest.mark.parametrize(
    ("name", "reach", "at"),
    [
        ("kick", Reach(KICK, "foot.R", (0.4, -1.8, 1.1)), 27),
        ("kick", Reach(KICK, "foot.R", (-0.2, -1.4, 1.3)), 23),
        ("punch", Reach(30, "forearm.R", (0.9, -1.5, 1.3)), 33),
    ],
)
def test_a_limb_reaches_its_target(name, reach, at):
    clip, body = source(name)
    made = edit(name, [EditConstraint(reach.frame, at / clip.fps)], [reach])
    limb = find_limb(body, reach.bone)
    assert np.linalg.norm(limb_point(made.clip, limb)[at] - reach.target) < 0.01
    (met,) = made.reaches
    assert met.result_frame == at and met.off_m < 0.01 and made.slide_m_s < 0.02
    turned = angle_between(made.clip.local_quat_wxyz[at], clip.local_quat_wxyz[reach.frame])
    limb_bones = {limb.upper, limb.lower, limb.end}
    others = [bone for bone in range(1, len(clip.skeleton)) if bone not in limb_bones]
    assert np.degrees(turned[others].max()) < 0.01, "only the limb reaches"


def test_a_limb_comes_and_goes_smoothly():
    clip, _ = source("kick")
    made = edit("kick", [], [Reach(KICK, "foot.R", (0.2, -1.5, 1.15))])
    foot = clip.skeleton.index("foot.R")

    def hardest(one):
        return np.linalg.norm(np.diff(one.world()[0][:, foot], 2, axis=0), axis=-1).max() * clip.fps**2

    assert hardest(made.clip) < 1.3 * hardest(clip)


def test_a_standing_foot_is_lifted_to_reach_and_one_above_its_target_stays():
    clip, body = source("plain")
    stance = edit("plain", []).contacts[:, 1]
    first = int(np.flatnonzero(stance[30:] & ~stance[29:-1])[0]) + 30
    frame, limb = first + 7, find_limb(body, "foot.R")
    here = limb_point(clip, limb)[frame]
    made = edit("plain", [], [Reach(frame, "foot.R", tuple(here + [0.05, 0.0, 0.15]), 0.2)])
    assert not made.contacts[frame, 1] and made.contacts[first, 1] and made.reaches[0].off_m < 0.01
    foot = clip.skeleton.index("foot.R")
    hardest = [np.linalg.norm(np.diff(one.world()[0][:, foot], 2, axis=0), axis=-1).max() for one in (made.clip, clip)]
    assert hardest[0] < 1.5 * hardest[1], "it is not jerked there"
    stays = edit("plain", [], [Reach(frame, "foot.R", (here[0] + 0.3, here[1], 0.0))])
    assert stays.contacts[frame, 1] and stays.slide_m_s < 0.02
    assert np.linalg.norm(limb_point(stays.clip, limb)[frame, :2] - [here[0] + 0.3, here[1]]) < 0.01


def test_the_same_edit_gives_the_same_bits():
    first, second = (edit("kick", [EDITS[0][1]], [Reach(KICK, "foot.R", (0.5, -1.8, 1.2))]) for _ in range(2))
    assert np.array_equal(first.clip.local_quat_wxyz, second.clip.local_quat_wxyz)
    assert np.array_equal(first.clip.local_pos, second.clip.local_pos)


@pytest.mark.parametrize(
    ("constraints", "reaches", "words"),
    [
        ([EditConstraint(47, 1.0)], [], ("Frame 47 is outside of the motion", "from frame 0 to 46")),
        ([EditConstraint(-1, 1.0)], [], ("Frame -1 is outside",)),
        ([EditConstraint(9, 0.3), EditConstraint(9, 0.4)], [], ("wanted at two moments", "Leave one of them out")),
        ([EditConstraint(9, None, (0, 0)), EditConstraint(9, None, (0, 1))], [], ("wanted at two places",)),
        ([EditConstraint(9, 0.6), EditConstraint(20, 0.5)], [], ("frame 9 before it at 0.60 s", "in the order")),
        ([EditConstraint(KICK, 0.2)], [], ("cannot be at", "The earliest is frame 12 (0.38 s)")),
        ([], [Reach(KICK, "head", (0, 0, 1))], ("'head' is no hand or foot", "foot.L, foot.R, forearm.L, forearm.R")),
        (
            [EditConstraint(KICK, None, (0.0, 0.0))],
            [Reach(KICK, "foot.R", (3.0, 0.0, 1.0))],
            ("cm short of its target at frame 23", "leave out the place"),
        ),
        ([], [Reach(KICK, "foot.R", (0.0, -1.0, 3.0))], ("'foot.R' is 12", "cm short of its target")),
        (
            [],
            [Reach(KICK, "foot.R", (0, 0, 1)), Reach(KICK, "foot.R", (0, 1, 1))],
            ("'foot.R' is to reach two points at frame 23",),
        ),
    ],
)
def test_what_cannot_be_is_told_with_the_fix(constraints, reaches, words):
    with pytest.raises(BadSettings) as caught:
        edit("kick", constraints, reaches)
    assert all(word in str(caught.value) for word in words), str(caught.value)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: EditConstraint(1, float("nan")), "not a number"),
        (lambda: EditConstraint(1, None, (1.0, 2.0, 3.0)), "Give 2 finite numbers"),
        (lambda: EditConstraint(1, rigid_s=-1.0), "Give seconds from 0 to 10"),
        (lambda: Reach(1, "foot.R", (0.0, float("inf"), 0.0)), "Give 3 finite numbers"),
        (lambda: Reach(1, "foot.R", (0.0, 0.0, 0.0), 99.0), "is 99 s"),
    ],
)
def test_numbers_that_are_none_are_refused_where_they_are_made(make, words):
    with pytest.raises(BadSettings, match=words):
        make()


def test_wider_bounds_of_the_pace_allow_more():
    made = edit("kick", [EditConstraint(KICK, 9 / 30)], bounds=PaceBounds(0.5, 3.0))
    assert made.constraints[0].result_frame == 9 and 2.0 < made.fastest < 3.0 + 1e-6
