# SPDX-License-Identifier: GPL-3.0-or-later
"""Feet of takes that are held where they are carried: creeping is taken back, sliding and falling are left alone."""

import numpy as np
import pytest

from sinew.core.body import build_body
from sinew.core.body.foot_lock import lock_feet
from sinew.core.body.leg_ik import find_legs
from sinew.core.body.stances import Sole, detect_support
from sinew.core.body.terrain_adaptation import adapt_to_ground
from sinew.core.geometry.quaternions import from_rotation_vector, multiply, rotate
from sinew.core.motion import Clip
from sinew.core.sim.stage import Terrain
from sinew.core.sim.surface import Surface

from .figures import fox
from .stepping import (
    FPS,
    INSIDE,
    STANDS,
    TIME,
    along,
    assert_only_left_leg_turned,
    foot_path,
    glided,
    moved,
    on_feet,
    roughness,
    same,
    standing_man,
    stepping,
    turned,
)


@pytest.fixture(scope="module")
def man():
    return standing_man()


@pytest.mark.parametrize("way", [0.01, 0.03, 0.06])
def test_a_foot_that_creeps_is_held_and_its_swing_is_untouched(man, way):
    body, still = man
    source = moved(body, still, {0: stepping(way)})
    clip, report = lock_feet(body, source, on_feet(body, source, STANDS))
    before, after = foot_path(body, source, 0), foot_path(body, clip, 0)
    assert np.ptp(before[INSIDE, 0]) > 0.8 * way
    assert np.ptp(after[INSIDE], axis=0).max() < 3e-4
    assert after[INSIDE, 0].mean() == pytest.approx(before[INSIDE, 0].mean(), abs=1e-3)
    assert report.held == 1 and report.left == 0 and report.touched
    assert report.most == pytest.approx(np.linalg.norm(after - before, axis=-1).max())
    assert roughness(clip) < 1.1 * roughness(source)
    # A quarter of a second before and after; the hips, the other leg and all the rest at any time.
    swing = (TIME < 0.2) | (TIME > 1.6)
    assert np.array_equal(clip.local_quat_wxyz[swing], source.local_quat_wxyz[swing])
    assert_only_left_leg_turned(clip, source)


def test_it_is_said_in_plain_words(man):
    body, still = man
    source = moved(body, still, {0: stepping(0.03)})
    _, report = lock_feet(body, source, on_feet(body, source, STANDS))
    assert report.message.startswith("The take's feet were held where they stand: moved by ")
    assert f"{1000 * report.mean:.0f} mm on average, {100 * report.most:.1f} cm at most" in report.message


def test_where_nothing_stands_every_bit_stays(man):
    body, still = man
    source = moved(body, still, {0: stepping(0.03)})
    clip, report = lock_feet(body, source, on_feet(body, source))
    assert clip is source and not report.touched and report.most == 0.0


@pytest.mark.parametrize("seconds", [(0.2, 0.7), (0.1, 1.9)])
def test_a_foot_that_slides_by_20_cm_slides(man, seconds):
    body, still = man
    source = moved(body, still, {0: stepping(0.2, seconds, lift_m=0.0)})
    stands = (seconds[0] <= TIME) & (seconds[1] >= TIME)
    clip, report = lock_feet(body, source, on_feet(body, source, stands))
    assert same(clip, source) and report.left == 1 and not report.touched


def test_who_glides_on_ice_glides(man):
    """Both feet carried all the time, ever slower: what is fast stays, and no foot is dragged behind the body."""
    body, still = man
    source = glided(still, along(0.6 * TIME - 0.1 * TIME**2))
    clip, report = lock_feet(body, source, on_feet(body, source, TIME >= 0, TIME >= 0))
    assert same(clip, source) and report.left == 2


def test_a_shove_stays_and_the_stands_around_it_are_held(man):
    body, still = man
    way = 0.3 * np.clip((TIME - 0.8) / 0.4, 0.0, 1.0) + 0.02 * TIME
    source = moved(body, still, {0: along(way - 0.15)})
    clip, _ = lock_feet(body, source, on_feet(body, source, TIME >= 0))
    path, before = foot_path(body, clip, 0)[:, 0], foot_path(body, source, 0)[:, 0]
    assert np.ptp(path[5:43]) < 1e-3 < 0.01 < np.ptp(before[5:43])
    assert np.ptp(path[78:116]) < 1e-3
    assert path[100] - path[20] == pytest.approx(0.3, abs=0.03)


