# SPDX-License-Identifier: GPL-3.0-or-later
"""A take has as many frames as its source, whatever its rate."""

import numpy as np
import pytest

from sinew.core.motion.loops import is_cyclic
from sinew.core.motion.plain_walk import STRIDE_S, plain_walk

from .people import simulated


@pytest.mark.parametrize("fps", [24.0, 25.0, 30000 / 1001, 30.0, 60.0, 120.0])
@pytest.mark.parametrize("frames", [25, 26])
def test_no_frame_is_lost(monkeypatch, fps, frames):
    clip = plain_walk(fps=fps).frames(0, frames)
    take, _ = simulated(monkeypatch, clip)
    assert len(take.motion) == frames and take.motion.fps == fps
    last = np.linalg.norm(take.motion.world()[0][-1] - clip.world()[0][-1], axis=-1)
    before = np.linalg.norm(take.motion.world()[0][-2] - clip.world()[0][-1], axis=-1)
    assert last.mean() < 0.08 and last.mean() < before.mean() + 0.01  # it is the last pose, not the one before


def test_a_loop_stays_one(monkeypatch):
    clip = plain_walk(duration_s=STRIDE_S, fps=25.0)
    take, _ = simulated(monkeypatch, clip)
    assert len(take.motion) == len(clip) and is_cyclic(take.motion)
