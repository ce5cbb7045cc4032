# SPDX-License-Identifier: GPL-3.0-or-later
"""Gaits that nothing would carry: the trunk comes over the feet, what flies falls, and feet stay."""

from dataclasses import replace

import numpy as np

from sinew.core.body.build import build_body
from sinew.core.body.clearance import link_clearances
from sinew.core.body.hovering import centre_of_mass
from sinew.core.body.leg_ik import find_legs, move_foot
from sinew.core.body.supported_motion import support_trunk
from sinew.core.motion import Clip

from .figures import fox, person

FPS, FRAMES = 60.0, 90


def standing(skeleton):
    pos, quat = (np.tile(part, (FRAMES, 1, 1)) for part in (skeleton.rest_pos, skeleton.rest_quat_wxyz))
    return Clip(skeleton, FPS, pos, quat, "stand")


def raised(body, clip, sides, height, frames):
    """Both feet of the sides lifted for some frames."""
    for leg in find_legs(body, clip.skeleton):
        if body.links[leg.links[0]].side in sides:
            goal = np.array(clip.world()[0][:, leg.foot])
            goal[frames, 2] += height
            clip = move_foot(clip, leg, goal)
    return clip


def test_a_body_on_the_legs_of_one_side_sways_over_them():
    skeleton = fox()
    body, _ = build_body(skeleton)
    clip = raised(body, standing(skeleton), "R", 0.06, slice(15, 75))
    moved, report = support_trunk(body, clip)
    assert report.touched
    before, after = (centre_of_mass(body, one)[:, 0] for one in (clip, moved))
    # Left is +X; the feet of the left stand at 0.06.
    assert abs(before[45]) < 0.01 and after[45] > 0.03
    feet = [leg.foot for leg in find_legs(body, skeleton)]
    assert np.linalg.norm((moved.world()[0] - clip.world()[0])[:, feet], axis=-1).max() < 0.01


def test_what_flies_falls():
    skeleton = fox()
    body, _ = build_body(skeleton)
    clip = standing(skeleton)
    flight = slice(40, 52)  # hovers at 4 cm for 0.2 s
    clip = raised(body, clip, "LR", 0.04, flight)
    assert link_clearances(body, clip)[flight].min() > 0.03
    moved, report = support_trunk(body, clip)
    assert report.upright > 0.01
    height = centre_of_mass(body, moved)[:, 2]
    inside = np.diff(height, 2)[flight.start : flight.stop - 2] * FPS**2
    assert np.median(inside) < -6.0


def test_what_stands_and_what_has_two_legs_keeps_every_bit():
    for skeleton in (fox(), person()):
        clip = standing(skeleton)
        body, _ = build_body(skeleton)
        moved, report = support_trunk(body, clip)
        assert moved is clip and not report.touched
    body, _ = build_body(person())
    hop = standing(person())
    lifted = np.array(hop.local_pos)
    lifted[30:40, 0, 2] += 0.1
    hop = replace(hop, local_pos=lifted)
    assert support_trunk(body, hop)[0] is hop
