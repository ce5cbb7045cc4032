# SPDX-License-Identifier: GPL-3.0-or-later
"""How high parts are above the ground, and clips put on it."""

from dataclasses import replace

import numpy as np
import pytest

from sinew.core.body import build_body, clearance
from sinew.core.body.clearance import link_clearances, put_on_floor
from sinew.core.body.model import BodyModel, Joint, Link, Shape
from sinew.core.geometry.quaternions import from_rotation_vector, rotate
from sinew.core.motion import Clip, Skeleton
from sinew.core.motion.io import stock

from ...stock_clips import NAMES, needs_stock
from .one_bone_bodies import FPS, SHAPES, clip_of, lowest_of, one_bone


@pytest.mark.parametrize("kind", SHAPES)
def test_the_lowest_point_is_that_of_the_surface(kind):
    """Against the lowest of many points on the shape, in poses all around."""
    rng = np.random.default_rng(0)
    shape = replace(SHAPES[kind], quat_wxyz=from_rotation_vector(np.array([0.3, -0.8, 0.5])))
    body = one_bone(shape)
    turns, heights = rng.normal(scale=1.5, size=(20, 3)), rng.uniform(-1.0, 2.0, 20)
    ways = rng.normal(size=(4000, 3))
    ways /= np.linalg.norm(ways, axis=-1, keepdims=True)
    if kind == "box":
        points = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * shape.size
    else:
        points = shape.size[0] * ways + np.sign(ways[:, 2:]) * np.array([0.0, 0.0, shape.size[1]])
    own = rotate(shape.quat_wxyz, points) + shape.pos
    seen = [rotate(from_rotation_vector(turn), own)[:, 2].min() + z for turn, z in zip(turns, heights, strict=True)]
    assert lowest_of(body, clip_of(body, heights, turns)) == pytest.approx(seen, abs=0.002)


def test_known_heights():
    quarter = np.array([[np.pi / 2, 0.0, 0.0]])
    for kind, upright, lying in (("sphere", 0.9, 0.9), ("capsule", 0.65, 1.05), ("box", 0.6, 0.8)):
        body = one_bone(SHAPES[kind])
        assert lowest_of(body, clip_of(body, [1.0]))[0] == pytest.approx(upright), kind
        assert lowest_of(body, clip_of(body, [1.0], quarter))[0] == pytest.approx(lying), kind


def test_a_link_is_as_low_as_its_lowest_shape():
    body = one_bone(SHAPES["sphere"], SHAPES["box"])
    assert lowest_of(body, clip_of(body, [1.0]))[0] == pytest.approx(0.6)


@pytest.mark.parametrize("floor", [0.4, -0.3, 0.0])
def test_a_clip_captured_on_a_floor_elsewhere_stands_on_zero(floor):
    """It stands for half a second, jumps, and stands again."""
    body = one_bone(SHAPES["sphere"], role="foot")
    time = np.arange(90) / FPS
    jump = np.where((time > 0.5) & (time < 1.0), 4.0 * (time - 0.5) * (1.0 - time), 0.0)
    clip, report = put_on_floor(body, clip_of(body, floor + 0.1 + jump))
    assert report.shift == pytest.approx(-floor, abs=1e-6)
    assert report.lifted_frames == 0
    assert lowest_of(body, clip) == pytest.approx(jump, abs=1e-6)
    assert f"{100 * floor:.1f} cm" in report.message.replace("-0.0", "0.0")


def test_a_clip_that_never_touches_the_ground_is_left_in_the_air_but_for_its_lowest():
    body = one_bone(SHAPES["sphere"])
    time = np.arange(60) / FPS
    clip, _ = put_on_floor(body, clip_of(body, 3.0 + 5.0 * time - 4.905 * time**2))
    lowest = lowest_of(body, clip)
    assert lowest.min() > -0.01
    assert lowest.max() > 1.0


def test_frames_that_cut_into_the_floor_are_lifted_out_smoothly():
    body = one_bone(SHAPES["sphere"], role="foot")
    heights = np.full(120, 0.1)
    heights[50:60] -= 0.08  # a foot that was captured 8 cm in the ground, from one frame to the next
    clip, report = put_on_floor(body, clip_of(body, heights))
    lowest = lowest_of(body, clip)
    assert lowest.min() > -0.006
    assert report.lift == pytest.approx(0.075, abs=0.002)
    assert report.lifted_frames >= 10
    assert "8.0 cm" in report.message or "7.5 cm" in report.message
    lift = clip.local_pos[:, 0, 2] - heights
    assert np.abs(np.diff(lift)).max() < 0.3 * 0.075  # no jump in the lift: it fades in and out
    assert lift[0] == pytest.approx(0.0, abs=1e-9) and lift[-1] == pytest.approx(0.0, abs=1e-9)


