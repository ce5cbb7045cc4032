# SPDX-License-Identifier: GPL-3.0-or-later
"""Who lies gets up as a clip of the library does: it is found by how the body lies, and the wish goes on from there."""

from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from directed_policies import make_idle_controller
from directed_walks import make_stored_walks, stand, walks_clips
from sinew.core.body.foot_contacts import find_foot_contacts
from sinew.core.body.poses import pose_of_clip
from sinew.core.control.matching.directing import Directing
from sinew.core.control.matching.getups import GetUpLibrary, find_lying_clips
from sinew.core.control.matching.rejoining import rejoin_wish
from sinew.core.control.matching.wish import Wish
from sinew.core.control.tracking.library_building import PreparedClip
from sinew.core.control.tracking_policy import recovery, whole_play
from sinew.core.control.tracking_policy.learned_file import choose_clips
from sinew.core.control.tracking_policy.matching_streams import can_be_held, make_clip_streams
from sinew.core.control.tracking_policy.playing import FALLEN_M
from sinew.core.control.tracking_policy.recovery import make_recovery_search
from sinew.core.control.tracking_policy.reference_streams import make_streams
from sinew.core.control.tracking_policy.stream_recording import play_stream
from sinew.core.control.tracking_policy.whole_play import GettingUp
from sinew.core.geometry.quaternions import from_rotation_vector, multiply, rotate
from sinew.core.motion import Clip
from sinew.core.motion.library import ClipOrigin
from sinew.core.sim import engines
from sinew.core.sim.stage import Character, Stage

LIES, RISES, STANDS = 40, 60, 100
LYING = 30


def make_get_up():
    """Lies on its back, and is raised about its heels like a plank; then it stands on."""
    still = stand(walks_clips()[0])
    count = LIES + RISES + STANDS
    pos, quat = (np.repeat(array[:1], count, axis=0) for array in still.world())
    angle = -0.47 * np.pi * np.clip(1.0 - (np.arange(count) - LIES) / RISES, 0.0, 1.0)
    turn = from_rotation_vector(angle[:, None] * [0.0, 1.0, 0.0])
    pos = rotate(turn[:, None], pos)
    pos[..., 2] += 0.12 - np.minimum(pos[..., 2].min(axis=1, keepdims=True), 0.12)
    return Clip.from_world(still.skeleton, 60.0, pos, multiply(turn[:, None], quat), "get up")


@pytest.fixture(scope="module")
def stored():
    whole, get_up = make_stored_walks(), make_get_up()
    contacts = find_foot_contacts(whole.body, get_up)
    parts = get_up.local_pos, get_up.local_quat_wxyz, contacts, np.arange(len(get_up)) / 60.0
    return replace(whole, clips=(*whole.clips, PreparedClip(get_up.name, *parts, (), ClipOrigin())))


@pytest.fixture(scope="module")
def directing(stored):
    return Directing(stored.body, stored.library)


def lying_pose(directing, yaw, place):
    """The pose of a frame of the get-up, turned about Z and put elsewhere."""
    library = directing.database.library
    clip = library.clip(library.names.index("get up"))
    qpos = pose_of_clip(directing.database.body, clip)[0][LYING].copy()
    qpos[:2] = place
    qpos[3:7] = multiply(from_rotation_vector(np.array([0.0, 0.0, yaw])), qpos[3:7])
    return qpos


def test_nobody_walks_over_into_lying(directing):
    database = directing.database
    first = int(database.library.starts[database.library.names.index("get up")])
    lying = np.flatnonzero(database.grounded)
    assert lying[0] == first and LIES < len(lying) < LIES + RISES
    assert not np.isin(database.candidates().frames, lying).any()
    assert np.isin(first + LIES + RISES + 20, database.candidates().frames)
    assert not database.grounded[: int(database.library.starts[-2])].any()
    chosen = np.arange(len(database.library))
    assert len(make_clip_streams(directing, database.body, chosen).starts) < len(chosen) + 1
    assert not any(can_be_held(database, name) for name in database.library.tag_names() if name == "get up")


def test_clips_that_lie_are_kept_for_who_may_fall(stored):
    names = [clip.name for clip in choose_clips(stored, (("walk",),), "idle", get_ups=True).clips]
    assert "get up" in names
    assert names[:-1] == [clip.name for clip in choose_clips(stored, (("walk",),), "idle").clips]
    assert find_lying_clips(stored.body, stored.clips).tolist() == [clip.name == "get up" for clip in stored.clips]


