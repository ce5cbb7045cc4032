# SPDX-License-Identifier: GPL-3.0-or-later
"""Sampling control on real motion: it stays up, it is repeatable, it does not foresee, and brings everything home."""

import re

import numpy as np
import pytest

from sinew.core import jobs
from sinew.core.body import Shape
from sinew.core.control import muscle
from sinew.core.control.registry import get_method
from sinew.core.control.sampling import method as method_module
from sinew.core.control.sampling import plan as plan_module
from sinew.core.control.sampling import search as search_module
from sinew.core.control.sampling.method import SamplingMethod, SamplingSettings
from sinew.core.control.sampling.plan import SHARED, SearchEffort
from sinew.core.control.tracking.contact_jitter_filter import _REACH
from sinew.core.control.tracking.reference import CONTROL_FPS
from sinew.core.errors import BadStage
from sinew.core.geometry.quaternions import from_rotation_vector, multiply
from sinew.core.measure import measure_take, summarize_measurements
from sinew.core.measure.smoothness import jerk
from sinew.core.motion import Clip
from sinew.core.sim.stage_io import stage_to_arrays
from sinew.core.sim.stage_parts import PropPart, PushPart, StageParts

from ....stock_clips import stock_clip
from .people import MemoryRun, simulated


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
    method = get_method("sampling")
    assert method.uses_engine and method.settings_type().quality == "normal"


def test_the_seed_decides_and_nothing_else(monkeypatch):
    clip = stock_clip("kick", 0, 20)
    first, again, other = (simulated(monkeypatch, clip, seed=seed)[0].motion for seed in (1, 1, 2))
    assert same(first, again) and not same(first, other)


def test_what_is_known_from_before_changes_no_bit(monkeypatch, tmp_path):
    clip = stock_clip("kick", 0, 20)
    monkeypatch.setitem(method_module.EFFORTS, "draft", SearchEffort(24, (0.1, 0.05), refits_above=100.0))

    def take_with(seed, cache):
        monkeypatch.setenv("SINEW_CACHE", str(cache))
        run = MemoryRun(seed, {})
        return SamplingMethod().run(clip, SamplingSettings(quality="draft"), run).motion

    cold, other = take_with(1, ""), take_with(2, "")
    first = take_with(1, tmp_path)
    kept = sorted(tmp_path.rglob("*.npz"))
    assert len(kept) == 2  # models along the reference, and the plan
    rollouts = []
    real = search_module.roll_out_samples
    monkeypatch.setattr(search_module, "roll_out_samples", lambda *a: rollouts.append(a[2]) or real(*a))
    again, another = take_with(1, tmp_path), take_with(2, tmp_path)
    assert same(cold, first) and same(cold, again) and same(other, another) and not same(cold, other)
    assert len(list(tmp_path.rglob("*.npz"))) == 3  # and the plan of the other seed
    fragments = len(set(rollouts))
    assert len(rollouts) == 2 * fragments  # of the same take nothing is searched

    # Nor is it once there is a stage, on which the character has a name.
    rollouts.clear()
    monkeypatch.setenv("SINEW_CACHE", str(tmp_path))
    late = StageParts(("Hero",), pushes=(PushPart("Push", "Hero", "chest", np.array([0.0, 0.0, 9.0]), 9.0, 0.1),))
    run = MemoryRun(1, {"stage": stage_to_arrays(late)})
    staged = SamplingMethod().run(clip, SamplingSettings(quality="draft"), run).motion
    assert not rollouts and same(staged, cold)


@pytest.mark.parametrize("sound", [1e9, -1.0])
def test_a_first_pass_is_shared_by_all_seeds_and_changes_no_bit(monkeypatch, tmp_path, sound):
    """Where it is good it is made once; where not, every seed has one of its own."""
    clip = stock_clip("kick", 0, 20)
    effort = SearchEffort(24, (0.1, 0.05), refits_above=100.0, shares_first=True, improves=True)
    monkeypatch.setitem(method_module.EFFORTS, "draft", effort)
    monkeypatch.setattr(plan_module, "_SOUND", sound)
    passes = []
    real = plan_module.Planner.search
    monkeypatch.setattr(
        plan_module.Planner, "search", lambda own, number, *a, **k: passes.append(number) or real(own, number, *a, **k)
    )

    def take_with(seed, cache):
        monkeypatch.setenv("SINEW_CACHE", str(cache))
        passes.clear()
        return SamplingMethod().run(clip, SamplingSettings(quality="draft"), MemoryRun(seed, {})).motion

    own = [] if sound > 0.0 else [0]
    cold, other = take_with(1, ""), take_with(2, "")
    assert passes == [SHARED, *own, 1] and not same(cold, other)
    assert same(take_with(1, tmp_path), cold)
    assert same(take_with(2, tmp_path), other) and passes == [*own, 1]
    assert same(take_with(1, tmp_path), cold) and passes == []


@pytest.fixture
def films(monkeypatch):
    """Films of the runs to come, as physics had them, before takes are made of them."""
    seen = []
    original = method_module.record_rollout

    def filmed(rollout):
        seen.append(original(rollout))
        return seen[-1]

    monkeypatch.setattr(method_module, "record_rollout", filmed)
    return seen


