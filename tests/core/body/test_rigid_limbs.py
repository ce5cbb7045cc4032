# SPDX-License-Identifier: GPL-3.0-or-later
"""Sources whose limbs slide along the trunk: a body follows them with its feet in place."""

from dataclasses import replace

import numpy as np
import pytest

from sinew.core.body.build import build_body
from sinew.core.body.leg_ik import find_legs, move_foot
from sinew.core.body.poses import loss_of_clip
from sinew.core.body.rigid_limbs import fix_limbs_to_body
from sinew.core.geometry.quaternions import conjugate, rotate
from sinew.core.motion import Clip

from .figures import person, pony

FRAMES = 24


def standing(skeleton, frames=FRAMES):
    """The rest pose, held."""
    pos, quat = (np.tile(part, (frames, 1, 1)) for part in (skeleton.rest_pos, skeleton.rest_quat_wxyz))
    return Clip(skeleton, 24.0, pos, quat, "stand")


def with_sliding_hips():
    """Its hind legs are moved 8 cm up and down along the trunk; the feet stand."""
    skeleton = pony()
    clip = standing(skeleton)
    pos = np.array(clip.local_pos)
    swing = 0.08 * np.sin(np.linspace(0.0, 2.0 * np.pi, FRAMES))
    for side in ("L", "R"):
        world_up = swing[:, None] * np.array([0.0, 0.0, 1.0])
        bone = skeleton.index(f"BackLeg.{side}")
        above = skeleton.rest_world()[1][skeleton.parents[bone]]
        pos[:, bone] += rotate(conjugate(above), world_up)
    return replace(clip, local_pos=pos)


def test_feet_stay_in_place_and_every_link_is_on_the_body():
    clip = with_sliding_hips()
    body, _ = build_body(clip.skeleton)
    before = loss_of_clip(body, clip).off_place.max()
    fixed, report = fix_limbs_to_body(body, clip)
    assert before > 0.05 and report.touched and report.slid == pytest.approx(before)
    assert loss_of_clip(body, fixed).off_place.max() < 1e-6
    feet = [clip.skeleton.index(f"{end}Foot.{side}") for end in ("Front", "Back") for side in ("L", "R")]
    off = np.linalg.norm(fixed.world()[0][:, feet] - clip.world()[0][:, feet], axis=-1)
    assert off.max() < 0.012 and report.off == pytest.approx(off.max(), abs=1e-9)
    assert "BackUpLeg" in report.message or "BackFoot" in report.message or "BackLowLeg" in report.message


def test_sound_sources_and_two_legs_keep_every_bit():
    for skeleton in (pony(), person()):
        clip = standing(skeleton)
        body, _ = build_body(skeleton)
        fixed, report = fix_limbs_to_body(body, clip)
        assert fixed is clip and not report.touched


def test_a_foot_on_a_control_moves_with_its_leg():
    clip = standing(pony())
    body, _ = build_body(clip.skeleton)
    legs = find_legs(body, clip.skeleton)
    assert len(legs) == 4 and all(leg.detached for leg in legs)
    for leg in legs:
        goal = clip.world()[0][:, leg.foot] + np.array([0.02, -0.06, 0.05])
        goal[: FRAMES // 2] = clip.world()[0][: FRAMES // 2, leg.foot]
        moved = move_foot(clip, leg, goal)
        pos, quat = moved.world()
        assert np.linalg.norm(pos[:, leg.foot] - goal, axis=-1).max() < 1e-3
        assert np.abs(quat[:, leg.foot] - clip.world()[1][:, leg.foot]).max() < 1e-6
        assert np.array_equal(moved.local_pos[: FRAMES // 2], clip.local_pos[: FRAMES // 2])
        # The lower leg still ends where the foot begins.
        shin = np.linalg.norm(pos[:, leg.foot] - pos[:, leg.knee], axis=-1)
        assert np.ptp(shin) < 1e-6