def test_feet_tell_the_floor_though_the_body_lies_deeper():
    """A get-up: first it lies, its trunk cut into the floor as captures have it, then it stands on its foot."""
    bones = Skeleton(
        ("trunk", "foot"), np.array([-1, -1]), np.zeros((2, 3)), np.tile([1.0, 0.0, 0.0, 0.0], (2, 1)), np.full(2, 0.2)
    )
    ball = (Shape("sphere", np.array([0.1, 0.0, 0.0]), np.zeros(3)),)
    trunk = Link("trunk", "pelvis", "", -1, Joint("free", np.zeros(3)), ball, 1.0, np.zeros(3), np.eye(3))
    foot = Link("foot", "foot", "L", 0, Joint("ball", np.zeros(3)), ball, 1.0, np.zeros(3), np.eye(3))
    body = BodyModel(bones, (trunk, foot))
    pos = np.zeros((120, 2, 3))
    pos[:, 0, 2] = np.concatenate([np.full(80, 0.03), np.linspace(0.03, 0.9, 20), np.full(20, 0.9)])  # 7 cm too low
    pos[:, 1, 2] = 0.1
    clip, report = put_on_floor(body, Clip(bones, FPS, pos, np.tile([1.0, 0.0, 0.0, 0.0], (120, 2, 1)), "getup"))
    assert report.shift == pytest.approx(0.0, abs=0.001)
    assert link_clearances(body, clip)[-1, 1] == pytest.approx(0.0, abs=0.001)
    assert link_clearances(body, clip).min() > -0.006


@needs_stock
def test_grounding_moves_the_whole_body_and_nothing_else():
    clip = stock.load_stock("walk")
    body, _ = build_body(clip.skeleton, clip=clip)
    raised = replace(clip, local_pos=clip.local_pos + np.where(np.arange(len(clip.skeleton)) == 0, 1.0, 0.0)[:, None])
    made, _ = put_on_floor(body, raised)
    np.testing.assert_array_equal(made.local_quat_wxyz, clip.local_quat_wxyz)
    np.testing.assert_array_equal(made.local_pos[:, 1:], raised.local_pos[:, 1:])
    np.testing.assert_array_equal(made.local_pos[:, 0, :2], raised.local_pos[:, 0, :2])


@needs_stock
@pytest.mark.parametrize("name", NAMES)
def test_after_grounding_no_part_of_a_stock_clip_is_deep_in_the_floor(name):
    clip = stock.load_stock(name)
    body, _ = build_body(clip.skeleton, clip=clip)
    made, report = put_on_floor(body, clip)
    lowest = lowest_of(body, made)
    assert lowest.min() > -0.01
    # And it is on the floor, not above it: at some time at least, and for most of a clip that does not fly.
    assert np.percentile(lowest, 20) < 0.02
    assert abs(report.shift) < 0.04  # these were all captured on a floor at zero, with the feet a little off
    # A lift is no kick: from frame to frame it changes by less than the body falls in a tenth of a second.
    lift = made.local_pos[:, 0, 2] - clip.local_pos[:, 0, 2]
    assert np.abs(np.diff(lift)).max() * clip.fps < 1.0


@needs_stock
@pytest.mark.parametrize("falls", [False, True])
def test_who_stands_on_both_feet_before_a_fall_tells_where_the_floor_is(monkeypatch, falls):
    """Now the one sole is lower by a hair and now the other; a large head that lies there later is deeper."""
    clip = stock.load_stock("walk").frames(0, 24)
    clip = replace(clip, fps=24.0)
    body = build_body(clip.skeleton, clip=clip)[0]
    roles = [link.role for link in body.links]
    bottom = np.ones((24, len(roles)))
    feet = [index for index, role in enumerate(roles) if role == "foot"]
    for frame in range(24):
        bottom[frame, feet] = [1e-6 * (frame % 2), 1e-6 * (1 - frame % 2)]
    if falls:
        bottom[6:, feet] = 0.3
        bottom[6:, roles.index("head")] = -0.24
    monkeypatch.setattr(clearance, "link_clearances", lambda *_: bottom)
    assert abs(clearance.floor_height(body, clip)) < 1e-5
