# SPDX-License-Identifier: GPL-3.0-or-later
"""Clips that hover are brought down to touch; flights are not, and nothing is moved by a jump."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from sinew.core.body import build_body
from sinew.core.body.clearance import put_on_floor
from sinew.core.body.hovering import centre_of_mass, compute_hover_drop
from sinew.core.body.model import BodyModel, Joint, Link
from sinew.core.motion import Clip, Skeleton
from sinew.core.motion.io import stock

from .one_bone_bodies import FPS, SHAPES, clip_of, lowest_of, one_bone

TIME = np.arange(360) / FPS
RADIUS = 0.1


def ball() -> BodyModel:
    """A foot that is a ball of 10 cm, so that its bone is that high where it touches."""
    return one_bone(SHAPES["sphere"], role="foot")


def risen(height: float, start_s: float = 0.8, stop_s: float = 2.0, over_s: float = 0.5) -> np.ndarray:
    """(T,) metres above the ground: goes up smoothly to a height, stays there, and comes down as smoothly."""
    up, down = (np.clip((TIME - at) / over_s, 0.0, 1.0) for at in (start_s, stop_s))
    return height * (up**2 * (3.0 - 2.0 * up) - down**2 * (3.0 - 2.0 * down))


def flown(height: float, fall: float = 9.81) -> np.ndarray:
    """(T,) metres above the ground: stands, flies up to a height and down again, stands."""
    half = np.sqrt(2.0 * height / fall)
    return np.maximum(height - 0.5 * fall * (TIME - 1.5) ** 2, 0.0) * (np.abs(TIME - 1.5) < half)


def drop_of(heights: np.ndarray) -> np.ndarray:
    """(T,) metres by which a ball at those heights above the ground is lowered."""
    body = ball()
    return compute_hover_drop(body, clip_of(body, RADIUS + heights), heights)


@pytest.mark.parametrize("height", [0.02, 0.06, 0.19])
def test_what_hovers_is_lowered_until_it_touches(height):
    body = ball()
    clip, report = put_on_floor(body, clip_of(body, RADIUS + risen(height)))
    lowest = lowest_of(body, clip)
    # Where it stays up there it touches; where it goes up and down, it is let be for some moments, but never digs in.
    assert np.abs(lowest[(TIME > 1.47) & (TIME < 1.83)]).max() < 1e-9
    assert lowest.min() > -1e-9 and report.lift < 1e-9
    assert report.drop == pytest.approx(height, abs=1e-9)
    assert 0.8 * FPS <= report.lowered_frames <= 1.7 * FPS
    assert f"{report.lowered_frames} frames that hovered were lowered by up to {100 * height:.1f} cm" in report.message


def test_what_touches_stays_to_the_bit():
    """Standing and within 1.5 cm, which is how well feet are captured."""
    assert not drop_of(np.zeros(len(TIME))).any()
    assert not drop_of(np.where(np.sin(9.0 * TIME) > 0.0, 0.014, 0.0)).any()
    drop = drop_of(risen(0.06))
    assert not drop[(TIME < 0.8) | (TIME > 2.5)].any()
    body = ball()
    clip = clip_of(body, np.full(len(TIME), RADIUS))
    report = put_on_floor(body, clip)[1]
    assert (report.drop, report.lowered_frames) == (0.0, 0) and "hovered" not in report.message


@pytest.mark.parametrize("height", [0.03, 0.1, 0.18])
def test_a_flight_that_falls_is_left(height):
    assert not drop_of(flown(height)).any()


@pytest.mark.parametrize(("share", "left"), [(0.75, True), (0.45, False)])
def test_who_falls_with_less_than_gravity_is_held_by_something(share, left):
    """The share of gravity at which a low flight falls; guessed masses and filtered captures make it less than one."""
    drop = drop_of(flown(0.15, share * 9.81))
    assert drop.any() != left


@pytest.mark.parametrize("height", [0.21, 0.6])
def test_a_slow_flight_that_is_high_is_left(height):
    """It was slowed down or weightless, or is on something: another's business."""
    assert not drop_of(flown(height, 0.3 * 9.81)).any() and not drop_of(risen(height)).any()


def test_the_whole_body_must_fall_and_not_only_its_feet():
    """Drawn-up feet that come down again with gravity under a trunk that stays where it is: somebody hangs."""
    bones = Skeleton(
        ("trunk", "foot"), np.array([-1, -1]), np.zeros((2, 3)), np.tile([1.0, 0.0, 0.0, 0.0], (2, 1)), np.full(2, 0.2)
    )
    trunk = Link("trunk", "pelvis", "", -1, Joint("free", np.zeros(3)), (), 40.0, np.zeros(3), np.eye(3))
    foot = replace(ball().links[0], bone="foot", parent=0, joint=Joint("ball", np.zeros(3)))
    body = BodyModel(bones, (trunk, foot))
    heights = flown(0.1)
    pos = np.zeros((len(TIME), 2, 3))
    pos[:, 0, 2], pos[:, 1, 2] = 1.0, RADIUS + heights
    clip = Clip(bones, FPS, pos, np.tile([1.0, 0.0, 0.0, 0.0], (len(TIME), 2, 1)), "hangs")
    assert compute_hover_drop(body, clip, heights).max() > 0.03
    pos[:, 0, 2] += heights  # and now it falls with them
    assert not compute_hover_drop(body, Clip(bones, FPS, pos, clip.local_quat_wxyz, "flies"), heights).any()


