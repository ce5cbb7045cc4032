# SPDX-License-Identifier: GPL-3.0-or-later
"""Sampling control on real motion: it stays up, it is repeatable, it does not foresee, and brings everything home."""

import numpy as np
import pytest
from people import simulated, stock_clip

from sinew.core import jobs
from sinew.core.body import Shape
from sinew.core.control import muscle
from sinew.core.control.registry import get
from sinew.core.errors import BadStage
from sinew.core.motion import Clip
from sinew.core.sim.parts import PropPart, PushPart, StageParts


def aside(clip: Clip, x: float) -> Clip:
    """The clip somewhere else."""
    pos = np.array(clip.local_pos)
    pos[:, 0, 0] += x
    return Clip(clip.skeleton, clip.fps, pos, clip.local_quat_wxyz, clip.name)


def pushed(force, start_s=0.25, duration_s=0.15):
    """The stage with a push at the chest."""
    push = PushPart("Push", "Hero", "chest", np.array(force, dtype=float), start_s, duration_s)
    return StageParts(("Hero",), pushes=(push,))


def same(one, other, frames=None):
    """Whether motions agree bit for bit in so many frames."""
    return np.array_equal(one.local_pos[:frames], other.local_pos[:frames]) and np.array_equal(
        one.local_quat_wxyz[:frames], other.local_quat_wxyz[:frames]
    )


def test_a_kick_is_simulated_as_a_job_the_same_every_time():
    clip = stock_clip("kick", 0, 30)

    def result():
        job = jobs.create(clip, method="sampling", settings={"quality": "draft"}, engine="mujoco", seed=1)
        status = jobs.wait(job, jobs.launch(job))
        assert status.state == "done", status.message
        return job.result()

    first, again = result(), result()
    assert first.report["engine"] == "mujoco" and first.report["fell"] is False
    motion = first.take.motion
    assert len(motion) == len(clip) and motion.fps == clip.fps and motion.skeleton.same_bones(clip.skeleton)
    assert np.array_equal(motion.local_quat_wxyz, again.take.motion.local_quat_wxyz)
    assert np.array_equal(motion.local_pos, again.take.motion.local_pos)
    # It moved as a body does, near the source but not as the source.
    pos, wanted = motion.world()[0], clip.world()[0]
    apart = np.linalg.norm((pos - pos[:, :1]) - (wanted - wanted[:, :1]), axis=-1)
    assert 0.002 < apart.mean() < 0.12
    feet = [motion.skeleton.index(name) for name in ("foot.L", "foot.R")]
    assert first.take.contacts[:, feet].any(1).mean() > 0.6


def test_the_method_tells_what_it_is():
    method = get("sampling")
    assert method.uses_engine and method.settings_type().quality == "normal"


def test_the_seed_decides_and_nothing_else(monkeypatch):
    clip = stock_clip("kick", 0, 20)
    first, again, other = (simulated(monkeypatch, clip, seed=seed)[0].motion for seed in (1, 1, 2))
    assert same(first, again) and not same(first, other)


def test_nobody_foresees_a_push(monkeypatch):
    """The same seed with and without: the same physics to the bit until it begins, and a body that is moved after.

    Only legs may differ before it: a foot is held in the middle of its whole stance, and the push may be in that.
    """
    clip = stock_clip("walk", 0, 30)
    calm, alone = simulated(monkeypatch, clip, parts=StageParts(("Hero",)))
    shoved, run = simulated(monkeypatch, clip, parts=pushed((300.0, 0.0, 0.0)))
    before = int(0.25 * clip.fps)
    for name in ("contact_force", "torque", "rate", "seen_com"):
        one, other = (getattr(some.traces[0], name)[: int(0.25 * some.traces[0].fps)] for some in (alone, run))
        assert np.array_equal(one, other), name
    legs = [name.partition(".")[0] in ("thigh", "shin", "foot") for name in clip.skeleton.names]
    apart = np.linalg.norm(calm.motion.world()[0] - shoved.motion.world()[0], axis=-1)[:before]
    assert apart[:, ~np.array(legs)].max() == 0.0 and apart.max() < 0.01
    assert not same(calm.motion, shoved.motion)
    chest = clip.skeleton.index("chest")
    moved = (shoved.motion.world()[0] - calm.motion.world()[0])[:, chest, 0]
    after = int(0.45 * clip.fps)
    assert np.abs(moved[:before]).max() == 0.0 and moved[after] > 0.05
    assert run.steps[-1:] == [*run.totals]


