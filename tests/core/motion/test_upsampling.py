# SPDX-License-Identifier: GPL-3.0-or-later
"""More frames a second: the frames that were there stay, and nothing jerks between them."""

import numpy as np

from sinew.core.geometry.differences import velocity
from sinew.core.motion.plain_walk import plain_walk
from sinew.core.motion.upsampling import resample_smoothly


def jerk(clip):
    pos = clip.world()[0]
    return np.abs(velocity(velocity(velocity(pos, clip.dt_s), clip.dt_s), clip.dt_s)[6:-6]).mean()


def test_frames_that_both_rates_have_keep_their_values():
    clip = plain_walk(fps=30.0)
    smooth = resample_smoothly(clip, 60.0)
    assert len(smooth) == len(clip.resample(60.0))
    np.testing.assert_allclose(smooth.local_pos[::2], clip.local_pos, atol=1e-12)
    np.testing.assert_allclose(smooth.world()[0][::2], clip.world()[0], atol=1e-9)


def test_it_is_nearer_to_the_motion_than_straight_lines_are_and_jerks_less():
    clip, fine = plain_walk(fps=15.0), plain_walk(fps=60.0)
    smooth, plain = resample_smoothly(clip, 60.0), clip.resample(60.0)
    off = [np.abs(one.world()[0] - fine.world()[0][: len(one)]).mean() for one in (smooth, plain)]
    assert off[0] < 0.6 * off[1]
    assert jerk(smooth) < 0.5 * jerk(plain)


def test_fewer_frames_are_left_out():
    clip = plain_walk(fps=60.0)
    np.testing.assert_allclose(resample_smoothly(clip, 30.0).local_pos, clip.local_pos[::2], atol=1e-12)
