# SPDX-License-Identifier: GPL-3.0-or-later
"""A cycle on the spot is found by its feet, at any size, and its travel holds them still; nothing else is."""

import numpy as np
import pytest

from sinew.core.body.build import build_body
from sinew.core.body.in_place import find_in_place
from sinew.core.body.travel_estimation import Slides, estimate_travel, measure_slides
from sinew.core.motion.io import stock
from sinew.core.motion.loops import loop_clip
from sinew.core.motion.plain_walk import SPEED_M_S, STRIDE_S, plain_walk
from sinew.core.motion.travel import apply_travel

from ...on_the_spot import walk_on_the_spot


@pytest.mark.parametrize("scale", [0.25, 1.0, 2.0])
@pytest.mark.parametrize("fps", [30.0, 60.0])
def test_a_walk_on_the_spot_is_found_with_its_speed(scale, fps):
    found = find_in_place(walk_on_the_spot(fps, scale))
    assert found is not None and "on the spot" in found.message and "--travel" in found.hint
    assert found.travel.speed_m_s == pytest.approx(scale * SPEED_M_S, rel=0.04)
    assert found.travel.yaw_rad_s == 0.0
    np.testing.assert_allclose(found.travel.shift[-1] / scale, [0.0, -SPEED_M_S * STRIDE_S], atol=0.05)


def test_its_feet_stand_once_it_travels():
    clip = walk_on_the_spot()
    body = build_body(clip.skeleton, clip=clip)[0]
    travel = find_in_place(clip, body).travel
    moved = apply_travel(clip, travel, np.arange(len(clip)) / clip.fps)
    before, after = (measure_slides(body, one) for one in (clip, moved))
    slid, slides = (np.linalg.norm(one.velocity, axis=-1)[one.carries > 0.9].mean() for one in (before, after))
    assert slid > 0.9 * SPEED_M_S and slides < 0.15 * SPEED_M_S


def test_the_travel_is_as_smooth_at_the_seam_as_anywhere():
    travel = find_in_place(walk_on_the_spot()).travel
    np.testing.assert_allclose(travel.pace[0], travel.pace[-1], atol=1e-9)


def test_a_walk_that_travels_is_none():
    assert find_in_place(plain_walk(STRIDE_S, 60.0)) is None
    assert find_in_place(loop_clip(plain_walk(STRIDE_S, 60.0), 3)) is None


@pytest.mark.parametrize("name", ["walk", "run", "crawl", "jump", "cartwheel", "roll", "spin", "dance_a", "backflip"])
def test_no_stock_clip_is_one(name):
    assert find_in_place(stock.load_stock(name)) is None


def test_standing_and_marching_are_none():
    clip = walk_on_the_spot()
    still = clip.frames(0, 1)
    standing = type(clip)(
        clip.skeleton,
        clip.fps,
        np.repeat(still.local_pos, 60, axis=0),
        np.repeat(still.local_quat_wxyz, 60, axis=0),
    )
    assert find_in_place(standing) is None
    # Up and down again by the same way: feet slide to and fro, and carry nobody anywhere.
    there = np.concatenate([np.arange(20), np.arange(20, -1, -1)])
    to_and_fro = type(clip)(clip.skeleton, clip.fps, clip.local_pos[there], clip.local_quat_wxyz[there])
    assert find_in_place(to_and_fro) is None


def test_a_turn_is_found_where_feet_turn():
    phase = (np.arange(120) + 0.5) / 120
    along = np.stack([0.0 * phase, 0.4 - 0.8 * (phase % 0.5) * 2.0], axis=-1)
    place = np.stack([along + [0.1, 0.0], along - [0.1, 0.0]], axis=1)
    carries = np.stack([phase < 0.5, phase >= 0.5], axis=1).astype(float)
    yaw, pace = 0.9, np.array([0.0, -1.3])
    turned = yaw * np.stack([-place[..., 1], place[..., 0]], axis=-1)
    travel = estimate_travel(Slides(place, -(pace + turned), carries), 1.1)
    assert travel.yaw_rad_s == pytest.approx(yaw, rel=0.02)
    np.testing.assert_allclose(travel.pace.mean(axis=0), pace, atol=0.03)


def test_flights_keep_the_pace_of_the_stances():
    phase = (np.arange(120) + 0.5) / 120
    carries = np.stack([phase < 0.2, (phase > 0.5) & (phase < 0.7)], axis=1).astype(float)
    velocity = np.where(carries[..., None] > 0.0, [0.0, 3.0], [0.0, -9.0])
    travel = estimate_travel(Slides(np.zeros((120, 2, 2)), velocity, carries), 0.7)
    np.testing.assert_allclose(travel.pace, np.broadcast_to([0.0, -3.0], travel.pace.shape), atol=0.05)
