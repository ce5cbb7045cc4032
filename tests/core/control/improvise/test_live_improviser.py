# SPDX-License-Identifier: GPL-3.0-or-later
"""What improvises, live: noise that comes again, tasks that are steered, and who has fallen lets go."""

from contextlib import ExitStack
from dataclasses import replace

import numpy as np
import pytest

from little_improvisers import make_improviser, make_policy
from live_sessions import assert_goes_back, moved_clip, open_learned, play_live
from sinew.core.body.build import build_body
from sinew.core.control.improvise.learned_file import TaskPolicy
from sinew.core.control.live.commands import SetMuscle, Steer
from sinew.core.control.tasks.tasks_table import get_task
from sinew.core.motion.plain_walk import plain_walk


@pytest.fixture(scope="module")
def improviser():
    clip = plain_walk()
    return make_improviser(build_body(clip.skeleton, clip=clip)[0], clip)


def open_some(opened, improviser, count=2):
    clip = plain_walk()
    clips = [moved_clip(clip, [0.0, 2.0 * number, 0.0]) for number in range(count)]
    return open_learned(opened, "improvise", improviser.to_content(), *clips)


def test_each_does_something_else_and_the_same_again(improviser):
    with ExitStack() as opened:
        session = open_some(opened, improviser)
        assert_goes_back(session, [], 21, 40)
        one, other = (session.sense(index) for index in range(2))
        assert not np.array_equal(one.qpos[7:], other.qpos[7:])
        assert abs(other.qpos[1] - one.qpos[1] - 2.0) < 0.1
        assert not session.characters[0].steered


@pytest.mark.parametrize(
    ("name", "steered"),
    [("joystick", True), ("point_goal", True), ("path", False), *((name, False) for name in ("maze", "bag", "circle"))],
)
def test_a_task_sees_where_it_is_steered(improviser, name, steered):
    seen = improviser.model.state_size + get_task(name).goal_size
    policy = make_policy(seen, improviser.model.latent_size, scale=0.01)
    doing = replace(improviser, task=TaskPolicy(name, policy, 0.0))
    with ExitStack() as opened:
        session = open_some(opened, doing, 1)
        assert session.characters[0].steered == steered
        ends = [
            play_live(session, [Steer(0, velocity=way)] if steered else [], 20)[-1] for way in ((1.0, 0.0), (0.0, 1.0))
        ]
        assert np.array_equal(*ends) != steered
        assert_goes_back(session, [Steer(4, velocity=(1.0, 0.0))] if steered else [], 9, 20)


def test_who_has_fallen_lets_go(improviser):
    with ExitStack() as opened:
        session = open_some(opened, improviser, 1)
        play_live(session, [SetMuscle(0, value=0.0), SetMuscle(60, value=1.0)], 150)
        assert session.moment.wished[0] < 0.1
