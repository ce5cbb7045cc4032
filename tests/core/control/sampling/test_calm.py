# SPDX-License-Identifier: GPL-3.0-or-later
"""Who stands still does not tremble: noise goes where the motion is, and all of it where the body was lost."""

import numpy as np
import pytest

from sinew.core.control.sampling import search
from sinew.core.control.sampling.search import compute_activity
from sinew.core.geometry.quaternions import from_rotation_vector, multiply
from sinew.core.measure import measure_take
from sinew.core.motion import Clip

from ....stock_clips import stock_clip
from .people import simulated
from .toys import tracking_error_of, waving, world_of


def standing(seconds: float = 1.5) -> Clip:
    """Somebody who stands and sways a little, three degrees in three seconds."""
    last = stock_clip("getup_faceup")
    count = round(seconds * 30) + 1
    pos, quat = (np.repeat(part[-1:], count, axis=0) for part in (last.local_pos, last.local_quat_wxyz))
    sway = np.zeros((count, 3))
    sway[:, 0] = 0.05 * np.sin(2.0 * np.pi * np.arange(count) / 90.0)
    chest = last.skeleton.index("chest")
    quat[:, chest] = multiply(quat[:, chest], from_rotation_vector(sway))
    return Clip(last.skeleton, 30.0, pos, quat, "standing")


def jerk_of(monkeypatch, clip):
    take, run = simulated(monkeypatch, clip)
    assert not take.fell
    return measure_take(run.traces[0], clip, take.motion).jerk_m_s3


def test_who_stands_does_not_tremble(monkeypatch):
    clip = standing()
    calm = jerk_of(monkeypatch, clip)
    monkeypatch.setattr(search, "_STILL", 1.0)  # all of the noise, as if somebody ran
    assert calm < 60.0 and calm < 0.6 * jerk_of(monkeypatch, clip)


@pytest.mark.parametrize(("slower", "share"), [(1.0, 1.0), (4.0, 0.4), (1000.0, search._STILL)])
def test_noise_goes_by_how_fast_joints_move(slower, share):
    world = world_of(4)
    try:
        clip = waving(1.0)
        reference = tracking_error_of(
            world, Clip(clip.skeleton, clip.fps, clip.local_pos, clip.local_quat_wxyz)
        ).reference
        reference.rates[:] = 0.0
        reference.rates[:, 6:] = 0.96 / slower
        np.testing.assert_allclose(compute_activity(reference, np.arange(reference.fragments)), share, atol=1e-9)
    finally:
        world.close()


def test_a_fast_moment_has_all_of_it_and_the_rest_does_not():
    world = world_of(4)
    try:
        reference = tracking_error_of(world, waving(3.0)).reference
        reference.rates[:] = 0.0
        reference.rates[90:96, 6:] = 20.0
        found = compute_activity(reference, np.arange(reference.fragments))
        assert found[15] == 1.0 and found[0] == found[-1] == search._STILL
    finally:
        world.close()
