# SPDX-License-Identifier: GPL-3.0-or-later
"""A stream comes after the body that follows it, and goes back; feet that slide earn less than those that stand."""

from contextlib import closing
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from directed_policies import make_idle_controller
from directed_walks import make_walks
from sinew.core.control.matching.directing import Directing
from sinew.core.control.matching.features import find_head
from sinew.core.control.tracking_policy.drawing import draw_along
from sinew.core.control.tracking_policy.matching_streams import make_clip_streams
from sinew.core.control.tracking_policy.observations import TrackingState
from sinew.core.control.tracking_policy.playing import PolicyLoop
from sinew.core.control.tracking_policy.reference_streams import DRAWN_SHARE, DRAWN_SHARE_ON_A_PATH
from sinew.core.control.tracking_policy.rewards import RewardWeights, tracking_rewards
from sinew.core.sim import engines
from sinew.core.sim.stage import Character, Stage

ASIDE = np.array([0.0, 0.3])


@pytest.fixture(scope="module")
def streams():
    library, body = make_walks()
    return make_clip_streams(Directing(body, library), body, np.array([0, 3]))


@pytest.fixture(scope="module")
def world(streams):
    with closing(engines.get_engine("mujoco").compile(Stage((Character(streams.body),)), 1)) as one:
        yield one


def loop_on(streams, world, frame=30):
    return PolicyLoop(make_idle_controller(streams), streams, world, np.array([frame]))


def test_a_stream_that_nobody_draws_goes_back(streams):
    on_it = SimpleNamespace(streams=streams, frame=np.array([7, 7]), com=streams.com[[7, 7]].astype(float))
    drawn = np.array([[0.3, -0.4], [0.0, 0.001]])
    for _ in range(30):
        drawn = drawn + draw_along(on_it, drawn, 0.1)
    np.testing.assert_allclose(drawn, [[0.24, -0.32], [0.0, 0.0]], atol=1e-6)  # a tenth of a metre nearer in a second


def test_who_is_beside_its_stream_draws_it_along_and_stays_where_it_is(streams, world):
    loop = loop_on(streams, world)
    qpos, qvel = streams.qpos[[30]].astype(float), streams.qvel[[30]].astype(float)
    qpos[:, :2] += ASIDE
    loop.begin_from(world.state_of(qpos, qvel))
    beside = []
    for _ in range(6):
        loop.step()
        beside.append(loop.state.com[0, :2] - streams.com[loop.frame[0], :2])
        seems = loop.state.qpos[0, :2] + loop.drawn[0]
        np.testing.assert_allclose(seems, loop.find_poses()[0, :2], atol=1e-9)
    assert beside[0][1] == pytest.approx(0.9 * ASIDE[1], abs=0.02)
    assert (np.diff([way[1] for way in beside]) < 0.0).all() and loop.drawn[0, 1] > 0.03
    loop.put_back(np.ones(1, dtype=bool))
    assert not loop.drawn.any()


def test_on_a_path_a_stream_comes_less_after_its_body(streams, world):
    """There it matters where it is, and not only that it does not fall."""
    drawn = []
    for share in (DRAWN_SHARE, DRAWN_SHARE_ON_A_PATH):
        loop = loop_on(replace(streams, drawn_share=share), world)
        qpos, qvel = streams.qpos[[30]].astype(float), streams.qvel[[30]].astype(float)
        qpos[:, :2] += ASIDE
        loop.begin_from(world.state_of(qpos, qvel))
        loop.step()
        drawn.append(loop.drawn[0, 1])
    assert drawn[1] == pytest.approx(0.5 * drawn[0], rel=0.05) and drawn[0] > 0.02


def test_who_was_pushed_off_its_path_is_followed_all_the_same(streams):
    """Else it would stay so far from its stream that a step more counts as a fall, though it stands."""
    on_path = replace(streams, drawn_share=DRAWN_SHARE_ON_A_PATH)
    com = on_path.com[[7]].astype(float) + [0.0, 0.6, 0.0]
    drawn = np.zeros((1, 2))
    for _ in range(60):
        state = SimpleNamespace(streams=on_path, frame=np.array([7]), com=com - np.append(drawn, [[0.0]], axis=1))
        drawn = drawn + draw_along(state, drawn)
    assert 0.2 < 0.6 - drawn[0, 1] < 0.4


def test_feet_that_slide_where_they_should_stand_earn_less(streams, world):
    frame = int(np.flatnonzero(streams.contacts.all(axis=1))[0])
    loop = loop_on(streams, world, frame)
    state, weights, head = loop.state, RewardWeights(), find_head(streams.body)
    still = tracking_rewards(state, state, np.zeros((1, 3)), weights, head)[0]["stance"]
    before = TrackingState(streams, state.features, *state.arrays())
    before.link_pos[:, state.features.stance_links, 0] -= 0.02  # 2 cm in a thirtieth of a second
    slides = tracking_rewards(state, before, np.zeros((1, 3)), weights, head)[0]["stance"]
    assert slides < 0.2 < 0.9 < still
    swings = np.flatnonzero(~streams.contacts.any(axis=1))
    if len(swings):
        up = loop_on(streams, world, int(swings[0])).state
        assert tracking_rewards(up, up, np.zeros((1, 3)), weights, head)[0]["stance"] == 1.0
