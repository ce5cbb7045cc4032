# SPDX-License-Identifier: GPL-3.0-or-later
"""What comes home of a bake is what was played: everybody, at any frame rate, with a clock of its own."""

from contextlib import closing

import numpy as np
import pytest

from sinew.bench.run import BenchRun
from sinew.core.body.poses import pose_of_clip
from sinew.core.control.graph.playing.baking import Place, bake_characters
from sinew.core.control.graph.playing.planners import SequenceItem, SequencePlanner
from sinew.core.control.graph.playing.take_making import take_of_bake
from sinew.core.motion.io import stock
from sinew.core.sim import engines
from sinew.core.sim.stage import Character, Push, Stage

SECONDS = 1.5


@pytest.fixture(scope="module")
def bake(walker):
    """Two who walk side by side; the second is pushed over."""
    chest = walker.body.links[walker.features.trunk].bone
    push = Push(1, chest, np.array([0.0, 1500.0, 0.0]), 0.1, 0.1)
    stage = Stage((Character(walker.body), Character(walker.body)), pushes=(push,))
    plans = [SequencePlanner(walker, [SequenceItem("walk")]) for _ in range(2)]
    places = [Place(np.zeros(2), 0.0), Place(np.array([0.0, 3.0]), 0.0)]
    clip = stock.load_stock("walk")
    with closing(engines.get_engine("mujoco").compile(stage, 1)) as world:
        return bake_characters(world, [walker] * 2, plans, places, [clip] * 2, SECONDS, lambda _: None)


@pytest.mark.parametrize("fps", [24.0, 60.0])
def test_everybody_comes_home_at_the_rate_that_was_asked_for(bake, walker, fps):
    run = BenchRun("mujoco", 0, {})
    take = take_of_bake(bake, fps, run)
    both = (take, *take.others)
    assert len(both) == 2 and all(one.own_clock and one.motion.fps == fps for one in both)
    assert all(len(one.motion) == round(SECONDS * fps) + 1 for one in both)
    assert len(run.traces) == 2 and take.props == ()
    for one, trace in zip(both, run.traces, strict=True):
        moments = np.arange(len(one.motion)) * trace.fps / fps
        places = [np.interp(moments, np.arange(len(trace.seen_pos)), trace.seen_pos[:, 0, axis]) for axis in range(3)]
        assert pose_of_clip(walker.body, one.motion)[0][:, :3] == pytest.approx(np.stack(places, axis=-1), abs=0.02)


def test_falls_are_told_of_whoever_fell(bake):
    take = take_of_bake(bake, 30.0, BenchRun("mujoco", 0, {}))
    assert take.measurements["falls"] == 0 and take.others[0].measurements["falls"] == 1
