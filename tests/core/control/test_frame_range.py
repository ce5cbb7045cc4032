# SPDX-License-Identifier: GPL-3.0-or-later
"""Some frames of a clip are simulated, and the take has all of it: the source to the bit outside of them."""

from dataclasses import replace

import numpy as np
import pytest

from sinew.core.control import muscle
from sinew.core.control.frame_range import make_range_attachment, run_in_range
from sinew.core.control.muscle import load_muscle
from sinew.core.control.sampling.method import SamplingMethod, SamplingSettings
from sinew.core.control.staging import build_job_stage
from sinew.core.errors import BadSettings
from sinew.core.motion import Take
from sinew.core.sim.stage_io import stage_to_arrays
from sinew.core.sim.stage_parts import PushPart, StageParts

from ...stock_clips import stock_clip
from ..sim import bodies
from .sampling.people import MemoryRun


class Shifted:
    """A method that moves its clip aside by half a metre, and remembers what it was given."""

    def run(self, clip, settings, run):
        self.clip, self.run_seen = clip, run
        pos = np.array(clip.local_pos)
        pos[:, 0, 1] += 0.5
        return Take(replace(clip, local_pos=pos), fell_at_s=0.3)


def faded(clip, first_s, last_s, fade_s=0.2, **attachments):
    method = Shifted()
    run = MemoryRun(0, {**attachments, **make_range_attachment(first_s, last_s, fade_s)})
    return run_in_range(method, clip, None, run), method, run


def test_outside_of_the_range_it_is_the_source_and_inside_what_was_made():
    clip = stock_clip("walk")
    fps = clip.fps
    take, method, run = faded(clip, 12 / fps, 30 / fps, 5 / fps)
    aside = take.motion.local_pos[:, 0, 1] - clip.local_pos[:, 0, 1]
    assert len(take.motion) == len(clip)
    assert np.array_equal(take.motion.local_pos[:13], clip.local_pos[:13])
    assert np.array_equal(take.motion.local_pos[30:], clip.local_pos[30:])
    np.testing.assert_allclose(take.motion.local_quat_wxyz, clip.local_quat_wxyz, atol=1e-12)
    assert aside[17:26] == pytest.approx(0.5)
    assert np.all(np.diff(aside[12:18]) > 0.0) and np.all(np.diff(aside[25:31]) < 0.0)
    # It began earlier, so that velocities are right, and its times are the take's own.
    begin = max(12 - round(0.5 * fps), 0)
    assert len(method.clip) == 30 - begin + 1
    assert take.fell_at_s == pytest.approx(0.3 + begin / fps)
    assert any(kind == "range" for kind, _ in run.findings)


def test_a_range_at_an_end_of_the_clip_is_not_faded_there():
    clip = stock_clip("walk")
    whole = faded(clip, -1.0, 99.0)[0]
    assert whole.motion.local_pos[:, 0, 1] - clip.local_pos[:, 0, 1] == pytest.approx(0.5)
    start = faded(clip, 0.0, 20 / clip.fps)[0].motion.local_pos[:, 0, 1] - clip.local_pos[:, 0, 1]
    assert start[0] == pytest.approx(0.5) and not start[20:].any()


def test_a_range_beside_the_clip_is_refused():
    with pytest.raises(BadSettings, match="nothing of the motion"):
        faded(stock_clip("walk"), 50.0, 60.0)


def test_muscle_and_pushes_happen_at_their_moments():
    clip = stock_clip("walk", 0, 40)
    pushes = tuple(
        PushPart(name, "", "ball", np.array([1.0, 0.0, 0.0]), start_s, 0.1)
        for name, start_s in (("before", 0.3), ("in it", 1.0))
    )
    keyed = muscle.make_muscle_attachment(np.linspace(0.0, 1.0, len(clip)), clip.fps)
    stage = stage_to_arrays(StageParts(("",), pushes=pushes))
    first_s = 25 / clip.fps
    _, method, _ = faded(clip, first_s, 38 / clip.fps, stage=stage, **keyed)
    begin = 25 - round(0.5 * clip.fps)
    seen = load_muscle(method.run_seen, method.clip)
    assert seen == pytest.approx(np.linspace(0.0, 1.0, len(clip))[begin:39])
    (push,) = build_job_stage(method.run_seen, bodies.ball()).pushes
    assert push.start_s == pytest.approx(1.0 - begin / clip.fps)


def test_simulated_frames_of_a_walk_come_back_to_it_without_dragging_the_feet():
    clip = stock_clip("walk")
    run = MemoryRun(0, make_range_attachment(10 / clip.fps, 32 / clip.fps, 0.3))
    take = run_in_range(SamplingMethod(), clip, SamplingSettings(quality="draft"), run)
    outside = np.r_[0:11, 32 : len(clip)]
    assert np.array_equal(take.motion.local_pos[outside], clip.local_pos[outside])
    assert np.array_equal(take.motion.local_quat_wxyz[outside], clip.local_quat_wxyz[outside])
    assert np.abs(take.motion.world()[0] - clip.world()[0]).max() > 0.01
    # No jump where it changes over: no bone is faster than it is anywhere in the source.
    fastest = [np.linalg.norm(np.diff(one.world()[0], axis=0), axis=-1).max() for one in (clip, take.motion)]
    assert fastest[1] < 1.3 * fastest[0]