def test_a_flight_that_lands_on_nothing_comes_down_and_does_not_dig_in():
    """A hop of 18 cm that ends 6 cm above the floor: the landing touches, and the hop is less, but still one."""
    speed, land = np.sqrt(2.0 * 9.81 * 0.18), 0.06
    flight = np.sqrt(2.0 * 0.18 / 9.81) + np.sqrt(2.0 * (0.18 - land) / 9.81)
    since = TIME - 1.5
    heights = np.where(since < flight, speed * since - 0.5 * 9.81 * since**2, land) * (since > 0.0) * (TIME < 4.0)
    left = heights - drop_of(heights)
    assert left.min() > -1e-12 and np.array_equal(left[TIME < 1.5], heights[TIME < 1.5])
    assert np.abs(left[(since > flight + 0.17) & (TIME < 3.8)]).max() < 1e-9
    assert left.max() > 0.08


@pytest.mark.parametrize("frames", [1, 2, 4])
def test_a_moment_is_too_short_to_tell(frames):
    """Less than 0.08 s: a foot that is put down has nothing else of the body on the ground for as long."""
    heights = np.zeros(len(TIME))
    heights[90 : 90 + frames] = 0.05
    assert not drop_of(heights).any()


@pytest.mark.parametrize("at", [slice(60, 120), slice(0, 60), slice(300, 360), slice(0, 360)])
def test_nothing_is_moved_by_a_jump(at):
    """Though the source jumps up by 6 cm from one frame to the next, in the middle, at the beginning and at the end."""
    heights = np.zeros(len(TIME))
    heights[at] = 0.06
    drop = drop_of(heights)
    assert drop.max() == pytest.approx(0.06) and (drop <= heights + 1e-12).all()
    # All of it within 0.16 s, smoothly: no step is more than a fifth of it, and speeds change as smoothly.
    assert np.abs(np.diff(drop)).max() < 0.2 * 0.06
    assert np.abs(np.diff(drop, 2)).max() < 0.1 * 0.06


def test_the_centre_of_mass_is_that_of_links_on_their_bones():
    body, _ = build_body(stock.stock_skeleton())
    bones = body.skeleton
    pos, quat = np.tile(bones.rest_pos, (2, 1, 1)), np.tile(bones.rest_quat_wxyz, (2, 1, 1))
    pos[1, 0] += [0.3, -0.2, 0.5]
    centre = centre_of_mass(body, Clip(bones, FPS, pos, quat, "rest"))
    np.testing.assert_allclose(centre[1] - centre[0], [0.3, -0.2, 0.5], atol=1e-12)
    # A person's is at the height of the hips, and between left and right.
    hips = bones.rest_world()[0][bones.index("pelvis"), 2]
    assert abs(centre[0, 0]) < 0.01 and abs(centre[0, 2] - hips) < 0.15


def run_on(rise: float, hop: float = 0.1, stands_s: float = 0.12) -> np.ndarray:
    """(T,) metres above the ground: stands, then hops from stance to stance, each as much higher, and stands again."""
    half_s, heights = np.sqrt(2.0 * hop / 9.81), np.zeros(len(TIME))
    at_s, levels = 0.5, [0.0, rise, 2.0 * rise, rise, 0.0]
    for low, high in pairwise(levels):
        own = (TIME - at_s) / (2.0 * half_s)
        flight = low + (high - low) * own + 4.0 * hop * own * (1.0 - own)
        heights = np.where((own >= 0.0) & (own < 1.0), flight, heights)
        at_s += 2.0 * half_s
        heights = np.where((at_s <= TIME) & (at_s + stands_s > TIME), high, heights)
        at_s += stands_s if high != 0.0 else 0.0
    return np.where(at_s <= TIME, 0.0, heights)


def test_stances_that_hover_between_flights_are_lowered_and_the_flights_stay_flights():
    heights = run_on(0.06)
    drop = drop_of(heights)
    stands = (np.abs(np.gradient(heights)) < 1e-9) & (heights > 0.03)
    assert stands.sum() > 15 and np.abs((heights - drop)[stands]).max() < 0.012
    assert (heights - drop).min() > -1e-9
    assert (heights - drop).max() > 0.08  # it still flies
    assert not drop[TIME < 0.5].any() and not drop[-60:].any()


def test_who_climbs_higher_than_a_hover_is_left():
    """Stances on a step of 25 cm stand on something that is not in the clip: that is said, and nothing is lowered."""
    assert not drop_of(run_on(0.25, hop=0.15)).any()