def test_the_get_up_is_found_that_lies_as_the_body_does(directing):
    database = directing.database
    found = GetUpLibrary(database.body, database.library, database.grounded).match(lying_pose(directing, 1.3, (2, 3)))
    first = int(database.library.starts[database.library.names.index("get up")])
    assert first <= found.frame < first + LIES and found.apart_m < 1e-6  # all frames of lying are the same
    assert found.yaw == pytest.approx(1.3) and found.place == pytest.approx([2, 3])
    assert found.stop == np.flatnonzero(database.grounded)[-1] + 1


def test_without_a_get_up_there_is_none(stored):
    plain = replace(stored, clips=stored.clips[:2])
    database = Directing(plain.body, plain.library).database
    assert not database.grounded.any()
    assert not GetUpLibrary(database.body, database.library, database.grounded)


def test_a_wish_goes_on_from_where_the_body_lies(directing):
    wish = Wish(np.full(900, 1.05), np.array([(0.0, 0.0), (9.0, 0.0)]), styles=(("walk",),))
    made = directing.make_motion(wish, np.random.default_rng(0))
    qpos = lying_pose(directing, 0.4, (3.0, 0.3))
    plan = rejoin_wish(directing, wish, made).plan(qpos, 240, 600)
    assert plan.clip == "get up" and len(plan.motion) == len(plan.contacts) == 600
    poses = pose_of_clip(directing.database.body, plan.motion)[0]
    np.testing.assert_allclose(poses[0], qpos, atol=1e-6)
    # It never jumps, stands where it says, and walks on along the path from there.
    assert np.linalg.norm(np.diff(poses[:, :3], axis=0), axis=-1).max() < 0.06
    assert poses[plan.stands :, 2].min() > 0.7 > poses[plan.stands - 30, 2]
    assert not plan.contacts[: plan.stands].any()
    assert poses[plan.stands, 0] < 4.0 and poses[-1, 0] > 5.0 and abs(poses[-1, 1]) < 0.2


def play_fallen(directing, frames, *, tries_again):
    """A policy that does nothing walks, falls, and is to get up; (recording, motion)."""
    body = directing.database.body
    wish = Wish(np.full(frames, 1.05), np.array([(0.0, 0.0), (9.0, 0.0)]), styles=(("walk",),))
    made = directing.make_motion(wish, np.random.default_rng(0))
    streams = make_streams(body, [made.motion], [directing.contacts[made.played.frame[0]]])

    def world_of(copies):
        return closing(engines.get_engine("mujoco").compile(Stage((Character(body),)), copies))

    with world_of(1) as world, world_of(6) as searching:
        getting_up = GettingUp(rejoin_wish(directing, wish, made), searching, np.random.default_rng(0))
        controller = make_idle_controller(streams)
        search = make_recovery_search(controller, streams, searching, 0) if tries_again else None
        return play_stream(controller, streams, made.motion, world, search=search, getting_up=getting_up)


def test_who_falls_lies_and_tries_to_get_up_without_being_put_anywhere(directing):
    """Nobody rises like a plank, but it is tried, and told."""
    frames = 361
    found = play_fallen(directing, frames, tries_again=False)
    film, subject = found.film, found.subject
    assert len(film) == len(subject.wanted_pos) == len(subject.source) == len(subject.muscle) == frames
    (first, stop), *_ = subject.limp
    assert stop - first > 60 and (subject.muscle[first:stop] < 0.1).all() and subject.muscle[stop] == 1.0
    fell = found.falls[0].fell
    assert found.apart_m[fell - 1] > FALLEN_M and first == 2 * fell + 1
    # From when it tries, what is wanted begins as it lies; and the body is nowhere put.
    assert np.linalg.norm(subject.wanted_pos[stop, 0] - film.rows.link_pos[0, stop, 0]) < 0.05
    assert np.linalg.norm(np.diff(film.qpos[:, :3], axis=0), axis=-1).max() < 0.15


def test_who_is_back_goes_on_to_the_end_and_falls_again(directing, monkeypatch):
    """As if it had got up: then the policy goes on from there, and other ways are searched for, to the last step."""
    monkeypatch.setattr(whole_play, "_LOST_M", 100.0)
    monkeypatch.setattr(whole_play, "_LEAST_REST_S", 0.3)
    monkeypatch.setattr(whole_play, "_MOST_REST_S", 0.3)
    monkeypatch.setattr(recovery, "_FALLEN", replace(recovery._FALLEN, rounds=1, back_s=(0.5,)))
    monkeypatch.setattr(recovery, "_STRAYED", replace(recovery._STRAYED, rounds=1, back_s=(0.5,)))
    found = play_fallen(directing, 481, tries_again=True)
    assert len(found.film) == len(found.subject.wanted_pos) == 481 and found.searches
    first = found.falls[0]
    assert first.clip == "get up" and first.fell < first.back < 240
    assert (found.subject.away[0][0] - 1) // 2 == first.fell
