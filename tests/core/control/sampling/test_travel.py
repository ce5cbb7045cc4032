# SPDX-License-Identifier: GPL-3.0-or-later
"""A walk on the spot travels while it is simulated, and comes home as a loop of the animator's own frames."""

import numpy as np
import pytest

from sinew.core.body.build import build_body
from sinew.core.control.frame_range import make_range_attachment
from sinew.core.control.sampling import method as method_module
from sinew.core.control.sampling.method import SamplingMethod, SamplingSettings
from sinew.core.control.sampling.plan import SearchEffort
from sinew.core.control.tracking.cycle_playing import SimulatedCycles, find_lost_time, plan_cycle
from sinew.core.errors import BadMotion
from sinew.core.motion import Take
from sinew.core.motion.loops import loop_clip
from sinew.core.motion.plain_walk import SPEED_M_S, STRIDE_S, plain_walk
from sinew.core.motion.seamless_loop import measure_seam
from sinew.core.sim.stage_io import stage_to_arrays
from sinew.core.sim.stage_parts import PushPart, StageParts

from ....on_the_spot import walk_on_the_spot
from ....stock_clips import stock_clip
from .people import MemoryRun


@pytest.fixture
def simulate(monkeypatch):
    """A simulation with little effort: the take and its run."""
    monkeypatch.setitem(method_module.EFFORTS, "draft", SearchEffort(24, (0.1,)))

    def run_method(clip, seed=0, attachments=None, **settings):
        run = MemoryRun(seed, attachments or {})
        return SamplingMethod().run(clip, SamplingSettings(quality="draft", **settings), run), run

    return run_method


def told(run) -> list[str]:
    return [message for kind, message in run.findings if kind == "in_place"]


def root_way(clip) -> float:
    """Metres from the first to the last place of the root over the ground."""
    return float(np.linalg.norm((clip.local_pos[-1, 0] - clip.local_pos[0, 0])[:2]))


def test_it_comes_home_on_the_spot_as_a_loop_of_as_many_frames(simulate):
    clip = walk_on_the_spot(30.0)
    take, run = simulate(clip, cycles=3)
    (message,) = told(run)
    assert " 1.0" in message and "m/s" in message and "played 3 times" in message and "on the spot again" in message
    assert len(take.motion) == len(clip) == len(take.contacts) and take.motion.fps == clip.fps
    assert take.source_times_s is None and take.period_s is None
    assert measure_seam(take.motion).within(measure_seam(clip))
    assert np.array_equal(take.motion.local_pos[0], take.motion.local_pos[-1])
    # Physics saw it walk, and it is measured against that.
    (trace,) = run.traces
    wanted, seen = (np.linalg.norm((pos[-1, 0] - pos[0, 0])[:2]) for pos in (trace.wanted_pos, trace.seen_pos))
    assert wanted == pytest.approx(3 * STRIDE_S * SPEED_M_S, rel=0.05) and seen == pytest.approx(wanted, abs=0.4)
    pos, own = take.motion.world()[0], clip.world()[0]
    assert np.linalg.norm((pos - pos[:, :1]) - (own - own[:, :1]), axis=-1).mean() < 0.12


def test_the_same_seed_gives_the_same_loop(simulate):
    clip = walk_on_the_spot(30.0)
    first, again = (simulate(clip, seed=4, cycles=2)[0].motion for _ in range(2))
    assert np.array_equal(first.local_pos, again.local_pos)
    assert np.array_equal(first.local_quat_wxyz, again.local_quat_wxyz)


def test_a_push_on_the_way_leaves_no_loop(simulate):
    clip = walk_on_the_spot(30.0)
    push = PushPart("Push", "Hero", "chest", np.array([5.0, 0.0, 0.0]), 0.5, 0.1)
    take, run = simulate(clip, cycles=2, attachments={"stage": stage_to_arrays(StageParts(("Hero",), pushes=(push,)))})
    assert told(run)[0].endswith("because of the pushes")
    assert len(take.motion) == pytest.approx(2 * (len(clip) - 1) + 1, abs=1)
    assert root_way(take.motion) > 1.0
    # Its second cycle is the source again.
    assert take.period_s == pytest.approx(clip.duration_s)
    again = take.source_time(np.array([0.2, 0.2 + take.period_s]))
    assert again[0] == pytest.approx(again[1])


