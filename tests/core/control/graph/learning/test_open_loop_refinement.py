# SPDX-License-Identifier: GPL-3.0-or-later
"""A walk that was really done takes the place of what the capture asked for, and of nothing else."""

import numpy as np
import pytest

from sinew.core.control.graph.learning import open_loop_refinement
from sinew.core.control.graph.learning.open_loop_refinement import refine_open_loop

LOCKED = np.array([13, 14])


@pytest.fixture(scope="module")
def run(town, world_of):
    """The run's fragments refined on three cycles, two of them locked: the track before, after, and the costs."""
    track = town[2]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(open_loop_refinement, "_SPREADS", (0.1,))
        walk = np.tile(np.arange(12, 20), 3)
        looks = []
        after, cost = refine_open_loop(
            track, walk, world_of(track.body, 16), [(1, 2)], lambda *_: looks.append(1), LOCKED
        )
    assert looks
    return track, after, cost


def test_what_was_walked_is_as_it_was_done_and_the_rest_stays(run):
    before, after, cost = run
    changed = np.setdiff1d(np.arange(12, 20), LOCKED)
    stays = np.setdiff1d(np.arange(len(before)), changed)
    for name in ("qpos", "rates", "targets"):
        old, new = getattr(before, name), getattr(after, name)
        assert np.array_equal(new[stays], old[stays]), name
        assert all(not np.array_equal(new[one], old[one]) for one in changed), name
        assert np.isfinite(new).all()
    assert len(cost) == 24 and np.isfinite(cost).all()


def test_it_is_still_the_same_motion_in_the_same_frames(run):
    before, after, _ = run
    off = before.space.difference(before.qpos[12:20], after.qpos[12:20])
    assert after.qpos[12:20, 0, :2] == pytest.approx(0.0, abs=1e-9)
    assert np.abs(off[..., 6:]).mean() < 0.3  # radians
    quat = after.qpos[..., 3:7]
    assert np.linalg.norm(quat, axis=-1) == pytest.approx(1.0, abs=1e-9)


def test_physics_does_what_the_refined_track_says(run, arena_of):
    """Played open-loop from their starts, fragments end nearer to where they are meant to than captured ones do."""
    before, after, _ = run
    some, off = np.setdiff1d(np.arange(12, 20), LOCKED), []
    for track in (before, after):
        simulator = arena_of(track, len(some))
        states, _ = simulator.execute(simulator.start(some), np.zeros((len(some), 11)))
        qpos, _ = simulator.world.pose_of(states)
        away = track.space.difference(track.qpos[some, -1], qpos)
        off.append(np.abs(away[:, 2:]).mean())
    assert off[1] < off[0]


def test_of_several_tries_the_one_that_cost_least_counts(town, world_of, monkeypatch):
    monkeypatch.setattr(open_loop_refinement, "_SPREADS", (0.1,))
    track, walk = town[2], np.tile(np.arange(12, 20), 2)

    def tried(*seeds):
        return refine_open_loop(track, walk, world_of(track.body, 16), [(seed,) for seed in seeds], lambda *_: None)

    one, other, both = tried(1), tried(2), tried(1, 2)
    costs = [float(found[1].mean()) for found in (one, other)]
    assert costs[0] != costs[1]
    best = (one, other)[int(np.argmin(costs))]
    assert np.array_equal(both[1], best[1])
    assert np.array_equal(both[0].targets, best[0].targets)
