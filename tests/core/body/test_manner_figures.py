# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures of a gait's manner: what is done to a walk is what they say of it."""

from dataclasses import replace

import numpy as np
import pytest

from sinew.core.body import build_body
from sinew.core.body.manner_figures import MannerFigures, measure_clip_manner, way_to_manner
from sinew.core.geometry.quaternions import conjugate, from_rotation_vector, multiply, rotate
from sinew.core.motion import Clip
from sinew.core.motion.loops import loop_clip
from sinew.core.motion.plain_walk import STRIDE_S, plain_walk


@pytest.fixture(scope="module")
def walk():
    clip = loop_clip(plain_walk(30.0), 4)
    return clip, build_body(clip.skeleton, clip=clip)[0]


def turned(clip: Clip, body, role: str, degrees: float, axis=(0.0, 1.0, 0.0)) -> Clip:
    """The clip with a part turned about a level axis of the world, across the way it faces at rest."""
    bone = next(clip.skeleton.index(link.bone) for link in body.links if link.role == role)
    _, quat = clip.world()
    parent = clip.skeleton.parents[bone]
    turn = from_rotation_vector(np.radians(degrees) * np.array(axis))
    local = np.array(clip.local_quat_wxyz)
    local[:, bone] = multiply(conjugate(quat[:, parent]), multiply(turn, quat[:, bone]))
    return replace(clip, local_quat_wxyz=local)


def across(body):
    """(3,) to the body's left: turning about it by a positive angle leans forward."""
    heads = body.skeleton.rest_world()[0]
    left, right = (
        heads[next(body.skeleton.index(link.bone) for link in body.links if (link.role, link.side) == ("thigh", side))]
        for side in "LR"
    )
    away = left - right
    return away / np.linalg.norm(away)


def test_a_head_that_is_turned_down_is_told(walk):
    clip, body = walk
    role = next(link.role for link in body.links if link.role == "head")
    before, after = (measure_clip_manner(body, one) for one in (clip, turned(clip, body, role, 20.0, across(body))))
    assert after.head_pitch_deg - before.head_pitch_deg == pytest.approx(20.0, abs=2.0)
    assert after.arm_swing_deg == pytest.approx(before.arm_swing_deg, abs=1e-6)


def test_cadence_is_two_steps_a_stride_and_follows_the_rate(walk):
    clip, body = walk
    slow = Clip(clip.skeleton, 0.8 * clip.fps, clip.local_pos, clip.local_quat_wxyz)
    before, after = measure_clip_manner(body, clip), measure_clip_manner(body, slow)
    assert before.cadence_per_min == pytest.approx(120.0 / STRIDE_S, rel=0.05)
    assert after.cadence_per_min == pytest.approx(0.8 * before.cadence_per_min, rel=0.05)


def test_it_is_the_same_whichever_way_the_walk_goes(walk):
    clip, body = walk
    turn = from_rotation_vector(np.array([0.0, 0.0, 1.3]))
    local, pos = np.array(clip.local_quat_wxyz), np.array(clip.local_pos)
    for root in np.flatnonzero(clip.skeleton.parents < 0):
        local[:, root], pos[:, root] = multiply(turn, local[:, root]), rotate(turn, pos[:, root])
    other = replace(clip, local_quat_wxyz=local, local_pos=pos)
    one, two = (measure_clip_manner(body, each).to_mapping() for each in (clip, other))
    assert all(one[name] == pytest.approx(two[name], abs=1e-6) for name in one)


def test_the_way_is_told_where_one_sees_a_difference():
    source, wanted = MannerFigures(0, 0, 40, 0.1, 110), MannerFigures(20, 1, 20, 0.1, float("nan"))
    way = way_to_manner(source, MannerFigures(10, 5, 35, 0.2, 100), wanted)
    assert way == {
        "head_pitch_deg": 0.5,
        "trunk_bend_deg": None,
        "arm_swing_deg": 0.25,
        "step_height_m": None,
        "cadence_per_min": None,
    }
