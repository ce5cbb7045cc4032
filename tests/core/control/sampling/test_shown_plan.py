# SPDX-License-Identifier: GPL-3.0-or-later
"""What a simulation shows while it works: where it begins, then ever more; and no bit of the take changes by that."""

import numpy as np

from sinew.core.control.sampling import shown_plan

from ....stock_clips import stock_clip
from .people import simulated


def test_it_shows_the_beginning_at_once_and_then_more_and_more(monkeypatch):
    monkeypatch.setattr(shown_plan, "_EVERY_S", 0.0)
    monkeypatch.setattr(shown_plan, "_SHARE", 1e9)
    clip = stock_clip("kick", 0, 30)
    take, run = simulated(monkeypatch, clip)
    lengths = [len(arrays["link_pos"]) for arrays, _ in run.shown]
    assert lengths[0] == 1 and run.steps[0] == 0
    assert np.all(np.diff(lengths) >= 0) and lengths[-1] > 10
    arrays, about = run.shown[-1]
    # It is what the take is made of: its bones' places, before feet are locked.
    times_s = np.arange(lengths[-1]) / about["fps"]
    links = [take.motion.skeleton.index(name) for name in about["bones"]]
    seen = take.motion.resample(about["fps"], end="hold").world()[0][: len(times_s), links]
    apart = np.linalg.norm(arrays["link_pos"][: len(seen)] - seen, axis=-1)
    assert apart.mean() < 0.03
    np.testing.assert_allclose(np.linalg.norm(arrays["link_quat_wxyz"], axis=-1), 1.0, atol=1e-5)


def test_who_watches_changes_nothing(monkeypatch):
    clip, takes = stock_clip("kick", 0, 12), []
    for every_s in (0.0, 1e9):
        monkeypatch.setattr(shown_plan, "_EVERY_S", every_s)
        takes.append(simulated(monkeypatch, clip)[0])
    one, other = (take.motion.local_quat_wxyz for take in takes)
    assert np.array_equal(one, other)


def test_everybody_is_shown(monkeypatch):
    clip = stock_clip("kick", 0, 12)
    pos = np.array(clip.local_pos)
    pos[:, 0, 0] += 3.0
    other = type(clip)(clip.skeleton, clip.fps, pos, clip.local_quat_wxyz, clip.name)
    _, run = simulated(monkeypatch, clip, others=[("Other", other)])
    arrays, about = run.shown[0]
    assert about["cast1_bones"] == about["bones"]
    apart = arrays["cast1_link_pos"] - arrays["link_pos"]
    np.testing.assert_allclose(apart, np.broadcast_to([3.0, 0.0, 0.0], apart.shape), atol=0.05)
