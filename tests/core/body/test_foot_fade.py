# SPDX-License-Identifier: GPL-3.0-or-later
"""Feet in a cross-fade change over in the air, and stand still on the ground."""

from dataclasses import replace

import numpy as np

from sinew.core.body.build import build_body
from sinew.core.body.foot_fade import step_through_fade
from sinew.core.motion.cross_fade import cross_fade, fade_weights
from sinew.core.motion.plain_walk import plain_walk


def test_a_foot_goes_over_while_it_swings_and_stands_still_otherwise():
    clip = plain_walk()
    body, _ = build_body(clip.skeleton, clip=clip)
    still = replace(
        clip,
        local_pos=np.repeat(clip.local_pos[:1], len(clip), axis=0),
        local_quat_wxyz=np.repeat(clip.local_quat_wxyz[:1], len(clip), axis=0),
    )
    pos = np.array(still.local_pos)
    pos[:, 0, 0] += 0.08
    other = replace(still, local_pos=pos)
    weights = fade_weights(len(clip), 5, len(clip) - 1, 12)
    foot = next(i for i, link in enumerate(body.links) if link.role == "foot" and link.side == "L")
    bone = clip.skeleton.index(body.links[foot].bone)
    stands = np.ones((len(clip), len(body.links)), dtype=bool)
    swing = slice(9, 13)
    stands[swing, [i for i, link in enumerate(body.links) if link.side == "L"]] = False
    plain = cross_fade(still, other, weights)
    stepped = step_through_fade(body, plain, still, other, weights, stands)
    way = stepped.world()[0][:, bone, 0] - still.world()[0][:, bone, 0]
    assert np.abs(way[:9]).max() < 2e-3 and np.abs(way[13:] - 0.08).max() < 2e-3
    assert 0.005 < (plain.world()[0][:, bone, 0] - still.world()[0][:, bone, 0])[8] < 0.07  # it would have slid
    fixed = (weights == 0.0) | (weights == 1.0)
    assert np.array_equal(stepped.local_quat_wxyz[fixed], plain.local_quat_wxyz[fixed])
