# SPDX-License-Identifier: GPL-3.0-or-later
"""Who is felled or let go lies, and gets up where its strength comes back: as high as before, and on its way again."""

from contextlib import ExitStack
from types import SimpleNamespace

import numpy as np
import pytest

from live_sessions import QuietRun, assert_goes_back, play_live
from sinew.core.control.live.commands import PushBone, SetMuscle
from sinew.core.control.live.method import LiveSettings, open_session
from sinew.core.control.sampling import method as sampling
from sinew.core.control.sampling.live_rising import RisingPlanner
from sinew.core.control.sampling.plan import SearchEffort
from sinew.core.motion.io.stock import load_stock

FELL = (PushBone(60, bone="chest", force=(0.0, 900.0, 0.0), frames=12),)
BACK = (*FELL, SetMuscle(200, value=1.0))


@pytest.fixture(scope="module")
def session():
    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        patch.setitem(sampling.EFFORTS, "draft", SearchEffort(48, (0.1,)))
        walk = load_stock("walk")
        yield open_session(walk, LiveSettings(quality="draft"), QuietRun(), stack)[0]


def heights(session, commands, frames):
    return np.array([session.world.pose_of(state)[0][2] for state in play_live(session, commands, frames)])


def test_who_lies_gets_up_and_goes_on_and_who_is_let_go_meanwhile_lies_again(session):
    up = heights(session, (), 2)[0]
    lying = heights(session, FELL, 420)
    assert lying[-1] < 0.4 * up and session.characters[0].is_lost
    risen = heights(session, BACK, 540)
    assert risen[190] < 0.4 * up and risen[-60:].min() > 0.85 * up
    assert not session.characters[0].is_lost
    assert session.characters[0].helped == 0.0
    before = session.look().rows.com[0, -1, 0]
    for _ in range(30):
        session.step()
    assert np.linalg.norm((session.look().rows.com[0, -1, 0] - before)[:2]) > 0.2, "it walks on"
    again = heights(session, (*BACK, SetMuscle(300, value=0.0)), 420)
    assert again[-1] < 0.5 * up and session.characters[0].is_lost


def test_nobody_is_helped_who_stands(session):
    for commands in ((), (SetMuscle(20, value=0.5), SetMuscle(30, value=1.0))):
        session.go_to(session._begin(0))
        for frame in range(50):
            step = session.step([command for command in commands if command.frame == frame])
            assert not step.forces.any()


def test_going_back_while_it_gets_up_is_the_same(session):
    assert_goes_back(session, BACK, 290, 330)


def test_a_body_that_no_key_poses_fit_goes_straight_to_its_clip(session):
    character = session.characters[0]
    reference = character._follower.plan.reference
    planner = RisingPlanner(reference, None, None)
    planner._may = np.zeros(0, dtype=np.int64)
    lying = reference.qpos[0].copy()
    lying[:3], lying[3:7] = (3.0, 2.0, 0.1), (0.5**0.5, 0.5**0.5, 0.0, 0.0)
    rising = planner.plan(lying, 20)
    assert rising.rejoins == 18
    np.testing.assert_allclose(rising.pos[0, 0], lying[:3], atol=1e-9)
    np.testing.assert_allclose(rising.pos[-1, 0, :2], (3.0, 2.0), atol=1e-9)
    np.testing.assert_allclose(rising.pos[-1, 0, 2], reference.qpos[18, 2], atol=1e-9)
    follower = SimpleNamespace(turn=rising.turn, way=rising.way)
    assert np.isfinite(follower.way).all() and abs(follower.turn) <= np.pi
