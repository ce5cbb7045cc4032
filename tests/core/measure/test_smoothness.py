# SPDX-License-Identifier: GPL-3.0-or-later
"""Jerk of motions whose third derivative is known."""

import numpy as np
import pytest

from sinew.core.measure import measure_take, smoothness

from .figures_seen import clip_of, figure, standing


def test_the_jerk_of_a_cubic_is_exact_at_any_rate():
    for fps in (24.0, 60.0, 120.0):
        t = np.arange(30) / fps
        pos = np.zeros((30, 2, 3))
        pos[:, 0, 0], pos[:, 0, 1], pos[:, 1, 2] = 3.0 * t**3, 4.0 * t**3, t**2
        assert smoothness.jerk(pos, fps) == pytest.approx(0.5 * 6.0 * 5.0)


def test_the_jerk_of_a_swing():
    fps, size, turns = 200.0, 0.1, 2.0
    pos = np.zeros((1001, 1, 3))
    pos[:, 0, 0] = size * np.sin(2.0 * np.pi * turns * np.arange(1001) / fps)
    # |cos| is 2/pi on average.
    assert smoothness.jerk(pos, fps) == pytest.approx(size * (2.0 * np.pi * turns) ** 3 * 2.0 / np.pi, rel=0.01)


def test_standing_and_gliding_have_none():
    pos = np.tile(np.arange(10.0)[:, None, None], (1, 2, 3))
    assert smoothness.jerk(pos, 30.0) == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("frames", [1, 2, 3])
def test_too_few_frames_for_any(frames):
    assert smoothness.jerk(np.zeros((frames, 2, 3)), 30.0) is None
    assert smoothness.jerk_ratio(None, 3.0) is None and smoothness.jerk_ratio(3.0, None) is None


def test_against_a_source_that_stands_still_a_breath_is_no_catastrophe():
    assert smoothness.jerk_ratio(300.0, 200.0) == pytest.approx(1.5)
    assert smoothness.jerk_ratio(5.0, 1e-9) == pytest.approx(0.5)


@pytest.mark.parametrize("fps", [20.0, 50.0, 60.0, 125.0])
def test_places_at_another_rate_lie_on_the_curve(fps):
    body = figure("head")
    t = np.arange(51) / 50.0
    pos, _ = standing(body, 51)
    pos[:, 0, 0] += t**2
    clip = clip_of(body, pos)
    found = smoothness.bone_places(clip, [0], fps, np.inf)
    at = np.arange(len(found)) / fps
    assert at[-1] == pytest.approx(1.0, abs=1.0 / fps)
    inner = (at >= 0.02) & (at <= 0.98)
    assert found[inner, 0, 0] == pytest.approx(at[inner] ** 2, abs=1e-9)
    assert len(smoothness.bone_places(clip, [0], fps, 0.4)) == round(0.4 * fps) + 1


def test_long_clips_are_read_in_parts(monkeypatch):
    body = figure("head")
    pos = standing(body, 23)[0] + np.random.default_rng(0).normal(size=(23, 1, 3))
    clip = clip_of(body, pos)
    monkeypatch.setattr(smoothness, "_AT_ONCE", 5)
    assert smoothness.bone_places(clip, [1, 0], 50.0, np.inf) == pytest.approx(pos[:, ::-1])


def test_a_rate_between_frames_makes_no_jerk_of_its_own():
    """A take on a source of twice its rate is straight between its frames; nobody sees that."""
    body = figure("head")
    pos, _ = standing(body, 121)
    pos[:, :, 0] += 0.3 * np.sin(6.0 * np.arange(121) / 120.0)[:, None]
    source = clip_of(body, pos, 120.0)
    take = source.resample(60.0).resample(120.0)
    plain = measure_take(None, source, take).jerk_ratio
    assert plain > 3.0
    fps_of_physics = smoothness.jerk(smoothness.bone_places(take, [0, 1], 60.0, np.inf), 60.0)
    at_60 = smoothness.jerk(smoothness.bone_places(source, [0, 1], 60.0, np.inf), 60.0)
    assert fps_of_physics / at_60 == pytest.approx(1.0, abs=1e-6)
