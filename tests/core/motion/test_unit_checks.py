# SPDX-License-Identifier: GPL-3.0-or-later
"""A wrong frame rate shows in how a character falls; a right one, and what is not sure, is passed over."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinew.core.geometry.quaternions import from_rotation_vector
from sinew.core.motion import Clip, Skeleton
from sinew.core.motion.flights import estimate_body_points, find_flights
from sinew.core.motion.plain_walk import plain_walk
from sinew.core.motion.unit_checks import check_frame_rate, check_scale

GRAVITY = 9.81
X, Y, Z = np.eye(3)
TURN_UP = from_rotation_vector(0.5 * np.pi * X)  # a bone's own Y becomes the world's Z


def puppet(scale: float = 1.0) -> Skeleton:
    """Hips, spine, head, and two arms and legs of two bones each: 1.7 m tall, standing, its bones along their Y."""
    heads = {
        "hips": ("", 0.0, 0.9),
        "spine": ("hips", 0.0, 1.0),
        "head": ("spine", 0.0, 1.5),
        "thigh.L": ("hips", 0.1, 0.9),
        "shin.L": ("thigh.L", 0.1, 0.48),
        "thigh.R": ("hips", -0.1, 0.9),
        "shin.R": ("thigh.R", -0.1, 0.48),
        "arm.L": ("spine", 0.2, 1.45),
        "forearm.L": ("arm.L", 0.2, 1.17),
        "arm.R": ("spine", -0.2, 1.45),
        "forearm.R": ("arm.R", -0.2, 1.17),
    }
    ups = {"hips": 0.1, "spine": 0.5, "head": 0.2}
    downs = {"thigh": 0.42, "shin": 0.45, "arm": 0.28, "forearm": 0.25}
    names = tuple(heads)
    parents = np.array([names.index(heads[n][0]) if heads[n][0] else -1 for n in names])
    world = np.array([[heads[n][1], 0.0, heads[n][2]] for n in names])
    pos = np.where(parents[:, None] >= 0, world - world[parents], world)
    # Bones that hang point down; to keep the arithmetic plain they all have the world's axes but the tip's.
    lengths = np.array([ups.get(n) or downs[n.split(".")[0]] for n in names])
    quats = np.tile([1.0, 0.0, 0.0, 0.0], (len(names), 1))
    quats[names.index("head")] = TURN_UP
    for tip in ("shin.L", "shin.R", "forearm.L", "forearm.R"):
        quats[names.index(tip)] = from_rotation_vector(-0.5 * np.pi * X)
    return Skeleton(names, parents, pos * scale, quats, lengths * scale)


def hop_heights(times: np.ndarray, speed: float, stand_s: float) -> np.ndarray:
    """Metres of the hips above standing: crouch, push off, fly, land, again and again."""
    flight_s, crouch = 2.0 * speed / GRAVITY, 0.25
    push_s = 2.0 * crouch / speed
    period = stand_s + push_s + flight_s + push_s
    t = np.mod(times, period)
    down = crouch * 0.5 * (1.0 - np.cos(np.pi * np.clip(t / stand_s, 0.0, 1.0)))
    push = 0.5 * (speed / push_s) * np.clip(t - stand_s, 0.0, push_s) ** 2
    fly = np.clip(t - stand_s - push_s, 0.0, flight_s)
    land = np.clip(t - stand_s - push_s - flight_s, 0.0, push_s)
    return -down + push + speed * fly - 0.5 * GRAVITY * fly**2 - speed * land + 0.5 * (speed / push_s) * land**2


def hopper(
    fps: float, *, speed: float = 2.4, seconds: float = 4.0, scale: float = 1.0, forward: float = 0.6, seed: int = 0
) -> Clip:
    """A puppet that hops at a true rate of ``fps``: its feet are on the floor but when it flies."""
    skeleton = puppet(scale)
    rng = np.random.default_rng(seed)
    times = np.arange(int(seconds * fps)) / fps
    height = hop_heights(times, speed, stand_s=0.5)
    quats = np.tile(skeleton.rest_quat_wxyz, (len(times), 1, 1))
    # The legs fold so that the feet stay on the floor: thigh and shin by opposite angles about X.
    leg = np.clip((0.9 + np.minimum(height, 0.0)) / 0.9, -1.0, 1.0)
    fold = np.arccos(leg) * X[:, None]
    for side in "LR":
        thigh, shin = skeleton.index(f"thigh.{side}"), skeleton.index(f"shin.{side}")
        quats[:, thigh] = from_rotation_vector(fold.T)
        quats[:, shin] = from_rotation_vector(-2.0 * fold.T - 0.5 * np.pi * X)
    swing = 0.2 * np.sin(2.0 * np.pi * 0.7 * times + rng.uniform(0.0, 6.0))
    quats[:, skeleton.index("arm.L")] = from_rotation_vector(swing[:, None] * X)
    pos = np.tile(skeleton.rest_pos, (len(times), 1, 1))
    pos[:, 0, 2] += scale * height
    pos[:, 0, 1] += scale * forward * times
    return Clip(skeleton, fps, pos, quats, "hops")


def test_the_hopper_falls_as_it_should():
    clip = hopper(120.0)
    flights = find_flights(estimate_body_points(clip))
    assert len(flights) == 3
    for flight in flights:
        assert flight.fall * 120.0**2 == pytest.approx(GRAVITY, rel=0.05)
        assert flight.arc_m == pytest.approx(2.4**2 / (2.0 * GRAVITY), rel=0.5)


@given(
    true=st.sampled_from([24.0, 30.0, 60.0, 120.0]),
    speed=st.floats(1.9, 3.2),
    seed=st.integers(0, 1000),
    times=st.sampled_from([0.2, 0.25, 0.5, 2.0, 4.0, 5.0]),
)
def test_any_wrong_label_is_found_and_the_true_rate_suggested(true, speed, seed, times):
    clip = hopper(true, speed=speed, seed=seed)
    assert check_frame_rate(clip) is None
    finding = check_frame_rate(clip.with_fps(true * times))
    assert finding is not None
    assert finding.suggested_fps == true
    assert finding.factor == pytest.approx(1.0 / times)
    assert finding.gravity_m_s2 == pytest.approx(GRAVITY * times**2, rel=0.15)
    assert finding.flights >= 1
    assert f"--fps {true:g}" in finding.hint


@given(label=st.floats(0.8, 1.25), true=st.sampled_from([30.0, 60.0, 120.0]), speed=st.floats(0.5, 3.2))
def test_a_label_that_is_nearly_right_is_left_alone(label, true, speed):
    assert check_frame_rate(hopper(true, speed=speed).with_fps(true * label)) is None


@given(speed=st.floats(0.3, 0.75), times=st.sampled_from([0.2, 0.5, 1.0, 2.0, 5.0]))
def test_hops_too_low_to_tell_are_passed_over(speed, times):
    assert check_frame_rate(hopper(60.0, speed=speed).with_fps(60.0 * times)) is None


def test_the_messages_are_for_people():
    fast = check_frame_rate(hopper(60.0).with_fps(120.0))
    assert fast.message == (
        f"This motion falls at {fast.gravity_m_s2:.0f} m/s² in the air, four times gravity: "
        "it was probably recorded at 60 frames a second, not 120"
    )
    assert fast.hint == "Set the true frame rate to 60 (--fps 60)"
    assert "falls at 24" in check_frame_rate(hopper(24.0).with_fps(120.0)).message
    slow = check_frame_rate(hopper(120.0).with_fps(24.0))
    assert slow.message.endswith("4% of gravity: it was probably recorded at 120 frames a second, not 24")


def test_standing_and_lying_still_say_nothing():
    clip = hopper(60.0)
    for frame in (0, 30):
        still = Clip(
            clip.skeleton,
            60.0,
            np.repeat(clip.local_pos[frame : frame + 1], 90, axis=0),
            np.repeat(clip.local_quat_wxyz[frame : frame + 1], 90, axis=0),
        )
        for fps in (12.0, 60.0, 300.0):
            assert check_frame_rate(still.with_fps(fps)) is None


def with_hips_moved(clip: Clip, offset: np.ndarray) -> Clip:
    pos = np.array(clip.local_pos)
    pos[:, 0] += offset
    return Clip(clip.skeleton, clip.fps, pos, clip.local_quat_wxyz)


@pytest.mark.parametrize("label", [24.0, 30.0])
def test_a_walk_that_is_played_five_times_too_slowly_is_found_by_its_strides(label):
    walk = plain_walk(duration_s=8.0, fps=120.0)
    finding = check_frame_rate(walk.with_fps(label))
    assert finding.suggested_fps == 120.0 and finding.flights == 0 and "strides" in finding.message
    assert check_frame_rate(walk) is None


def test_a_walk_that_nobody_could_keep_up_with_is_found_by_its_balance():
    walk = plain_walk(duration_s=8.0, fps=60.0)
    finding = check_frame_rate(walk.with_fps(240.0))
    assert finding.suggested_fps <= 120.0 and "balance" in finding.message
    assert check_frame_rate(walk) is None


def test_a_swing_on_a_rope_is_no_flight():
    clip = hopper(60.0, seconds=6.0)
    still = Clip(
        clip.skeleton,
        60.0,
        np.repeat(clip.local_pos[:1], 360, axis=0),
        np.repeat(clip.local_quat_wxyz[:1], 360, axis=0),
    )
    angle = 0.8 * np.sin(2.0 * np.pi * np.arange(360) / 60.0 / 2.8)
    swing = 2.0 * np.stack([np.sin(angle), np.zeros(360), 1.5 - np.cos(angle)], axis=-1)
    for fps in (12.0, 24.0, 60.0):
        assert check_frame_rate(with_hips_moved(still, swing).with_fps(fps)) is None
    # Four times as fast, it is pulled down by what can only hold: that is no motion of anybody.
    assert check_frame_rate(with_hips_moved(still, swing).with_fps(240.0)).suggested_fps < 240.0


def test_who_is_pulled_down_again_and_again_is_played_too_fast():
    bob = np.zeros((480, 3))
    bob[:, 2] = 0.05 * np.cos(2.0 * np.pi * 2.8 * np.arange(480) / 120.0)  # a run's bob, without a flight
    clip = hopper(120.0, seconds=4.0)
    still = Clip(
        clip.skeleton, 120.0, np.repeat(clip.local_pos[:1], 480, axis=0), clip.local_quat_wxyz[:1].repeat(480, 0)
    )
    runner = with_hips_moved(still, bob)
    assert check_frame_rate(runner) is None
    finding = check_frame_rate(runner.with_fps(240.0))
    assert finding.suggested_fps == 120.0 and "again and again" in finding.message and finding.factor == 0.5


def test_a_floor_that_drifts_does_not_hide_the_flights():
    clip = hopper(120.0)
    drift = np.zeros((len(clip), 3))
    drift[:, 2] = np.linspace(0.0, 0.15, len(clip))
    assert check_frame_rate(with_hips_moved(clip, drift).with_fps(240.0)).suggested_fps == 120.0


def test_one_frame_that_is_elsewhere_does_no_harm():
    clip = hopper(120.0)
    jump = np.zeros((len(clip), 3))
    jump[0] = (3.0, -2.0, 0.7)
    assert check_frame_rate(with_hips_moved(clip, jump)) is None
    assert check_frame_rate(with_hips_moved(clip, jump).with_fps(240.0)).suggested_fps == 120.0


def with_controls(clip: Clip) -> Clip:
    """The same clip under a root on the floor that follows it, with a static target and a prop thrown about."""
    skeleton, (pos, quat) = clip.skeleton, clip.world()
    names = ("root", *skeleton.names, "IK target", "prop")
    parents = np.array([-1, *(np.where(skeleton.parents < 0, 0, skeleton.parents + 1)), 0, -1])
    rest_pos, rest_quat = skeleton.rest_world()
    extra = np.zeros((len(clip), 1, 3))
    extra[:, 0, 1] = pos[:, 0, 1]
    still = np.full((len(clip), 1, 3), 0.3)
    thrown = np.random.default_rng(0).normal(size=(len(clip), 1, 3))
    upright = np.tile([1.0, 0.0, 0.0, 0.0], (len(clip), 1, 1))
    whole_pos = np.concatenate([extra, pos, still, thrown], axis=1)
    whole_quat = np.concatenate([upright, quat, upright, upright], axis=1)
    rest = np.concatenate([np.zeros((1, 3)), rest_pos, np.full((2, 3), 0.3)])
    rest_quat = np.concatenate([upright[0], rest_quat, upright[0], upright[0]])
    base = Clip.from_world(
        Skeleton(names, parents, rest, rest_quat, np.ones(len(names))), clip.fps, rest[None], rest_quat[None]
    )
    lengths = np.concatenate([[1.0], skeleton.lengths, [1.0, 1.0]])
    rigged = Skeleton(names, parents, base.local_pos[0], base.local_quat_wxyz[0], lengths)
    return Clip.from_world(rigged, clip.fps, whole_pos, whole_quat)


def test_controls_props_and_a_root_on_the_floor_are_no_part_of_the_body():
    clip = with_controls(hopper(60.0))
    assert estimate_body_points(clip).points.shape == estimate_body_points(hopper(60.0)).points.shape
    assert check_frame_rate(clip) is None
    assert check_frame_rate(clip.with_fps(120.0)).suggested_fps == 60.0


def test_flights_that_disagree_say_nothing():
    fast, slow = hopper(120.0, seconds=2.0), hopper(40.0, seconds=2.0)
    both = Clip(
        fast.skeleton,
        240.0,
        np.concatenate([fast.local_pos, slow.local_pos]),
        np.concatenate([fast.local_quat_wxyz, slow.local_quat_wxyz]),
    )
    assert len(find_flights(estimate_body_points(both))) >= 2
    assert check_frame_rate(both) is None


@pytest.mark.parametrize(
    ("scale", "suggested"),
    [
        (100.0, 0.01),
        (1000.0, 0.001),
        (1.0 / 0.0564444, 0.0564),
        (1.0 / 0.0254, 0.0254),
        (1.0 / 0.3048, 0.305),
        (0.01, 100.0),
        (5.0, 0.192),
        (0.05, 19.2),
    ],
)
def test_units_that_are_not_metres_are_found_and_the_rate_then_left_alone(scale, suggested):
    clip = hopper(60.0, scale=scale)
    finding = check_scale(clip)
    assert finding.suggested_scale == pytest.approx(suggested, rel=0.01)
    assert finding.height_m == pytest.approx(1.7 * scale, rel=0.02)
    assert f"--scale {finding.suggested_scale:g}" in finding.hint
    # In wrong units gravity is wrong too, so nothing can be said of the rate.
    assert check_frame_rate(clip) is None
    assert check_frame_rate(clip.with_fps(120.0)) is None


def test_the_height_is_said_in_a_readable_way():
    assert check_scale(hopper(30.0, scale=17.0)).message.startswith("The character is 28 m tall")
    assert check_scale(hopper(30.0, scale=2.0)).message.startswith("The character is 3.3 m tall")
    assert check_scale(hopper(30.0, scale=0.1)).message.startswith("The character is 0.17 m tall")
    assert check_scale(hopper(30.0, scale=0.001)).message.startswith("The character is 1.7 mm tall")


@given(st.floats(0.3, 1.7))
def test_children_and_giants_are_no_mistake_of_units(scale):
    assert check_scale(hopper(30.0, seconds=0.5, scale=scale)) is None


@given(st.floats(0.3, 1.7), st.sampled_from([30.0, 60.0, 120.0]))
def test_a_persons_motion_on_a_small_or_large_character_raises_no_alarm(scale, fps):
    assert check_frame_rate(hopper(fps, scale=scale)) is None


@pytest.mark.parametrize("frames", [1, 2, 3, 8])
def test_clips_of_a_few_frames_say_nothing(frames):
    assert check_frame_rate(hopper(60.0).frames(60, 60 + frames)) is None


def test_a_single_bone_and_bones_without_length_say_nothing():
    for bones in (1, 3):
        skeleton = Skeleton(
            tuple(f"b{i}" for i in range(bones)),
            np.arange(bones) - 1,
            np.zeros((bones, 3)),
            np.tile([1.0, 0.0, 0.0, 0.0], (bones, 1)),
            np.zeros(bones),
        )
        pos = np.zeros((60, bones, 3))
        pos[:, 0, 2] = hop_heights(np.arange(60) / 30.0, 2.4, 0.5)
        clip = Clip(skeleton, 30.0, pos, np.tile([1.0, 0.0, 0.0, 0.0], (60, bones, 1)))
        assert check_frame_rate(clip) is None
        assert check_scale(clip) is None
