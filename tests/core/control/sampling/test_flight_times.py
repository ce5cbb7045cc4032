# SPDX-License-Identifier: GPL-3.0-or-later
"""Jumps that are played too fast are simulated at a speed that gravity allows, unless something must stay in step."""

import numpy as np
import pytest

from sinew.core.control import muscle
from sinew.core.control.sampling import method as method_module
from sinew.core.control.sampling.method import SamplingMethod, SamplingSettings
from sinew.core.control.sampling.plan import SearchEffort
from sinew.core.motion import Clip
from sinew.core.sim.stage_io import stage_to_arrays
from sinew.core.sim.stage_parts import PushPart, StageParts

from ....stock_clips import stock_clip
from .people import MemoryRun, simulated


def fast_jump() -> Clip:
    """A jump that is played 1.25 times too fast, from the crouch before it to the one after."""
    return stock_clip("jump", 36, 92).with_fps(75.0)


def flights(run) -> list[str]:
    return [message for kind, message in run.findings if kind == "flight"]


def test_a_jump_that_is_too_fast_takes_its_time(monkeypatch):
    clip = fast_jump()
    take, run = simulated(monkeypatch, clip)
    (told,) = flights(run)
    assert "falls at 15 m/s²" in told and "times as slowly" in told
    assert len(take.motion) > len(clip) and take.motion.fps == clip.fps
    assert take.contacts.shape[0] == len(take.motion)
    # Every frame knows where it is in the source, and the last one is the last of it.
    assert len(take.source_times_s) == len(take.motion)
    assert take.source_times_s[-1] == pytest.approx(clip.duration_s, abs=2.0 / 60.0)
    # What was wanted of physics is the source in the take's own time, and falls as things fall.
    (trace,) = run.traces
    asked = take.in_take_time(clip)
    root = clip.skeleton.index(trace.body.links[0].bone)
    shown = asked.resample(60.0).world()[0][:, root]
    count = min(len(shown), len(trace))
    apart = trace.wanted_pos[:count, 0] - shown[:count]
    assert np.abs(apart - np.median(apart, axis=0)).max() < 0.05
    height = trace.wanted_com[:, 2]
    high = np.flatnonzero(height > height.max() - 0.12)
    assert -2.0 * np.polyfit(high / trace.fps, height[high], 2)[0] == pytest.approx(9.81, rel=0.06)


def test_what_has_a_time_of_its_own_keeps_the_source_s(monkeypatch):
    clip = fast_jump()
    push = PushPart("Push", "Hero", "chest", np.array([20.0, 0.0, 0.0]), 0.1, 0.05)
    limp = muscle.make_muscle_attachment(np.linspace(1.0, 0.9, len(clip)), clip.fps)
    for word, options in (("pushes", {"parts": StageParts(("Hero",), pushes=(push,))}), ("keyed muscle", limp)):
        take, run = simulated(monkeypatch, clip, **options)
        assert len(take.motion) == len(clip) and take.source_times_s is None
        (told,) = flights(run)
        assert f"its time was left because of the {word}" in told and "falls at 15 m/s²" in told


def test_it_can_be_switched_off_and_jumps_that_are_right_are_let_be(monkeypatch):
    monkeypatch.setitem(method_module.EFFORTS, "draft", SearchEffort(24, (0.1,)))
    for clip, retime in ((fast_jump(), False), (stock_clip("jump", 36, 92), True)):
        run = MemoryRun(0, {})
        take = SamplingMethod().run(clip, SamplingSettings(quality="draft", retime=retime), run)
        assert take.source_times_s is None and not flights(run)
        assert len(take.motion) == pytest.approx(len(clip), abs=1)


def test_on_the_moon_a_jump_lasts_longer(monkeypatch):
    monkeypatch.setitem(method_module.EFFORTS, "draft", SearchEffort(24, (0.1,)))
    clip = stock_clip("jump", 36, 92)
    run = MemoryRun(0, {"stage": stage_to_arrays(StageParts(("Hero",), gravity=np.array([0.0, 0.0, -1.62])))})
    take = SamplingMethod().run(clip, SamplingSettings(quality="draft"), run)
    assert take.motion.duration_s > clip.duration_s + 0.5
    assert "2.4" in flights(run)[0] and "times as slowly" in flights(run)[0]