@pytest.mark.parametrize(
    ("clip", "settings", "attachments"),
    [
        (walk_on_the_spot(30.0), {"travel": "off"}, {}),
        (walk_on_the_spot(30.0), {}, make_range_attachment(0.2, 0.8, 0.1)),
        (plain_walk(STRIDE_S, 30.0), {}, {}),
    ],
    ids=["off", "a range of it", "it travels already"],
)
def test_what_is_not_to_travel_is_left(simulate, clip, settings, attachments):
    take, run = simulate(clip, attachments=attachments, **settings)
    assert not told(run) and len(take.motion) == pytest.approx(len(clip), abs=1)


def test_on_refuses_what_is_no_cycle():
    clip = stock_clip("kick", 0, 20)
    body = build_body(clip.skeleton, clip=clip)[0]
    with pytest.raises(BadMotion, match="is not a cycle, so it cannot be given travel"):
        plan_cycle(clip, body, "on", 5)
    assert plan_cycle(clip, body, "auto", 5) is None


@pytest.fixture
def played():
    """A walk on the spot, planned for five cycles."""
    clip = walk_on_the_spot(30.0)
    body = build_body(clip.skeleton, clip=clip)[0]
    return plan_cycle(clip, body, "auto", 5)


def test_five_cycles_are_played_one_after_the_other(played):
    clip = played.play()
    assert clip.duration_s == pytest.approx(5 * STRIDE_S)
    assert root_way(clip) == pytest.approx(5 * STRIDE_S * SPEED_M_S, rel=0.03)
    steps = np.linalg.norm(np.diff(clip.local_pos[:, 0, :2], axis=0), axis=-1) * clip.fps
    assert steps.min() > 0.7 * SPEED_M_S and steps.max() < 1.3 * SPEED_M_S


@pytest.mark.parametrize("travelling", [False, True])
def test_a_take_that_did_as_it_was_told_gives_the_source_back(played, travelling):
    cycles = SimulatedCycles(played, Take(played.play().resample(60.0)), None, 60.0)
    loop = cycles.loop(0, travelling).motion
    assert len(loop) == len(played.source)
    wanted = played.play_once() if travelling else played.source
    assert np.linalg.norm(loop.world()[0] - wanted.world()[0], axis=-1).max() < 0.02


def test_flights_that_were_played_slower_are_at_the_source_s_pace_in_the_loop(played):
    clip = played.play().resample(60.0)
    slower = Take(clip.with_fps(48.0).resample(60.0))  # 1.25 times as slow throughout
    times_s = np.arange(len(slower.motion)) / 60.0 / 1.25
    loop = SimulatedCycles(played, slower, times_s, 60.0).loop(0, travelling=False).motion
    assert np.linalg.norm(loop.world()[0] - played.source.world()[0], axis=-1).max() < 0.02


def test_a_loop_is_made_of_cycles_before_the_body_was_lost(played):
    take = Take(played.play().resample(60.0))
    assert SimulatedCycles(played, take, None, 60.0).sound == [1, 2, 3]
    assert SimulatedCycles(played, take, None, 60.0, lost_at_s=2.0 * STRIDE_S).sound == [0]
    assert SimulatedCycles(played, take, None, 60.0, lost_at_s=0.8 * STRIDE_S).sound == []


def test_cycles_that_were_played_already_are_counted():
    clip = loop_clip(walk_on_the_spot(30.0), 3)
    body = build_body(clip.skeleton, clip=clip)[0]
    plan = plan_cycle(clip, body, "auto", 5)
    assert plan.repeats == 3 and plan.cycles == 5
    cycles = SimulatedCycles(plan, Take(plan.play().resample(60.0)), None, 60.0)
    assert len(cycles.loop(0, travelling=False).motion) == len(clip)


def test_a_body_that_did_as_told_was_never_lost(simulate):
    run = simulate(walk_on_the_spot(30.0), cycles=1)[1]
    assert find_lost_time(run.traces[0]) is None
