# SPDX-License-Identifier: GPL-3.0-or-later
"""Feet that stand still when they stand: small slides are held, rolling and true slides are left alone."""

import numpy as np
import pytest

from sinew.bench.simulate.cases import long_enough
from sinew.core.body import build_body
from sinew.core.body.foot_plant import plant_feet
from sinew.core.body.foot_skate import foot_skate_by_shape
from sinew.core.body.leg_ik import find_legs
from sinew.core.body.poses import link_transforms, pose_of_clip
from sinew.core.body.stances import Sole, find_stances
from sinew.core.body.terrain_adaptation import adapt_to_ground
from sinew.core.geometry.quaternions import from_rotation_vector, rotate
from sinew.core.measure.smoothness import jerk_ratio
from sinew.core.motion import Clip
from sinew.core.motion.io import stock
from sinew.core.sim.stage import Terrain
from sinew.core.sim.surface import Surface

from ...stock_clips import needs_stock
from .figures import fox
from .one_bone_bodies import SHAPES, clip_of, one_bone
from .stepping import (
    FPS,
    assert_only_left_leg_turned,
    foot_path,
    moved,
    roughness,
    same,
    standing_man,
    stepping,
    turned,
)


@pytest.fixture(scope="module")
def man():
    return standing_man()


def skate(body, clip):
    pos, quat = link_transforms(body, pose_of_clip(body, clip.resample(FPS))[0])
    return foot_skate_by_shape(body, pos, quat, 1.0 / FPS)


def test_who_stands_still_is_not_touched(man):
    clip, report = plant_feet(*man)
    assert same(clip, man[1]) and not report.touched
    assert report.message == "Feet stand still already"


@pytest.mark.parametrize("speed", [0.02, 0.05, 0.09])
def test_a_foot_that_slides_is_held_where_it_stands(man, speed):
    body, still = man
    source = moved(body, still, {0: stepping(0.8 * speed)})
    clip, report = plant_feet(body, source)
    before, after = foot_path(body, source, 0), foot_path(body, clip, 0)
    inside = slice(round(0.55 * FPS), round(1.25 * FPS))
    assert np.abs(np.diff(before[inside, 0])).mean() * FPS == pytest.approx(speed, rel=0.02)
    assert np.linalg.norm(np.ptp(after[inside], axis=0)) < 2e-3
    # In the middle of where it slid along, and no further away than that.
    assert after[inside, 0].mean() == pytest.approx(before[inside, 0].mean(), abs=0.15 * 0.8 * speed + 2e-3)
    assert report.held == 1 and report.kept == 0 and report.slid > 0.3 * speed and report.slides < 0.5 * report.slid
    assert report.slid == pytest.approx(skate(body, source), rel=0.05)
    assert "held where they stand" in report.message and "cm/s" in report.message
    assert jerk_ratio(roughness(clip), roughness(source)) < 1.3
    # High in the air, the other leg, and all above the hips: every bit as it was.
    high = [0, 1, 2, 3, len(clip) - 3, len(clip) - 2, len(clip) - 1]
    assert np.array_equal(clip.local_quat_wxyz[high], source.local_quat_wxyz[high])
    assert_only_left_leg_turned(clip, source)


def test_what_was_planted_stays_as_it_is(man):
    body, still = man
    once, _ = plant_feet(body, moved(body, still, {0: stepping(0.06)}))
    twice, _ = plant_feet(body, once)
    inside = slice(round(0.5 * FPS), round(1.3 * FPS))
    assert np.abs(foot_path(body, twice, 0) - foot_path(body, once, 0))[inside].max() < 3e-3


@pytest.mark.parametrize("way", [0.16, 0.3])
def test_a_true_slide_stays_a_slide(man, way):
    body, still = man
    source = moved(body, still, {0: stepping(way, lift_m=0.0, seconds=(0.1, 1.9))})
    clip, report = plant_feet(body, source)
    assert same(clip, source)
    assert report.kept == 1 and not report.touched and "1 long slide was left" in report.message


@pytest.mark.parametrize(("way", "held"), [(0.16, True), (0.3, False)])
def test_in_a_shaky_source_more_of_a_slide_is_noise(man, way, held):
    body, still = man
    source = moved(body, still, {0: stepping(way, lift_m=0.0, seconds=(0.1, 1.9))})
    clip, report = plant_feet(body, source, shaky=True)
    path = foot_path(body, clip, 0)[round(0.2 * FPS) : round(1.8 * FPS), 0]
    assert report.touched == held and (np.ptp(path) < 5e-3) == held


def test_a_slide_between_two_stands_stays_and_the_stands_are_held(man):
    """A moonwalk: stand with a little drift, slide 30 cm, stand."""
    body, still = man
    time = np.arange(121) / FPS
    way = 0.3 * np.clip((time - 0.8) / 0.4, 0.0, 1.0) + 0.02 * time
    source = moved(body, still, {0: np.stack([way - 0.15, 0.0 * way, 0.0 * way], -1)})
    clip, report = plant_feet(body, source)
    path = foot_path(body, clip, 0)[:, 0]
    assert report.kept == 1 and report.held == 2
    assert np.ptp(path[5:43]) < 2e-3 and np.ptp(path[78:116]) < 2e-3
    assert path[100] - path[20] == pytest.approx(0.3, abs=0.04)


