# SPDX-License-Identifier: GPL-3.0-or-later
"""When a body was where its source never is, on motions whose answer is known."""

import numpy as np
import pytest

from sinew.core.geometry.quaternions import from_rotation_vector, multiply, rotate
from sinew.core.motion.falling import find_fall_time
from sinew.core.motion.losing import LostMotionDetector

FPS, FRAMES = 60.0, 240
# A person of 1.7 m, root first: pelvis, chest, head, hands and feet, seen from the pelvis.
LINKS = np.array(
    [[0, 0, 0], [0, 0, 0.4], [0, 0, 0.75], [0.4, 0, 0.3], [-0.4, 0, 0.3], [0.1, 0, -0.9], [-0.1, 0, -0.9]], dtype=float
)
ALONG_M_S = 1.2


def moving(turn_rad=0.0, root_z=0.95, late_s=0.0):
    """Links' places and turns of who moves along Y; turn_rad: (T,) or one angle about X, forward."""
    time_s = np.arange(FRAMES) / FPS - late_s
    turn = np.broadcast_to(turn_rad, FRAMES)
    quat = from_rotation_vector(np.stack([turn, 0.0 * turn, 0.0 * turn], axis=-1))
    root = np.stack([0.0 * time_s, ALONG_M_S * time_s, np.broadcast_to(root_z, FRAMES)], axis=-1)
    quats = np.broadcast_to(quat[:, None], (FRAMES, len(LINKS), 4)).copy()
    return root[:, None] + rotate(quats, np.broadcast_to(LINKS, (FRAMES, *LINKS.shape))), quats


def detector(wanted):
    return LostMotionDetector(*wanted, trunk=(0, 1), fps=FPS)


def between(first, last, inside, outside=0.0):
    """(T,) one value from one second to another, and another elsewhere."""
    time_s = np.arange(FRAMES) / FPS
    return np.where((time_s >= first) & (time_s < last), inside, outside)


def test_who_keeps_up_is_not_lost():
    assert detector(moving()).lost_spans(*moving(), place_counts=True) == []


def test_upside_down_at_the_same_heights_is_lost_though_nobody_fell():
    # Curled up, head and feet are about as far from the pelvis, so that heights do not tell.
    wanted, seen = moving(root_z=0.5), moving(between(1.0, 9.0, np.pi), root_z=0.5)
    for pos, _ in (wanted, seen):
        pos[..., 2] = 0.5
    assert find_fall_time(wanted[0], seen[0], 1.0 / FPS) is None
    assert detector(wanted).lost_spans(*seen) == [(60, FRAMES)]


def test_a_fall_that_is_recovered_from_was_lost_for_that_long():
    down = between(1.0, 2.5, np.pi / 2)
    seen = moving(down, root_z=np.where(down > 0.0, 0.1, 0.95))
    assert find_fall_time(moving()[0], seen[0], 1.0 / FPS) is None
    assert detector(moving()).lost_spans(*seen) == [(60, 150)]


@pytest.mark.parametrize("seen", [moving(0.8), moving(late_s=0.2), moving(between(1.0, 1.15, np.pi))])
def test_who_leans_is_late_or_stumbles_for_a_moment_is_not(seen):
    assert detector(moving()).lost_spans(*seen, place_counts=True) == []


def test_who_tips_over_as_the_clip_ends_is_lost_though_not_down_yet():
    time_s = np.arange(FRAMES) / FPS
    falling = np.clip((time_s - 3.0) ** 2, 0.0, 1.0) * (time_s > 3.0)  # 57 degrees by the end, 37 a fifth before
    spans = detector(moving()).lost_spans(*moving(falling))
    assert spans == [(round(FPS * (3.0 + np.sqrt(np.radians(40.0)))) + 1, FRAMES)]
    assert detector(moving(falling)).lost_spans(*moving(falling)) == []  # as the source does
    bows = 0.75 * np.sin(np.clip(time_s - 2.5, 0.0, np.pi / 2))
    assert detector(moving()).lost_spans(*moving(bows)) == []  # it has come to rest


def test_somewhere_else_is_lost_only_where_nothing_pushed():
    pos, quat = moving()
    aside = pos + np.array([1.5, 0.0, 0.0])
    assert detector(moving()).lost_spans(aside, quat) == []
    assert detector(moving()).lost_spans(aside, quat, place_counts=True) == [(0, FRAMES)]
    assert detector(moving()).lost_spans(pos + np.array([0.4, 0.0, 0.0]), quat, place_counts=True) == []


def test_who_rolls_may_be_upside_down_a_little_later_than_the_source():
    spin = 2.0 * np.pi * np.arange(FRAMES) / FPS
    assert detector(moving(spin)).lost_spans(*moving(spin - 1.0)) == []
    assert detector(moving(spin)).lost_spans(*moving())[0][0] < FPS  # who walks on upright does not roll


def test_facing_backwards_is_lost():
    pos, quat = moving()
    half = np.broadcast_to(from_rotation_vector(np.array([0.0, 0.0, np.pi])), quat.shape)
    pos[:, 3:5, 1] += 0.6  # arms forward
    pos[:, 5:, 1] += 0.5
    turned = pos[:, :1] + rotate(half, pos - pos[:, :1])
    follows = detector((pos, quat))
    assert follows.lost_spans(turned, multiply(half, quat)) == [(0, FRAMES)]
    assert not follows.detect_toppled(np.arange(FRAMES), turned, multiply(half, quat)).any()  # and yet it stands


def test_what_is_no_number_is_lost():
    pos, quat = moving()
    pos[90:], quat[90:] = np.nan, np.nan
    assert detector(moving()).lost_spans(pos, quat) == [(90, FRAMES)]


def test_down_at_the_very_end_counts_however_short():
    down = between(3.95, 9.0, np.pi / 2)
    seen = moving(down, root_z=np.where(down > 0.0, 0.05, 0.95))
    assert detector(moving()).lost_spans(*seen) == [(237, FRAMES)]