def test_nobody_foresees_a_push(monkeypatch, films):
    """The same seed with and without: physics agrees in every bit until the push begins, and is moved after."""
    clip = stock_clip("walk", 0, 30)
    calm, alone = simulated(monkeypatch, clip, parts=StageParts(("Hero",)))
    shoved, run = simulated(monkeypatch, clip, parts=pushed((300.0, 0.0, 0.0)))
    until = int(0.25 * CONTROL_FPS) + 1  # the moment at which it begins is still without it
    for name in ("contact_force", "torque", "rate", "seen_com"):
        one, other = (getattr(some.traces[0], name) for some in (alone, run))
        assert np.array_equal(one[:until], other[:until]), name
        assert not np.array_equal(one[until], other[until]), name
    for name in ("qpos", "qvel", "targets"):
        one, other = (getattr(film, name)[:until] for film in films)
        assert np.array_equal(one, other), name
    chest = clip.skeleton.index("chest")
    moved = (shoved.motion.world()[0] - calm.motion.world()[0])[:, chest, 0]
    assert moved[int(0.45 * clip.fps)] > 0.05
    assert run.steps[-1:] == [*run.totals]


def test_of_a_push_to_come_a_take_shows_no_more_than_its_own_finish(monkeypatch):
    """Takes are made of finished films: a foot is held in the middle of its whole stance, in which the push may be, and
    tremble is judged by what comes up to five moments later. Nothing else differs, and that by next to nothing.
    """
    clip = stock_clip("walk", 0, 30)
    calm, alone = simulated(monkeypatch, clip, parts=StageParts(("Hero",)))
    shoved, run = simulated(monkeypatch, clip, parts=pushed((300.0, 0.0, 0.0)))
    legs = np.array([name.partition(".")[0] in ("thigh", "shin", "foot") for name in clip.skeleton.names])
    below = np.array([name.partition(".")[0] in ("shin", "foot") for name in clip.skeleton.names])  # a hip stays
    motions = (calm.motion, shoved.motion)
    apart = np.linalg.norm(np.subtract(*(motion.world()[0] for motion in motions)), axis=-1)
    seen = np.linalg.norm(alone.traces[0].seen_pos - run.traces[0].seen_pos, axis=-1)
    links = np.array([link.role in ("shin", "foot") for link in run.traces[0].body.links])
    early = int((0.25 - 0.1) * clip.fps) + 1  # frames more than 0.1 s before it
    one, other = (motion.local_quat_wxyz[:early, ~legs] for motion in motions)
    assert apart[:early, ~below].max() == 0.0 and np.array_equal(one, other)
    until = int(0.25 * CONTROL_FPS) + 1
    assert seen[: until - _REACH, ~links].max() == 0.0
    # Measured: 2.8 mm in the last moment, which has but one after it that was pushed.
    assert seen[:until, ~links].max() < 3.5e-3 and seen[:until, links].max() < 3.5e-3
    assert apart[: int(0.25 * clip.fps) + 1].max() < 3.5e-3


def test_limp_people_fall_and_cost_no_second_try(monkeypatch):
    clip = stock_clip("walk", 0, 30)
    limp = muscle.make_muscle_attachment(np.zeros(len(clip)), clip.fps)
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


@pytest.mark.parametrize("hovers", [False, True])
def test_what_was_done_to_the_source_is_told(monkeypatch, hovers):
    """That it was captured half a metre too high, or that it hovers by 5 cm for half a second."""
    clip = stock_clip("walk", 0, 1)
    pos, quat = np.repeat(clip.local_pos, 60, axis=0), np.repeat(clip.local_quat_wxyz, 60, axis=0)
    if hovers:
        pos[30:45, 0, 2] += 0.05
    else:
        pos[:, 0, 2] += 0.5
    take, run = simulated(monkeypatch, Clip(clip.skeleton, clip.fps, pos, quat, clip.name).frames(0, 48))
    (told,) = (message for kind, message in run.findings if kind == "ground")
    floor_cm = float(re.match(r"The floor of the clip was at (\S+) cm", told)[1])
    assert floor_cm == pytest.approx(0.0 if hovers else 50.0, abs=1.0)
    assert ("frames that hovered were lowered by up to 5.0 cm" in told) == hovers
    assert take.contacts.any()


def test_a_source_that_trembles_is_followed_without(monkeypatch):
    clean = stock_clip("walk", 0, 30)
    turns = np.radians(2.5) * np.random.default_rng(0).normal(size=(*clean.local_quat_wxyz.shape[:2], 3))
    quat = multiply(clean.local_quat_wxyz, from_rotation_vector(turns))
    shaky = Clip(clean.skeleton, clean.fps, clean.local_pos, quat, clean.name)
    take, run = simulated(monkeypatch, shaky)
    (told,) = (message for kind, message in run.findings if kind == "tremble")
    assert re.match(r"The source trembles by 2\.\d degrees from frame to frame and was smoothed", told)
    trembles, moves = (jerk(clip.world()[0], clip.fps) for clip in (shaky, take.motion))
    assert moves < 0.1 * trembles  # what is followed as it came still has 0.15 of it


def test_a_source_that_is_as_it_should_be_is_not_talked_about(monkeypatch):
    _, run = simulated(monkeypatch, stock_clip("walk", 0, 8))
    assert not {"ground", "tremble"} & {kind for kind, _ in run.findings}


def test_the_source_s_foot_skate_is_one_figure_wherever_it_is_told(monkeypatch):
    clip = stock_clip("walk", 0, 30)
    take, run = simulated(monkeypatch, clip)
    (told,) = [message for kind, message in run.findings if kind == "feet"]
    (trace,) = run.traces
    slid = measure_take(trace, clip, take.motion).source_skate_m_s
    assert slid == trace.source_skate_m_s and slid > 0.01
    (sentence,) = summarize_measurements({"skate_m_s": 0.01, "source_skate_m_s": slid}, None)
    figure = told.partition("they slid ")[2].partition(" in the source")[0]
    assert figure in sentence and figure.endswith("cm/s")
