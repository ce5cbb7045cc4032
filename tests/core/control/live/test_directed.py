# SPDX-License-Identifier: GPL-3.0-or-later
"""A library that is live: it is where its wish leads, and the same steering gives the same bits."""

from dataclasses import replace

import numpy as np
import pytest

from directed_walks import make_stored_walks
from sinew.core.control.direct import live_character
from sinew.core.control.direct.live_character import DirectedCharacter
from sinew.core.control.live.commands import BadCommand, SetMuscle, Steer
from sinew.core.control.live.session import LiveSession
from sinew.core.control.live_character import LiveCast
from sinew.core.control.matching.directing import Directing
from sinew.core.control.tracking_policy.environment import find_acting
from sinew.core.control.tracking_policy.learned_file import TrainedDirector
from sinew.core.sim import engines
from sinew.core.sim.stage import Character, Stage


class StillPolicy:
    """Corrects nothing: servos alone follow what is played."""

    all_joints = False

    def first_offsets(self, body, count):
        return np.zeros((count, len(find_acting(body, self.all_joints))))

    def act(self, state, offsets):
        assert np.isfinite(state.observations(offsets)).all()
        return offsets


@pytest.fixture(scope="module")
def session():
    """Two whose bodies soon fall, so what is played is not drawn along by them: it is about where it leads."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(live_character, "draw_along", lambda state, drawn: np.zeros_like(drawn))
        yield from make_session()


def make_session():
    director = TrainedDirector(make_stored_walks(), StillPolicy())
    directing = Directing(director.stored.body, director.library)
    characters = tuple(DirectedCharacter(director, directing, np.array([2.0 * n, 0.0]), n * np.pi) for n in range(2))
    stage = Stage(tuple(Character(one.body) for one in characters))
    session = LiveSession(LiveCast(stage, characters, ()), engines.get_engine("mujoco"))
    yield session
    session.close()


def drive(session, velocity, frames=120):
    session._begin_anew()
    session.moment = replace(session.moment, frame=0)
    for frame in range(frames):
        step = session.step([Steer(frame, velocity=velocity)] if frame == 10 else [])
    return step.wanted[0].com, session.moment.state.copy()


def test_what_is_played_goes_where_it_is_steered_and_the_same_is_the_same(session):
    ahead, one = drive(session, (1.3, 0.0))
    aside, other = drive(session, (0.0, 1.3), 240)
    assert ahead[0] > 0.8 and ahead[0] > 2.0 * abs(ahead[1])
    assert aside[1] > 1.0 and aside[1] > aside[0]
    again, same = drive(session, (1.3, 0.0))
    assert np.array_equal(again, ahead) and np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_going_back_is_the_same_as_having_been_there(session):
    drive(session, (1.3, 0.0), 60)
    moment = session.moment
    states = []
    for _ in range(2):
        session.go_to(moment)
        for _ in range(30):
            session.step()
        states.append(session.moment.state.copy())
    assert np.array_equal(*states)


def test_each_stands_where_it_is_put_and_is_steered_by_itself(session):
    drive(session, (0.0, 0.0), 1)
    places = [session.sense(index).qpos[:2] for index in range(2)]
    np.testing.assert_allclose(places, [[0.0, 0.0], [2.0, 0.0]], atol=0.05)
    for frame in range(240):
        step = session.step([Steer(session.frame, 1, velocity=(0.0, -1.3))] if frame == 0 else [])
    assert step.wanted[1].com[1] < -0.4 and abs(step.wanted[0].com[1]) < 0.2


def test_a_style_that_it_does_not_know_is_named(session):
    with pytest.raises(BadCommand, match="It knows no 'dance'") as caught:
        session.step([Steer(0, velocity=(1.0, 0.0), style="dance")])
    assert "walk" in caught.value.hint


def test_who_lies_is_helped_up_where_its_strength_comes_back_and_nobody_else_is(session):
    drive(session, (0.0, 0.0), 150)  # nothing keeps these bodies up
    one, other = session.characters
    assert one.moment.low and not one.helped
    lying = session.sense(0).qpos[2]
    step = session.step([SetMuscle(session.frame, 0, 1.0)])
    assert one.helped == 1.0 and not one.is_lost and other.helped == 0.0
    own = session.links_of(0)
    assert step.forces[own].sum(axis=0)[2] > 0.0 and not step.forces[session.links_of(1)].any()
    for _ in range(100):
        session.step()
    assert session.sense(0).qpos[2] > lying + 0.4
    for _ in range(60):
        step = session.step()
    assert one.helped == 0.0 and not step.forces.any()
