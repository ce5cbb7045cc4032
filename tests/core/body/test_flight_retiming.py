# SPDX-License-Identifier: GPL-3.0-or-later
"""Flights played so that they fall as gravity has it; what is no clear flight is left alone."""

import numpy as np
import pytest

from sinew.core.body import build_body
from sinew.core.body.flight_retiming import centre_of_mass, retime_flights
from sinew.core.body.terrain_adaptation import adapt_to_ground
from sinew.core.geometry.quaternions import from_rotation_vector, multiply, rotate
from sinew.core.motion import Clip
from sinew.core.motion.io import stock
from sinew.core.sim.stage import Terrain
from sinew.core.sim.surface import Surface

from ...stock_clips import needs_stock
from .figures import person

EARTH, MOON = 9.81, 1.62
GROUND_S = 0.5


@pytest.fixture(scope="module")
def man():
    """The body of a person, and how high its root is when it stands."""
    skeleton = person(without=("toe",))
    clip = Clip(skeleton, 30.0, skeleton.rest_pos[None], skeleton.rest_quat_wxyz[None])
    body = build_body(skeleton, clip=clip)[0]
    return body, adapt_to_ground(body, clip, None)[0].local_pos[0]


def thrown(man, fps, *falls, arc=0.3, ground_s=GROUND_S, on=0.0):
    """A stiff body that slides along at 2 m/s and is thrown up, once for each fall in m/s², to arcs of that height."""
    body, pos = man
    lasts = [float(np.sqrt(8.0 * arc / fall)) for fall in falls]
    starts = np.cumsum([ground_s, *(last + ground_s for last in lasts)])
    time = np.arange(int(starts[-1] * fps) + 1) / fps
    height = np.zeros(len(time))
    for start, last, fall in zip(starts, lasts, falls, strict=False):
        since = np.clip(time - start, 0.0, last)
        height += 0.5 * fall * since * (last - since)
    pos = np.repeat(pos[None], len(time), axis=0)
    pos[:, 0, 0] += 2.0 * time
    pos[:, 0, 2] += height + on
    quat = np.repeat(body.skeleton.rest_quat_wxyz[None], len(time), axis=0)
    return body, Clip(body.skeleton, fps, pos, quat, "thrown")


def fall_of(body, clip, floor=0.03):
    """m/s² at which the centre of mass falls in the highest flight."""
    centre = centre_of_mass(body, clip)[:, 2]
    high = np.flatnonzero(centre > centre[0] + floor)
    high = high[: np.argmax(np.diff(high) > 1) + 1] if np.any(np.diff(high) > 1) else high
    return -2.0 * np.polyfit(high / clip.fps, centre[high], 2)[0]


@pytest.mark.parametrize("fps", [24.0, 30.0, 60.0, 120.0])
@pytest.mark.parametrize(
    ("fall", "gravity"), [(2.0 * EARTH, EARTH), (0.6 * EARTH, EARTH), (EARTH, MOON), (EARTH, 20.0)]
)
def test_a_thrown_body_falls_as_gravity_has_it_at_any_rate(man, fps, fall, gravity):
    body, clip = thrown(man, fps, fall)
    assert fall_of(body, clip) == pytest.approx(fall, rel=0.02)
    result, report = retime_flights(body, clip, gravity)
    assert report.touched and result.fps == fps
    assert fall_of(body, result) == pytest.approx(gravity, rel=0.03)
    assert report.flights[0].factor == pytest.approx(np.sqrt(fall / gravity), rel=0.02)
    assert np.sign(report.longer_s) == np.sign(fall - gravity)