def test_limp_people_fall_and_cost_no_second_try(monkeypatch):
    clip = stock_clip("walk", 0, 30)
    limp = muscle.attachment(np.zeros(len(clip)), clip.fps)
    take, run = simulated(monkeypatch, clip, **limp)
    assert take.fell_at_s is not None and take.fell_at_s < clip.duration_s
    # A fragment that is tried again would take progress back.
    assert run.steps == sorted(run.steps) and run.steps[-1:] == [*run.totals]
    head = clip.skeleton.index("head")
    height = take.motion.world()[0][:, head, 2]
    assert height[-1] < 0.7 * height[0]
    (trace,) = run.traces
    assert not trace.torque.any()


def test_two_people_are_taken_together_and_each_has_a_trace(monkeypatch):
    clip = stock_clip("walk", 0, 14)
    other = aside(clip, 3.0)
    take, run = simulated(monkeypatch, clip, others=[("Anna", other)], parts=StageParts(("Hero", "Anna")))
    assert len(take.others) == 1 and take.others[0].others == ()
    assert [trace.character for trace in run.traces] == [0, 1]
    for one, source in ((take, clip), (take.others[0], other)):
        assert len(one.motion) == len(source) and one.fell_at_s is None
        assert np.abs(one.motion.world()[0][:, 0] - source.world()[0][:, 0]).max() < 0.15
        assert one.contacts.shape == (len(source), len(source.skeleton)) and one.contacts.any()


def test_people_who_begin_in_one_place_are_refused(monkeypatch):
    clip = stock_clip("walk", 0, 8)
    with pytest.raises(BadStage, match="'Hero', 'Anna' begin in one place"):
        simulated(monkeypatch, clip, others=[("Anna", clip)], parts=StageParts(("Hero", "Anna")))


def test_a_thrown_ball_hits_and_comes_home_in_the_take(monkeypatch):
    """A ball of 3 kg that would be where the chest is after 0.3 s, thrown 0.2 s before from a metre away."""
    clip = stock_clip("walk", 0, 24)
    chest = clip.world()[0][round(0.3 * clip.fps), clip.skeleton.index("chest")] + [0.0, 0.0, 0.12]
    speed = np.array([-5.0, 0.0, 1.0])
    start = chest - 0.2 * speed + [0.0, 0.0, 0.5 * 9.81 * 0.2**2]
    solid = Shape("sphere", np.array([0.1, 0.0, 0.0]), np.zeros(3))
    ball = PropPart("Ball", 3.0, start, shape=solid, velocity=speed, appears_s=0.1)
    take, _ = simulated(monkeypatch, clip, parts=StageParts(("Hero",), props=(ball,)))
    (home,) = take.props
    assert home.name == "Ball" and len(home) == len(take.motion) == len(clip)
    np.testing.assert_allclose(home.pos[:3], np.tile(start, (3, 1)), atol=1e-6)
    # It flew as balls do until there was a body in the way, which it moved.
    flown = 4.0 / clip.fps - 0.1
    assert home.pos[4, 0] == pytest.approx(start[0] + speed[0] * flown, abs=0.02)
    assert home.pos[-1, 0] > start[0] + speed[0] * (clip.duration_s - 0.1) + 1.0
    calm, _ = simulated(monkeypatch, clip, parts=StageParts(("Hero",)))
    moved = (take.motion.world()[0] - calm.motion.world()[0])[:, clip.skeleton.index("chest"), 0]
    assert moved[round(0.45 * clip.fps)] < -0.03


def test_what_was_done_to_the_source_is_told(monkeypatch):
    clip = stock_clip("walk", 0, 8)
    pos = np.array(clip.local_pos)
    pos[:, 0, 2] += 0.5
    floating = Clip(clip.skeleton, clip.fps, pos, clip.local_quat_wxyz, clip.name)
    take, run = simulated(monkeypatch, floating)
    assert [kind for kind, _ in run.findings if kind == "ground"] == ["ground"]
    assert take.contacts.any()