def test_a_foot_that_rolls_from_heel_to_ball_is_not_disturbed(man):
    """About the rear edge of the sole, flat, and about its front edge: nothing slides, though the ankle moves."""
    body, still = man
    leg = find_legs(body, still.skeleton)[0]
    sole = Sole.of(body, still, leg, None).before[0]
    head = foot_path(body, still, 0)[0]
    time = np.arange(121) / FPS
    pitch = np.radians(20.0) * (np.clip((time - 1.1) / 0.5, 0, 1) ** 2 - np.clip((0.9 - time) / 0.5, 0, 1) ** 2)
    front, rear = sole[:, 1].min(), sole[:, 1].max()
    edge = np.stack([0.0 * time, np.where(pitch > 0.0, front, rear), np.full(121, sole[:, 2].min())], -1)
    turns = pitch[:, None] * [1.0, 0.0, 0.0]
    arm = (head - edge) * [0.0, 1.0, 1.0]
    way = rotate(from_rotation_vector(turns), arm) - arm
    source = moved(body, turned(body, still, 0, turns), {0: way})
    assert Sole.of(body, source, leg, None).speed(FPS).max() < 0.02
    clip, _ = plant_feet(body, source)
    assert np.linalg.norm(clip.world()[0] - source.world()[0], axis=-1).max() < 0.02
    assert Sole.of(body, clip, leg, None).speed(FPS).mean() < 0.01


@pytest.mark.parametrize(("tilt", "levelled"), [(8.0, True), (25.0, False)])
def test_a_nearly_level_sole_is_laid_flat(man, tilt, levelled):
    body, still = man
    source = turned(body, still, 0, np.tile(np.radians([tilt, 0.0, 0.0]), (121, 1)))
    source = adapt_to_ground(body, source, None)[0]
    leg = find_legs(body, still.skeleton)[0]
    clip, _ = plant_feet(body, source)
    before, after = (np.sort(Sole.of(body, c, leg, None).before[60, :, 2])[:4] for c in (source, clip))
    assert np.ptp(before) > 0.02
    assert (np.ptp(after) < 2e-3) == levelled
    assert after.min() == pytest.approx(0.0, abs=6e-3)


def test_a_foot_in_the_air_is_not_standing(man):
    body, still = man
    source = moved(body, still, {0: np.stack([0.05 * np.arange(121) / FPS, np.zeros(121), np.full(121, 0.2)], -1)})
    clip, report = plant_feet(body, source)
    assert same(clip, source) and not report.touched


def test_on_a_slope_feet_are_held_and_neither_raised_nor_laid_flat(man):
    body, still = man
    grid = np.arange(-3.0, 3.01, 0.05)
    x, _ = np.meshgrid(grid, grid)
    ground = Surface(Terrain(0.15 * x + 0.7, 0.05, grid[[0, 0]]), ())
    source = adapt_to_ground(body, moved(body, still, {0: stepping(0.05)}), ground)[0]
    clip, report = plant_feet(body, source, ground)
    before, after = foot_path(body, source, 0), foot_path(body, clip, 0)
    inside = slice(round(0.6 * FPS), round(1.2 * FPS))
    assert report.held >= 1
    assert np.ptp(after[inside, 0]) < 3e-3 < np.ptp(before[inside, 0])
    assert np.abs(after - before)[inside, 2].max() < 0.015


def test_a_body_without_legs_is_left_alone():
    body = one_bone(SHAPES["box"], role="foot")
    clip = clip_of(body, np.full(90, 0.3))
    assert plant_feet(body, clip)[0] is clip


@pytest.mark.parametrize("frames", [1, 2, 3, 4, 7])
def test_short_clips_are_no_trouble(man, frames):
    body, still = man
    source = moved(body, still, {0: stepping(0.06)}).frames(40, 40 + frames)
    clip, _ = plant_feet(body, source)
    assert len(clip) == frames and np.all(np.isfinite(clip.world()[0]))


def test_animals_are_held_by_all_feet_that_they_have():
    skeleton = fox()
    time = np.arange(91) / FPS
    pos, quat = (np.repeat(part[None], 91, axis=0) for part in (skeleton.rest_pos, skeleton.rest_quat_wxyz))
    pos[:, 0, 0] += 0.05 * time  # as if on a belt
    body = build_body(skeleton, clip=Clip(skeleton, FPS, pos, quat))[0]
    source = adapt_to_ground(body, Clip(skeleton, FPS, pos, quat), None)[0]
    clip, report = plant_feet(body, source)
    legs = find_legs(body, skeleton)
    assert len(legs) >= 2 and report.touched
    for number in range(len(legs)):
        if find_stances(Sole.of(body, source, legs[number], None), FPS)[0]:
            assert np.ptp(foot_path(body, clip, number)[5:-5, 0]) < 0.01


@needs_stock
@pytest.mark.parametrize(
    ("name", "falls_to", "rougher", "mean_cm"),
    [("walk", 0.35, 1.12, 1.2), ("dance_b", 0.32, 1.1, 1.0), ("jump", 0.2, 1.12, 1.6), ("kick", 0.45, 1.05, 0.8)],
)
def test_stock_clips_skate_several_times_less_and_hardly_change(name, falls_to, rougher, mean_cm):
    source = long_enough(stock.load_stock(name), 3.0)
    body = build_body(source.skeleton, clip=source)[0]
    source = adapt_to_ground(body, source, None)[0]
    clip, report = plant_feet(body, source)
    assert skate(body, clip) < falls_to * skate(body, source)
    assert jerk_ratio(roughness(clip), roughness(source)) < rougher
    assert 100 * np.linalg.norm(clip.world()[0] - source.world()[0], axis=-1).mean() < mean_cm
    assert report.slides < 0.5 * report.slid and report.moved < 0.13
    assert same(plant_feet(body, source)[0], clip)
