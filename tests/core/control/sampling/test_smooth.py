# SPDX-License-Identifier: GPL-3.0-or-later
"""A smoothed take is calmer than the take itself, and its feet stand as they did."""

import numpy as np

from sinew.core.control.sampling import method as method_module
from sinew.core.control.sampling.method import SamplingMethod, SamplingSettings
from sinew.core.control.sampling.plan import SearchEffort
from sinew.core.measure import measure_take
from sinew.core.measure.smoothness import jerk

from ....stock_clips import stock_clip
from .people import MemoryRun


def test_a_smooth_take_is_calm_and_stands(monkeypatch):
    monkeypatch.setitem(method_module.EFFORTS, "draft", SearchEffort(24, (0.1,)))
    clip = stock_clip("walk", 0, 30)
    bones = [clip.skeleton.index(name) for name in ("pelvis", "head", "forearm.L")]
    calm, skate = [], []
    for smooth in (0.0, 0.5):
        run = MemoryRun(0, {})
        take = SamplingMethod().run(clip, SamplingSettings(quality="draft", smooth=smooth), run)
        calm.append(jerk(take.motion.world()[0][:, bones], clip.fps))
        skate.append(measure_take(run.traces[0], clip, take.motion).skate_m_s)
    assert calm[1] < 0.6 * calm[0]
    assert skate[1] < 0.02 and np.isfinite(skate).all()
