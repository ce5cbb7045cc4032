# SPDX-License-Identifier: GPL-3.0-or-later
"""What is no motion is left out of a simulation: the rest is as if it had never been there, and at its moment."""

import numpy as np
import pytest

from sinew.core.body import Shape
from sinew.core.control.muscle import make_muscle_attachment
from sinew.core.control.sampling.method import SamplingMethod, SamplingSettings
from sinew.core.control.tracking.trimming import shift_stage
from sinew.core.motion.plain_walk import plain_walk
from sinew.core.sim.stage import Push, Stage
from sinew.core.sim.stage_parts import PropPart, PushPart, StageParts

from ...motion.odd_clips import teleported, with_pose
from .people import MemoryRun, simulated

POSED = 12  # frames of T-pose, half a second


def walk(frames=24):
    return plain_walk(fps=24.0).frames(0, frames)


def stage_at(later_s):
    """A push and a thrown ball at their moments, everything so much later."""
    push = PushPart("Push", "Hero", "chest", np.array([80.0, 0.0, 0.0]), 0.3 + later_s, 0.1)
    ball = PropPart(
        "Ball",
        0.3,
        np.array([1.0, 0.0, 1.0]),
        Shape("sphere", np.array([0.1, 0.0, 0.0]), np.zeros(3)),
        appears_s=0.25 + later_s,
    )
    return StageParts(("Hero",), pushes=(push,), props=(ball,))


def muscle_of(values):
    return make_muscle_attachment(np.asarray(values, dtype=float), 24.0)


def test_a_posed_beginning_changes_nothing_of_what_follows(monkeypatch):
    clip = walk()
    weak = np.linspace(1.0, 0.7, len(clip))
    plain, _ = simulated(monkeypatch, clip, parts=stage_at(0.0), **muscle_of(weak))
    posed = with_pose(clip, POSED)
    late = muscle_of(np.concatenate([np.full(POSED, 0.2), weak]))
    take, run = simulated(monkeypatch, posed, parts=stage_at(POSED / 24.0), **late)
    assert len(take.motion) == len(posed) and run.traces[0].begin_s == POSED / 24.0
    np.testing.assert_array_equal(take.motion.local_pos[POSED:], plain.motion.local_pos)
    np.testing.assert_array_equal(take.motion.local_quat_wxyz[POSED:], plain.motion.local_quat_wxyz)
    np.testing.assert_array_equal(take.motion.local_pos[:POSED], np.repeat(plain.motion.local_pos[:1], POSED, 0))
    np.testing.assert_array_equal(take.props[0].pos[POSED:], plain.props[0].pos)
    assert next(iter(run.findings))[0] == "calibration"


def test_everybody_begins_with_the_main_character(monkeypatch):
    clip = walk(18)
    aside = teleported(clip, 0, by=(2.0, 0.0, 0.0))
    parts = StageParts(("Hero", "Anna"))
    plain, _ = simulated(monkeypatch, clip, others=[("Anna", aside)], parts=parts)
    both = [with_pose(one, POSED) for one in (clip, aside)]
    take, run = simulated(monkeypatch, both[0], others=[("Anna", both[1])], parts=parts)
    np.testing.assert_array_equal(take.others[0].motion.local_pos[POSED:], plain.others[0].motion.local_pos)
    assert len(take.others[0].motion) == len(both[0])
    assert [message for _, message in run.findings if message.startswith("Anna: The first 12 frames are")]


def test_a_cut_is_bridged_and_said(monkeypatch):
    clip = teleported(walk(), 12)
    take, run = simulated(monkeypatch, clip)
    assert len(take.motion) == len(clip)
    steps = np.linalg.norm(np.diff(take.motion.local_pos[:, 0], axis=0), axis=-1)
    assert steps.max() < 0.1  # the source jumps by more than two metres
    assert "cut" in [kind for kind, _ in run.findings] and not take.fell


def test_off_leaves_every_frame_in():
    clip = with_pose(walk(8), 1)
    run = MemoryRun(0, {})
    SamplingMethod().run(clip, SamplingSettings(quality="draft", trim="off"), run)
    assert len(run.traces[0]) == 21 and "calibration" not in [kind for kind, _ in run.findings]


def test_pushes_are_cut_where_the_clip_begins():
    pushes = tuple(Push(0, "chest", np.ones(3), start, 0.5) for start in (0.0, 0.4, 2.0))
    shifted = shift_stage(Stage((), pushes=pushes), 0.6).pushes
    assert [(push.start_s, push.duration_s) for push in shifted] == [
        pytest.approx((0.0, 0.3)),
        pytest.approx((1.4, 0.5)),
    ]
