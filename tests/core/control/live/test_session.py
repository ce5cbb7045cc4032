# SPDX-License-Identifier: GPL-3.0-or-later
"""A live session: what is done to it has its effect, and the same again is the same to the last bit."""

from contextlib import ExitStack

import numpy as np
import pytest

from live_sessions import QuietRun, assert_goes_back, play_live
from sinew.core.body import Shape
from sinew.core.body.poses import clip_of_pose
from sinew.core.control.live.commands import (
    BadCommand,
    BeginAnew,
    DragBone,
    DropBox,
    LiveRecording,
    MoveThing,
    PushBone,
    ReleaseBone,
    SetMuscle,
    Steer,
    ThrowBall,
)
from sinew.core.control.live.method import LiveMethod, LiveSettings, make_commands_attachment, open_session
from sinew.core.control.live.showing import BoneShower
from sinew.core.control.live.timeline import Timeline
from sinew.core.control.sampling import method as sampling
from sinew.core.control.sampling.plan import SearchEffort
from sinew.core.motion import Clip
from sinew.core.motion.plain_walk import plain_walk
from sinew.core.sim.stage_io import stage_to_arrays
from sinew.core.sim.stage_parts import Mesh, ObstaclePart, PropPart, StageParts

SETTINGS = LiveSettings(quality="draft", at_end="hold")


def short_walk():
    return plain_walk().frames(0, 30)


@pytest.fixture(scope="module")
def little_effort():
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sampling.EFFORTS, "draft", SearchEffort(24, (0.1,)))
        yield


@pytest.fixture(scope="module")
def opened(little_effort):
    with ExitStack() as stack:
        yield open_session(short_walk(), SETTINGS, QuietRun(), stack)


@pytest.fixture
def session(opened):
    session = opened[0]
    session._begin_anew()
    session.moment = session._first
    session.go_to(session.moment)
    return session


def play(session, commands, frames):
    """The states after each of so many steps."""
    states = []
    for frame in range(frames):
        session.step([command for command in commands if command.frame == frame])
        states.append(session.moment.state[0].copy())
    return np.array(states)


def root(states, session):
    return np.array([session.world.pose_of(state)[0][:3] for state in states])


def test_the_same_commands_give_the_same_bits_and_others_do_not(session):
    commands = (
        PushBone(5, bone="chest", force=(0.0, 60.0, 0.0)),
        ThrowBall(10, at=(1.0, 0.0, 1.2), velocity=(-5.0, 0.0, 1.0)),
        DropBox(12, at=(0.5, 0.0, 2.0)),
        DragBone(20, bone="forearm.L", to=(0.0, 1.0, 1.5)),
        SetMuscle(25, value=0.2),
    )
    first = play(session, commands, 40)
    session.go_to(session._first)
    assert np.array_equal(first, play(session, commands, 40))
    session.go_to(session._first)
    later = (PushBone(8, bone="chest", force=(0.0, 60.0, 0.0)), *commands[1:])
    assert not np.array_equal(first, play(session, later, 40))


def test_a_push_gives_its_impulse(session):
    calm = play(session, (), 12)
    session.go_to(session._first)
    pushed = play(session, (PushBone(0, bone="chest", force=(0.0, 90.0, 0.0), frames=6),), 12)
    away = root(pushed, session)[5, 1] - root(calm, session)[5, 1]
    mass = session.characters[0].body.mass
    # Of a thing that nothing holds it would be F t² / 2 m; feet hold some of it.
    assert 0.1 < away / (0.5 * 90.0 * 0.1**2 / mass) < 2.0


def test_who_goes_limp_sinks_and_is_told_to_have_less_strength(session):
    calm = root(play(session, (), 40), session)
    session.go_to(session._first)
    limp = root(play(session, (SetMuscle(0, value=0.0),), 40), session)
    assert limp[-1, 2] < calm[-1, 2] - 0.1
    assert session.moment.muscle[0] == pytest.approx(0.03)


def test_a_dragged_bone_comes_to_where_it_is_dragged_and_is_let_go(session):
    arm, ends = session.characters[0].body.link_of("forearm.L"), []
    begin = session.look().rows.link_pos[0, -1, arm]
    to = begin + [0.0, 0.5, 0.5]
    for commands in ([], [DragBone(0, bone="forearm.L", to=tuple(to))]):
        session.go_to(session._first)
        for frame in range(20):
            step = session.step(commands if frame == 0 else [])
        ends.append(step.rows.link_pos[0, -1, arm])
    apart = np.linalg.norm(np.array(ends) - to, axis=-1)
    assert apart[1] < 0.85 * apart[0]
    assert np.linalg.norm(step.forces) > 1.0
    assert np.linalg.norm(session.step([ReleaseBone(40)]).forces) == 0.0


def test_a_ball_flies_as_thrown_and_all_else_waits_unseen(session):
    step = session.step([ThrowBall(0, at=(3.0, 3.0, 2.0), velocity=(1.0, 0.0, 0.0))])
    assert step.shown.sum() == 1
    for _ in range(29):
        step = session.step()
    seconds = 30 / 60
    wanted = [3.0 + seconds, 3.0, 2.0 - 0.5 * 9.81 * seconds**2]
    np.testing.assert_allclose(step.rows.prop_pos[0, -1, 0], wanted, atol=0.05)


