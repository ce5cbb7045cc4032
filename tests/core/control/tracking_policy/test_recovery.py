# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a policy alone falls, time goes back and something else is done; a policy that does nothing falls soonest."""

from contextlib import closing

import numpy as np
import pytest

from directed_policies import make_idle_controller
from directed_walks import make_walks
from sinew.core.control.matching.directing import Directing
from sinew.core.control.tracking_policy.playing import FALLEN_M, PolicyLoop
from sinew.core.control.tracking_policy.recovery import RecoveringPlay, make_recovery_search
from sinew.core.control.tracking_policy.reference_streams import make_streams
from sinew.core.control.tracking_policy.stream_recording import play_stream
from sinew.core.control.tracking_policy.stream_test import follow_streams, play_whole_streams
from sinew.core.sim import engines
from sinew.core.sim.stage import Character, Stage

COPIES, FRAMES = 24, 130


@pytest.fixture(scope="module")
def directing():
    library, body = make_walks()
    return Directing(body, library)


def make_source(directing):
    return directing.database.library.clip(0).frames(0, FRAMES)


@pytest.fixture(scope="module")
def streams(directing):
    """Two seconds of a walk."""
    contacts = directing.contacts[directing.database.library.frames_of(0)][:FRAMES]
    return make_streams(directing.database.body, [make_source(directing)], [contacts])


@pytest.fixture(scope="module")
def idle(streams):
    return make_idle_controller(streams)


def world_of(streams, copies=1):
    return closing(engines.get_engine("mujoco").compile(Stage((Character(streams.body),)), copies))


def play(controller, streams, seed=None):
    """One character from beginning to end, or until it has fallen; with a search where there is a seed."""
    with world_of(streams) as world, world_of(streams, COPIES) as search_world:
        search = None if seed is None else make_recovery_search(controller, streams, search_world, seed)
        loop = PolicyLoop(controller, streams, world, np.zeros(1, dtype=np.int64))
        played = RecoveringPlay(loop, (len(streams) - 1) // 2, search)
        while len(played.done) < played.steps and not played.advance():
            pass
        return played


def test_a_loop_goes_on_from_a_moment_as_it_did_then(idle, streams):
    with world_of(streams) as world:
        loop = PolicyLoop(idle, streams, world, np.zeros(1, dtype=np.int64))
        loop.step()
        kept = loop.moment()
        states = [loop.step()[0] for _ in range(8)]
        loop.go_to(kept)
        assert all(np.array_equal(loop.step()[0], expected) for expected in states)


def test_many_copies_go_on_from_the_moment_of_one(idle, streams):
    with world_of(streams) as world, world_of(streams, 3) as other:
        loop = PolicyLoop(idle, streams, world, np.zeros(1, dtype=np.int64))
        loop.step()
        many = PolicyLoop(idle, streams, other, np.zeros(3, dtype=np.int64))
        many.go_to(loop.moment())
        loop.step()
        many.step()
        np.testing.assert_allclose(many.states, np.repeat(loop.states, 3, axis=0), atol=1e-9)


@pytest.fixture(scope="module")
def kept_up(idle, streams):
    return play(idle, streams, seed=1)


def test_a_walk_that_nobody_balances_falls_alone_and_is_kept_up_by_a_search(idle, streams, kept_up):
    alone = play(idle, streams)
    assert not alone.done[-1].apart_m <= FALLEN_M and alone.searches == 0
    assert len(kept_up.done) == kept_up.steps > len(alone.done) and kept_up.searches > 0
    assert max(step.apart_m for step in kept_up.done) <= FALLEN_M


def test_the_same_seed_finds_the_same_way_and_that_is_recorded(idle, streams, directing, kept_up):
    """The recording is one motion: each step goes on from the one before, also where time went back in between."""
    with world_of(streams) as world, world_of(streams, COPIES) as search_world:
        search = make_recovery_search(idle, streams, search_world, 1)
        played = play_stream(idle, streams, make_source(directing), world, search=search)
        expected = world.pose_of(np.concatenate([step.states for step in kept_up.done]))[0]
    assert played.searches == kept_up.searches and len(played.film) == 2 * ((FRAMES - 1) // 2) + 1
    assert np.array_equal(played.film.qpos[1 : len(expected) + 1], expected)
    assert np.linalg.norm(np.diff(expected[:, :3], axis=0), axis=-1).max() < 0.15  # 9 m/s: nobody was put elsewhere


def test_whole_streams_are_played_and_falls_counted(idle, streams, directing):
    with world_of(streams) as world, world_of(streams, COPIES) as search_world:
        whole = play_whole_streams(idle, streams, world, search_world, directing.database.library.clip(0), 1)
        alone = follow_streams(idle, streams, world, whole.test.minutes, 1)
    assert whole.test.falls < alone.falls and 0.0 < whole.test.joint_error_m < 0.3
    # In a take feet are held where forces say that they stand, so they slide less than physics had them.
    assert whole.skate.take_m_s is not None and whole.skate.physics_m_s is not None
    assert whole.skate.take_m_s < 0.8 * whole.skate.physics_m_s < 1.0
