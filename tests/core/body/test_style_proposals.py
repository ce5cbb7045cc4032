# SPDX-License-Identifier: GPL-3.0-or-later
"""Foot contacts of a clip, and the styles that are proposed for it."""

from dataclasses import replace

import numpy as np
import pytest

from sinew.core.body import build_body
from sinew.core.body.foot_contacts import find_foot_contacts, name_feet
from sinew.core.body.style_proposals import measure_travel, propose_styles
from sinew.core.geometry.quaternions import from_rotation_vector, multiply, rotate
from sinew.core.motion.plain_walk import SPEED_M_S, STRIDE_S, plain_walk


@pytest.fixture(scope="module")
def walk():
    return plain_walk(fps=60.0)


@pytest.fixture(scope="module")
def body(walk):
    return build_body(walk.skeleton, clip=walk)[0]


def moved(clip, factor=1.0, turn_rad_s=0.0, face_rad=0.0):
    """The clip whose root goes ``factor`` times as far, turned against its way and more and more over time."""
    pos, quat = np.array(clip.local_pos), np.array(clip.local_quat_wxyz)
    angle = face_rad + turn_rad_s * np.arange(len(clip)) / clip.fps
    turn = from_rotation_vector(angle[:, None] * np.array([0.0, 0.0, 1.0]))
    pos[:, 0, :2] *= factor
    if turn_rad_s:
        steps = np.diff(pos[:, 0], axis=0, prepend=pos[:1, 0])
        pos[:, 0, :2] = np.cumsum(rotate(turn, steps), axis=0)[:, :2]
    quat[:, 0] = multiply(turn, quat[:, 0])
    return replace(clip, local_pos=pos, local_quat_wxyz=quat)


def share(body, clip, name):
    spans = [tag.stop - tag.start for tag in propose_styles(body, clip) if tag.name == name]
    return sum(spans) / len(clip)


def test_feet_stand_as_long_as_the_walk_lets_them(body, walk):
    assert name_feet(body) == ("foot.L", "foot.R")
    contacts = find_foot_contacts(body, walk)
    assert contacts.shape == (len(walk), 2)
    np.testing.assert_allclose(contacts.mean(axis=0), 0.62, atol=0.1)
    # Half a stride later it is the other foot's turn.
    late = round(0.5 * STRIDE_S * walk.fps)
    assert (contacts[:-late, 0] == contacts[late:, 1]).mean() > 0.9


def test_travel_is_measured_against_where_the_body_faces(body, walk):
    one = measure_travel(body, walk)
    middle = slice(30, -30)
    np.testing.assert_allclose(one.forward_m_s[middle], SPEED_M_S, atol=0.05)
    np.testing.assert_allclose(one.left_m_s[middle], 0.0, atol=0.12)
    left = measure_travel(body, moved(walk, face_rad=-0.5 * np.pi))  # faces right of its way, so goes to its left
    np.testing.assert_allclose(left.left_m_s[middle], SPEED_M_S, atol=0.1)
    assert 0.9 < one.height[middle].mean() < 1.02


@pytest.mark.parametrize(
    ("style", "change"),
    [
        ("walk", {}),
        ("run", {"factor": 3.0}),
        ("idle", {"factor": 0.02}),
        ("back", {"face_rad": np.pi}),
        ("side", {"face_rad": 0.5 * np.pi}),
        ("turn", {"turn_rad_s": 1.5}),
    ],
)
def test_what_a_clip_does_is_proposed(body, walk, style, change):
    clip = moved(walk, **change)
    assert share(body, clip, style) > 0.9
    others = {"walk", "run", "idle", "back", "side"} - {style, "walk" if style == "turn" else ""}
    assert max(share(body, clip, other) for other in others) < 0.1


def test_who_is_low_crouches_and_does_not_walk(body, walk):
    pos = np.array(walk.local_pos)
    pos[:, 0, 2] -= 0.15
    low = replace(walk, local_pos=pos)
    assert share(body, low, "crouch") > 0.9
    assert share(body, low, "walk") == 0.0
    assert all(tag.is_proposal for tag in propose_styles(body, low))