@pytest.mark.parametrize(("degrees", "stays"), [(8.0, False), (90.0, True)])
def test_a_sole_that_turns_far_goes_on_turning(man, degrees, stays):
    body, still = man
    yaw = np.radians(degrees) * np.clip((TIME - 0.6) / 0.6, 0.0, 1.0)
    # About the middle of the sole, so that the contact as a whole stays where it is.
    leg = find_legs(body, still.skeleton)[0]
    sole = Sole.of(body, still, leg, None)
    arm = foot_path(body, still, 0)[0] - np.sum(sole.share[0, :, None] * sole.before[0], axis=0)
    turns = yaw[:, None] * [0.0, 0.0, 1.0]
    source = moved(body, turned(body, still, 0, turns), {0: rotate(from_rotation_vector(turns), arm) - arm})
    clip, _ = lock_feet(body, source, on_feet(body, source, TIME >= 0))
    left = np.degrees(Sole.of(body, clip, leg, None).yaw_steps().sum())
    there = np.degrees(Sole.of(body, source, leg, None).yaw_steps().sum())
    assert there > 0.8 * degrees
    assert left == pytest.approx(there, abs=0.5) if stays else abs(left) < 0.1 * degrees


@pytest.mark.parametrize("degrees", [15.0, 90.0])
def test_the_corner_that_a_sole_pivots_on_stays(man, degrees):
    """The middle of the sole swings around its heel: holding the middle would drag the heel."""
    body, still = man
    yaw = np.radians(degrees) * np.clip((TIME - 0.6) / 0.6, 0.0, 1.0)
    leg = find_legs(body, still.skeleton)[0]
    sole = Sole.of(body, still, leg, None)
    corner = sole.before[0][np.argmin(sole.before[0][:, 0] + sole.before[0][:, 1] + 10.0 * sole.before[0][:, 2])]
    arm = foot_path(body, still, 0)[0] - corner
    turns = yaw[:, None] * [0.0, 0.0, 1.0]
    source = moved(body, turned(body, still, 0, turns), {0: rotate(from_rotation_vector(turns), arm) - arm})
    clip, _ = lock_feet(body, source, on_feet(body, source, TIME >= 0))
    slide = np.linalg.norm(Sole.of(body, clip, leg, None).least_slide, axis=-1)
    assert slide.sum() < 1e-3 < 0.03 < np.linalg.norm(Sole.of(body, source, leg, None).slide[:, :2], axis=-1).sum()


def test_a_foot_that_hops_elsewhere_stands_twice(man):
    """Off the ground for a moment in which it goes 12 cm; before it stands still, after it creeps."""
    body, still = man
    hop = 0.12 * np.clip((TIME - 0.95) * FPS / 2.0, 0.0, 1.0)
    way = along(hop + 0.03 * np.clip(TIME - 1.0, 0.0, None))
    source = moved(body, still, {0: way - 0.08 * np.array([1.0, 0.0, 0.0])})
    clip, report = lock_feet(body, source, on_feet(body, source, (TIME < 0.945) | (TIME > 0.99)))
    path, before = foot_path(body, clip, 0)[:, 0], foot_path(body, source, 0)[:, 0]
    after = TIME > 1.05
    assert np.ptp(before[after]) > 0.02 and np.ptp(path[after][:-3]) < 2e-3
    assert np.ptp(path[TIME < 0.9]) < 2e-3 and path[-1] - path[0] > 0.1 and report.held >= 1


def test_a_fall_stays_as_physics_had_it(man):
    body, still = man
    source = moved(body, still, {0: along(0.02 * TIME - 0.02)})
    clip, report = lock_feet(body, source, on_feet(body, source, TIME >= 0), until=80)
    assert report.touched
    assert np.array_equal(clip.local_quat_wxyz[80:], source.local_quat_wxyz[80:])
    path, before = foot_path(body, clip, 0)[:, 0], foot_path(body, source, 0)[:, 0]
    assert np.ptp(path[:60]) < 1e-3 < np.ptp(before[:60])
    # It is let go in good time: no faster than a foot that takes a small step.
    assert np.abs(np.diff(path)).max() * FPS < 0.15


def test_no_foot_is_moved_far(man):
    """A sole that touches down with speed slides 6.5 cm in a moment, and then stands for long."""
    body, still = man
    source = moved(body, still, {0: along(0.065 * np.clip((TIME - 0.5) / 0.1, 0.0, 1.0))})
    clip, report = lock_feet(body, source, on_feet(body, source, TIME >= 0.5))
    after = foot_path(body, clip, 0)
    assert 0.02 < report.most < 0.043
    assert np.ptp(after[32:, 0]) < 0.006