def test_when_every_ball_is_thrown_the_first_is_thrown_again(session):
    for number in range(5):
        step = session.step([ThrowBall(number, at=(float(number), 5.0, 3.0))])
    assert step.shown.sum() == 4
    assert step.rows.prop_pos[0, -1, 0, 0] == pytest.approx(4.0, abs=0.05)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (PushBone(0, bone="tail"), "'tail' has no body"),
        (DragBone(0, 3, bone="chest"), "There is no character 3"),
        (Steer(0, velocity=(1.0, 0.0)), "goes where it goes"),
    ],
)
def test_what_cannot_be_done_is_named(session, command, words):
    with pytest.raises(BadCommand, match=words):
        session.step([command])


def test_beginning_anew_is_the_beginning(session):
    play(session, (PushBone(2, bone="chest", force=(0.0, 200.0, 0.0)),), 20)
    session.step([BeginAnew(20)])
    again = session.moment.state[0]
    session.go_to(session._first)
    assert np.array_equal(again, play(session, (), 1)[0])


def test_going_back_and_on_forgets_what_was_after(session):
    timeline = Timeline(session)
    for frame in range(30):
        if frame in (3, 20):
            timeline.add(PushBone(session.frame, bone="chest", force=(0.0, 40.0, 0.0)))
        timeline.step()
    assert timeline.look_back(14).frame == 12
    assert len(timeline.commands) == 2
    timeline.go_on()
    assert [command.frame for command in timeline.commands] == [3]
    for _ in range(10):
        timeline.step()
    gone_on = session.moment.state.copy()
    session.go_to(session._first)
    assert np.array_equal(play(session, timeline.commands, 22)[-1], gone_on[0])


def test_bones_are_shown_where_a_take_has_them(opened, session):
    step = session.step()
    body, source = session.characters[0].body, opened[1][0]
    wanted = step.wanted[0]
    shown = BoneShower(body, source.skeleton).place(
        step.rows.link_pos[0, -1], step.rows.link_quat_wxyz[0, -1], wanted.local_pos, wanted.local_quat_wxyz
    )
    one = Clip(source.skeleton, 60.0, wanted.local_pos[None], wanted.local_quat_wxyz[None])
    pos, quat = clip_of_pose(body, one, step.qpos[None], 60.0, offsets="body").world()
    np.testing.assert_allclose(shown[0], pos[0], atol=1e-6)
    assert np.abs(np.sum(shown[1] * quat[0], axis=-1)).min() > 1.0 - 1e-9


def test_a_recording_is_a_take_with_everything_that_was_used(little_effort):
    commands = (PushBone(5, bone="chest", force=(0.0, 60.0, 0.0)), DropBox(8, at=(0.5, 0.0, 2.0)))
    takes = []
    for _ in range(2):
        run = QuietRun(**make_commands_attachment(LiveRecording(commands, 4, 40)))
        takes.append((LiveMethod().run(short_walk(), SETTINGS, run), run))
    (take, run), (again, other) = takes
    assert len(take.motion) == round(36 / 60 * take.motion.fps) + 1
    assert [prop.name for prop in take.props] == ["Live Box 1"]
    assert len(run.traces) == 1
    assert run.details["live"]["commands"] == 2
    assert run.details["live"]["state_sha256"] == other.details["live"]["state_sha256"]
    assert np.array_equal(take.motion.local_quat_wxyz, again.motion.local_quat_wxyz)
    assert np.array_equal(take.props[0].pos, again.props[0].pos)


@pytest.fixture(scope="module")
def furnished(little_effort):
    """A session on whose stage a block stands and a ball lies, both away from the walk."""
    corners = np.array([[x, y, z] for x in (3.0, 3.4) for y in (3.0, 3.4) for z in (0.0, 0.5)])
    faces = np.array([[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6]])
    faces = np.concatenate([faces, [[0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]])
    parts = StageParts(
        ("Hero",),
        obstacles=(ObstaclePart("Block", Mesh(corners, faces)),),
        props=(
            PropPart(
                "Stone", 2.0, np.array([-3.0, 0.0, 0.2]), shape=Shape("sphere", np.array([0.2, 0, 0]), np.zeros(3))
            ),
        ),
    )
    with ExitStack() as stack:
        yield open_session(short_walk(), SETTINGS, QuietRun(stage=stage_to_arrays(parts)), stack)[0]


def test_a_prop_that_is_moved_is_there_and_a_moved_obstacle_stands_in_the_way(furnished):
    states = play_live(furnished, (MoveThing(3, thing="Stone", by=(0.0, 2.0, 1.0)),), 6)
    place = furnished.look().rows.prop_pos[0, -1, 0]
    np.testing.assert_allclose(place, [-3.0, 2.0, 1.2], atol=0.03)
    # The stone falls onto the block once that is below it, and to the ground again where it is not.
    above = (MoveThing(0, thing="Stone", by=(0.0, 2.0, 1.0)), MoveThing(1, thing="Block", by=(-6.2, -1.2, 0.0)))
    heights = []
    for commands in (above, above[:1]):
        furnished.go_to(furnished._begin(0))
        play_live(furnished, commands, 60)
        heights.append(furnished.look().rows.prop_pos[0, -1, 0, 2])
    np.testing.assert_allclose(heights, [0.7, 0.2], atol=0.05)
    assert len(states) == 6


def test_going_back_puts_obstacles_where_they_were(furnished):
    moves = (MoveThing(2, thing="Stone", by=(3.0, 0.1, 0.0)), MoveThing(10, thing="Block", by=(-3.0, -3.2, 0.0)))
    assert_goes_back(furnished, moves, 5, 25)
    assert_goes_back(furnished, moves, 15, 25)


def test_what_is_not_there_cannot_be_moved(furnished):
    with pytest.raises(BadCommand, match="no 'Tree'") as caught:
        furnished.step([MoveThing(0, thing="Tree")])
    assert "Stone, Block" in caught.value.hint
