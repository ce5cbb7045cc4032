# SPDX-License-Identifier: GPL-3.0-or-later
"""A controller that is live: what a bake of it does, for several characters, whatever is done to them."""

from contextlib import ExitStack

import numpy as np
import pytest

from little_improvisers import make_policy
from live_sessions import assert_goes_back, moved_clip, open_learned, play_live
from sinew.core.control.bounds.bounds import bounds_of_preset, sample_widths
from sinew.core.control.bounds.controller import Controller, controller_to_arrays
from sinew.core.control.bounds.observations import observation_size
from sinew.core.control.bounds.playback import play_policy
from sinew.core.control.live.commands import BadCommand, PushBone, SetMuscle, Steer

from ....stock_clips import stock_clip


@pytest.fixture(scope="module")
def controller(body, walk):
    """One that corrects at random, a little."""
    policy = make_policy(observation_size(walk), body.nu, scale=0.002)
    return Controller(walk, sample_widths(bounds_of_preset(body, "locomotion"), walk, stock_clip("walk")), policy)


@pytest.fixture(scope="module")
def session(controller):
    clip = stock_clip("walk")
    with ExitStack() as opened:
        content = controller_to_arrays(controller)
        yield open_learned(opened, "bounds", content, clip, moved_clip(clip, [0.0, 2.0, 0.0]))


def test_undisturbed_it_is_what_a_bake_is(session, controller, walk, world_of):
    states = play_live(session, (), 60)
    film = play_policy(walk, controller.widths, controller.policy, world_of(1), stock_clip("walk"), 1.0).film
    live = np.array([session.world.pose_of(state)[0] for state in states])
    count = controller.body.nq
    # Other things on the stage change last bits, which contacts blow up.
    np.testing.assert_allclose(live[:20, :count], film.qpos[1:21], atol=1e-6)
    np.testing.assert_allclose(live[:, :count], film.qpos[1:], atol=0.1)
    # The other one does the same, two metres to the left.
    apart = live[:, count:] - live[:, :count]
    np.testing.assert_allclose(apart[:, :3], np.tile([0.0, 2.0, 0.0], (60, 1)), atol=0.02)


def test_going_back_is_the_same_as_having_been_there(session):
    bone = session.characters[0].body.links[0].bone
    assert_goes_back(session, [PushBone(10, 1, bone=bone, force=(0.0, 80.0, 0.0)), SetMuscle(30, value=0.0)], 21, 60)


def test_its_reference_comes_along_with_who_is_pushed_aside(session):
    play_live(session, (), 40)
    calm = session.characters[0].wanted().com
    bone = session.characters[0].body.links[0].bone
    play_live(session, [PushBone(2, 0, bone=bone, force=(0.0, 900.0, 0.0), frames=30)], 40)
    assert session.characters[0].wanted().com[1] > calm[1] + 0.1


def test_who_lies_lets_go_and_nobody_steers_it(session):
    play_live(session, [SetMuscle(0, value=0.0)], 150)
    assert session.characters[0].is_lost
    with pytest.raises(BadCommand, match="goes where it goes"):
        session.step([Steer(150, velocity=(1.0, 0.0))])
