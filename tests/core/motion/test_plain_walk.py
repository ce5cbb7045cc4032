# SPDX-License-Identifier: GPL-3.0-or-later
"""The walk that ships with Sinew: feet that stand still, on the ground, and legs that reach it."""

import numpy as np
import pytest

from sinew.core.geometry.quaternions import rotate
from sinew.core.motion.plain_walk import SPEED_M_S, STRIDE_S, plain_walk

FPS = 120.0
HEEL, BALL = np.array([0.0, 0.05, -0.05]), np.array([0.0, -0.10, -0.05])  # from the ankle, of a foot that points to -Y


@pytest.fixture(scope="module")
def walk():
    return plain_walk(fps=FPS)


def soles(clip, side):
    """Heels and balls (T, 2, 3) of one foot in the world."""
    pos, quat = clip.world()
    bone = clip.skeleton.index(f"foot.{side}")
    _, rest = clip.skeleton.rest_world()
    still = np.array([1.0, -1.0, -1.0, -1.0]) * rest[bone]
    points = [pos[:, bone] + rotate(quat[:, bone], rotate(still, point)) for point in (HEEL, BALL)]
    return np.stack(points, axis=1)


@pytest.mark.parametrize("side", ["L", "R"])
def test_feet_stay_above_the_ground_and_stand_still_on_it(walk, side):
    points = soles(walk, side)
    assert points[..., 2].min() > -1e-3
    standing = (points[:-1, :, 2] < 1e-4) & (points[1:, :, 2] < 1e-4)
    assert 0.3 < standing.any(axis=1).mean() < 0.75
    speed = np.linalg.norm(np.diff(points, axis=0)[..., :2], axis=-1) * FPS
    assert speed[standing].max() < 0.05


def test_someone_always_stands(walk):
    lowest = np.stack([soles(walk, side)[..., 2].min(axis=1) for side in "LR"])
    assert lowest.min(axis=0).max() < 2e-3


def test_the_legs_reach_the_ground_without_being_stretched(walk):
    pos, _ = walk.world()
    index = walk.skeleton.index
    for side in "LR":
        leg = np.linalg.norm(pos[:, index(f"foot.{side}")] - pos[:, index(f"thigh.{side}")], axis=-1)
        whole = walk.skeleton.lengths[[index(f"thigh.{side}"), index(f"shin.{side}")]].sum()
        assert leg.max() < 0.999 * whole
        # What the ankle is placed at and what the bones lead to are the same.
        assert np.ptp(np.linalg.norm(walk.local_pos[:, index(f"foot.{side}")], axis=-1)) < 1e-9


def test_knees_bend_backwards(walk):
    pos, _ = walk.world()
    index = walk.skeleton.index
    for side in "LR":
        hip, knee, ankle = (pos[:, index(f"{bone}.{side}")] for bone in ("thigh", "shin", "foot"))
        between = hip + (ankle - hip) * 0.5
        assert (knee[:, 1] < between[:, 1]).all()  # to the front, which is -Y


def test_it_goes_forward_and_repeats_itself_stride_by_stride(walk):
    pos, _ = walk.world()
    frames = round(STRIDE_S * FPS)
    moved = pos[frames:] - pos[:-frames]
    assert np.abs(moved - [0.0, -SPEED_M_S * STRIDE_S, 0.0]).max() < 1e-6
    assert abs(pos[:, 0, 1].max() + pos[:, 0, 1].min()) < 1e-6


def test_nothing_jerks(walk):
    pos, _ = walk.world()
    acceleration = np.diff(pos, n=2, axis=0) * FPS**2
    assert np.linalg.norm(acceleration, axis=-1).max() < 60.0


def test_any_frame_rate_gives_the_same_walk(walk):
    coarse = plain_walk(fps=FPS / 5)
    same = walk.world()[0][::5]
    assert np.abs(coarse.world()[0][: len(same)] - same[: len(coarse.local_pos)]).max() < 1e-9