@pytest.mark.parametrize("fall", [2.0 * EARTH, 0.6 * EARTH])
def test_what_is_on_the_ground_is_only_shifted_and_speed_does_not_jump(man, fall):
    body, clip = thrown(man, 120.0, fall)
    result, report = retime_flights(body, clip)
    before = int(120 * (GROUND_S - 0.16))
    assert np.array_equal(result.local_pos[:before], clip.local_pos[:before])
    speed = np.diff(result.local_pos[:, 0, 0]) * 120.0
    factor = report.flights[0].factor
    assert speed[-40:] == pytest.approx(2.0, abs=1e-6)
    assert speed[(len(speed) + 40) // 2] == pytest.approx(2.0 / factor, rel=1e-6)
    # From one to the other within 0.15 s, smoothly: half as fast again as a straight line at most.
    assert np.abs(np.diff(speed)).max() * 120.0 < 1.6 * abs(2.0 - 2.0 / factor) / (0.15 * min(factor, 1.0))
    assert result.local_pos[-1, 0, 0] == pytest.approx(clip.local_pos[-1, 0, 0], abs=2.0 / 120.0)
    assert len(report.times_s) == len(result) and report.longer_s == result.duration_s - clip.duration_s


@pytest.mark.parametrize("fall", [0.9 * EARTH, EARTH, 1.1 * EARTH])
def test_who_falls_about_as_gravity_has_it_is_not_touched(man, fall):
    body, clip = thrown(man, 60.0, fall)
    result, report = retime_flights(body, clip)
    assert result is clip and not report.touched and report.message == "Flights fall as they should"


def test_a_flight_that_is_right_stays_right_next_to_one_that_is_not(man):
    body, clip = thrown(man, 60.0, EARTH, 2.0 * EARTH, ground_s=0.2)
    result, report = retime_flights(body, clip)
    assert len(report.flights) == 1 and report.flights[0].start_s > 0.6
    whole = int(60 * (0.2 + np.sqrt(8.0 * 0.3 / EARTH)))
    np.testing.assert_allclose(result.local_pos[:whole, 0], clip.local_pos[:whole, 0], atol=1e-3)


def test_two_flights_are_told_together(man):
    body, clip = thrown(man, 60.0, 1.5 * EARTH, 2.0 * EARTH)
    report = retime_flights(body, clip)[1]
    assert "2 flights, the first at 0.5 s, fall at 15 to 20 m/s²" in report.message
    assert "played 1.2" in report.message and "times as slowly" in report.message and "s longer" in report.message


def test_it_is_told_what_was_done_and_how_to_keep_the_timing(man):
    report = retime_flights(*thrown(man, 60.0, 0.6 * EARTH))[1]
    assert "The flight at 0.5 s falls at 5.9 m/s²: it is played 1.29 times as fast" in report.message
    assert "s shorter" in report.message and "Fix Flight Times" in report.hint


def test_there_is_a_limit_and_it_is_told(man):
    body, clip = thrown(man, 120.0, 5.0 * EARTH, arc=0.6)
    result, report = retime_flights(body, clip)
    assert report.flights[0].factor == pytest.approx(1.6) and "frame rate" in report.hint
    assert fall_of(body, result) == pytest.approx(5.0 * EARTH / 1.6**2, rel=0.03)


def test_where_nothing_falls_nothing_is_done(man):
    body, clip = thrown(man, 60.0, 2.0 * EARTH)
    assert retime_flights(body, clip, 0.0)[0] is clip


def test_heights_are_above_the_ground_that_there_is(man):
    body, clip = thrown(man, 60.0, 2.0 * EARTH, on=0.7)
    assert retime_flights(body, clip)[0] is clip  # it never touches a floor at 0
    terrain = Terrain(np.full((11, 11), 0.7), 2.0, np.array([-10.0, -10.0]))
    assert retime_flights(body, clip, EARTH, Surface(terrain, ()))[1].touched


def test_a_short_hop_is_let_be(man):
    body, clip = thrown(man, 120.0, 2.0 * EARTH, arc=0.04)
    assert retime_flights(body, clip)[0] is clip


def test_a_path_that_is_no_parabola_is_let_be(man):
    body, clip = thrown(man, 60.0, 2.0 * EARTH)
    pos = np.array(clip.local_pos)
    up = pos[:, 0, 2] - pos[0, 0, 2]
    pos[:, 0, 2] += 0.25 * up * np.sin(40.0 * np.arange(len(pos)) / 60.0)
    odd = Clip(clip.skeleton, clip.fps, pos, clip.local_quat_wxyz)
    assert retime_flights(body, odd)[0] is odd


@pytest.mark.parametrize("held", [True, False])
def test_a_step_over_what_is_not_in_the_file_is_no_flight(man, held):
    """The body swings over a foot that stands in mid-air: its centre of mass goes up and down as if thrown slowly."""
    body, pos = man
    fps, first, last = 60.0, 40, 80
    skeleton = body.skeleton
    heads, quats = skeleton.rest_world()
    foot = skeleton.index("foot.L")
    ball = heads[foot] + rotate(quats[foot], np.array([0.0, skeleton.lengths[foot], 0.0]))
    placed = np.repeat(pos[None], 120, axis=0)
    quat = np.repeat(skeleton.rest_quat_wxyz[None], 120, axis=0)
    inside = slice(first, last)
    turn = from_rotation_vector(np.linspace(-0.6, 0.6, last - first)[:, None] * np.array([1.0, 0.0, 0.0]))
    placed[inside, 0] = ball + [0.0, 0.0, 0.5] + rotate(turn, np.broadcast_to(heads[0] - ball, (last - first, 3)))
    quat[inside, 0] = multiply(turn, quat[inside, 0])
    if not held:  # the same arc, but everything goes along
        placed[:, 0, 0] += 3.0 * np.arange(120) / fps
    clip = Clip(skeleton, fps, placed, quat)
    assert (retime_flights(body, clip)[0] is clip) == held


@pytest.mark.parametrize("frames", [1, 2, 5, 40])
def test_parts_of_flights_and_short_clips_are_no_trouble(man, frames):
    body, clip = thrown(man, 120.0, 2.0 * EARTH)
    some = clip.frames(70, 70 + frames)
    assert retime_flights(body, some)[0] is some


@needs_stock
@pytest.mark.parametrize(
    ("name", "factors"), [("jump", ()), ("spinkick", ()), ("backflip", ()), ("walk", ()), ("spin", (0.71,))]
)
def test_of_the_stock_clips_only_what_clearly_falls_wrong_is_touched(name, factors):
    """The backflip's centre of mass makes no parabola at any speed: there is no time that would put it right."""
    clip = stock.load_stock(name)
    body = build_body(clip.skeleton, clip=clip)[0]
    report = retime_flights(body, adapt_to_ground(body, clip, None)[0])[1]
    assert [flight.factor for flight in report.flights] == pytest.approx(factors, abs=0.03)