def test_a_sunken_sole_is_raised_and_none_is_pushed_down(man):
    body, still = man
    leg = find_legs(body, still.skeleton)[0]
    for height, rises in ((-0.01, 0.01), (0.01, 0.0)):
        source = moved(body, still, {0: along(0.01 * TIME, height)})
        clip, _ = lock_feet(body, source, on_feet(body, source, TIME >= 0))
        now, then = (Sole.of(body, one, leg, None).depths() for one in (clip, source))
        np.testing.assert_allclose(now - then, rises, atol=2e-3)


def test_who_stands_on_something_else_is_left_alone(man):
    """A board of 3 cm, or somebody's foot: it may move, and what is under it is not known."""
    body, still = man
    source = moved(body, still, {0: along(0.02 * TIME, 0.03)})
    assert lock_feet(body, source, on_feet(body, source, TIME >= 0))[0] is source


def test_on_a_slope_feet_are_held_and_keep_their_height(man):
    body, still = man
    grid = np.arange(-3.0, 3.01, 0.05)
    x, _ = np.meshgrid(grid, grid)
    ground = Surface(Terrain(0.15 * x + 0.7, 0.05, grid[[0, 0]]), ())
    source = adapt_to_ground(body, moved(body, still, {0: stepping(0.03)}), ground)[0]
    clip, report = lock_feet(body, source, on_feet(body, source, STANDS), ground)
    before, after = foot_path(body, source, 0), foot_path(body, clip, 0)
    inside = slice(round(0.6 * FPS), round(1.2 * FPS))
    assert report.held == 1
    assert np.ptp(after[inside, 0]) < 1e-3 < np.ptp(before[inside, 0])
    assert np.ptp(after[inside, 2]) < 1e-3 < np.ptp(before[inside, 2])
    depths = [Sole.of(body, one, find_legs(body, still.skeleton)[0], ground).depths() for one in (source, clip)]
    assert np.min(depths[1] - np.minimum(depths[0], 0.0)) > -1e-3


def test_animals_are_held_by_paws_too():
    skeleton = fox()
    pos, quat = (np.repeat(part[None], 91, axis=0) for part in (skeleton.rest_pos, skeleton.rest_quat_wxyz))
    pos[:, 0, 0] += 0.03 * TIME[:91]
    body = build_body(skeleton, clip=Clip(skeleton, FPS, pos, quat))[0]
    source = adapt_to_ground(body, Clip(skeleton, FPS, pos, quat), None)[0]
    legs = find_legs(body, skeleton)
    low = [Sole.of(body, source, leg, None).height.max() < 0.015 for leg in legs]
    clip, report = lock_feet(body, source, np.ones((91, len(body.links)), dtype=bool))
    assert report.held == sum(low) >= 2
    for number in np.flatnonzero(low):
        assert np.ptp(foot_path(body, clip, number)[5:-5, 0]) < 0.005


@pytest.mark.parametrize("frames", [1, 2, 3, 4, 7])
def test_short_clips_are_no_trouble(man, frames):
    body, still = man
    source = moved(body, still, {0: stepping(0.06)}).frames(40, 40 + frames)
    clip, _ = lock_feet(body, source, np.ones((frames, len(body.links)), dtype=bool))
    assert len(clip) == frames and np.all(np.isfinite(clip.world()[0]))


def test_what_is_carried_is_pushed_up_with_some_of_the_weight(man):
    body, _ = man
    weight = 9.81 * body.mass
    force = np.zeros((5, len(body.links), 3))
    force[1, 0] = [0.0, 0.0, 0.5 * weight]
    force[2, 0] = [0.0, 0.0, 0.01 * weight]
    force[3, 0] = [0.5 * weight, 0.0, 0.1 * weight]
    force[4, 0] = np.nan
    assert detect_support(body, force)[:, 0].tolist() == [False, True, False, False, False]


def test_the_turn_of_a_foot_in_the_world_is_kept_where_only_its_place_is_held(man):
    body, still = man
    source = moved(body, still, {0: stepping(0.03)})
    clip, _ = lock_feet(body, source, on_feet(body, source, STANDS))
    foot = clip.skeleton.index("foot.L")
    one, other = clip.world()[1][:, foot], source.world()[1][:, foot]
    off = multiply(one, other * [1.0, -1.0, -1.0, -1.0])
    assert np.abs(off[:, 1:]).max() < 1e-3
