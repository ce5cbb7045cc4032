# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion matching: what is compared, what is found, and where that goes."""

import numpy as np
import pytest

from directed_walks import make_walks, walks_clips
from sinew.core.control.matching.artificial_user import ArtificialUser
from sinew.core.control.matching.database import MatchingDatabase, MatchingWeights
from sinew.core.control.matching.directing import Directing
from sinew.core.control.matching.features import AHEAD, FACING, FEET_POS, FPS, HIP_VEL, PATH
from sinew.core.control.matching.guides import StickGuide, WishGuide
from sinew.core.control.matching.inertialisation import make_clip
from sinew.core.control.matching.matching import SEARCH_FRAMES, MotionMatching
from sinew.core.control.matching.search import FrameSearch
from sinew.core.control.matching.springs import damping_of, decay_offset, decay_rate, fade, fade_integral
from sinew.core.control.matching.wish import Wish
from sinew.core.errors import BadMotion, BadSettings
from sinew.core.motion.library import make_library
from sinew.core.motion.plain_walk import SPEED_M_S

CORNERS = np.array([(0.0, 0.0), (3.0, 0.0), (3.0, 3.0), (6.0, 3.0)])


@pytest.fixture(scope="module")
def walks():
    return make_walks()


@pytest.fixture(scope="module")
def database(walks):
    return MatchingDatabase(walks[1], walks[0])


@pytest.fixture(scope="module")
def directing(walks):
    return Directing(walks[1], walks[0])


def raw(database):
    return database.features / np.where(database.scale > 0, database.scale, 1.0) + database.mean


def test_features_of_a_straight_walk_are_its_speed_and_its_way(walks, database):
    middle = slice(60, 120)
    found = raw(database)[middle]
    np.testing.assert_allclose(found[:, HIP_VEL.start], SPEED_M_S, atol=0.1)
    for column, frames in zip(range(PATH.start, PATH.stop, 2), AHEAD, strict=True):
        np.testing.assert_allclose(found[:, column], SPEED_M_S * frames / FPS, atol=0.05)
        np.testing.assert_allclose(found[:, column + 1].mean(), 0.0, atol=0.03)
    np.testing.assert_allclose(found[:, FACING.start], 1.0, atol=0.02)
    left, right = found[:, FEET_POS][:, 1], found[:, FEET_POS][:, 4]
    assert (left > 0.03).all() and (right < -0.03).all()


def test_beyond_its_end_a_clip_goes_on_as_it_went(walks, database):
    library, _ = walks
    arc = library.names.index("arc +1")
    last = raw(database)[int(library.starts[arc + 1]) - 22]
    turned = np.arctan2(last[FACING][1::2], last[FACING][::2])
    # An arc of 1 rad/s; hips turn to and fro with each step, so it cannot be more exact.
    np.testing.assert_allclose(turned, np.array(AHEAD) / FPS, rtol=0.4)
    reach = np.hypot(last[PATH][::2], last[PATH][1::2])
    np.testing.assert_allclose(reach, SPEED_M_S * np.array(AHEAD) / FPS, rtol=0.15)


def test_weights_scale_their_features(walks, database):
    library, body = walks
    heavier = MatchingDatabase(body, library, MatchingWeights(path=6.0))
    ratio = heavier.features[:, PATH] / database.features[:, PATH]
    np.testing.assert_allclose(ratio[np.isfinite(ratio)], 2.0, rtol=1e-4)
    assert np.array_equal(heavier.features[:, FEET_POS], database.features[:, FEET_POS])


@pytest.mark.parametrize("share", [0.0, 0.3, 3.0])
def test_every_search_finds_what_comparing_all_frames_finds(share):
    rng = np.random.default_rng(3)
    points = np.cumsum(rng.normal(size=(1003, 27)), axis=0) * 0.3  # runs of frames that are alike
    search = FrameSearch(points)
    for _ in range(40):
        known = int(rng.integers(len(points)))
        query = (points[known] + share * rng.normal(size=27)).astype(np.float32)
        distances = ((points - query) ** 2).sum(-1)
        bound = float(distances[known])
        place, distance = search.find_nearest(query, bound)
        if place < 0:
            assert distances.min() >= bound * (1 - 1e-4) - 1e-3
        else:
            assert distances[place] == pytest.approx(distances.min(), rel=1e-3, abs=2e-2)
            assert distance == pytest.approx(distances[place], rel=1e-2, abs=5e-2)
        anywhere, _ = search.find_nearest(query)
        every, _ = search.find_all_nearest(np.stack([query, query]))
        assert anywhere == every[0] == every[1]
        assert distances[anywhere] == pytest.approx(distances.min(), rel=1e-3, abs=2e-2)


def test_springs_are_what_they_integrate_to():
    t = np.linspace(0.0, 1.0, 100_001)
    damping = damping_of(0.2)
    steps = 0.5 * (fade(damping, t)[1:] + fade(damping, t)[:-1]) * np.diff(t)
    assert fade_integral(damping, t[-1:])[0] == pytest.approx(steps.sum(), rel=1e-6)
    offset = decay_offset(np.array(0.3), np.array(-2.0), damping, t)
    np.testing.assert_allclose(np.diff(offset) / np.diff(t), decay_rate(0.3, -2.0, damping, t[1:] - 5e-6), atol=1e-3)
    assert offset[0] == 0.3 and abs(offset[-1]) < 0.01


def test_a_path_with_corners_is_followed(directing):
    wish = Wish(np.full(420, 1.05), CORNERS, styles=(("walk",),))
    made = directing.make_motion(wish, np.random.default_rng(0))
    path = WishGuide(wish).path
    away = np.linalg.norm(made.played.pos[0][:, None] - path.points[None], axis=-1).min(axis=-1)
    assert away.mean() < 0.15 and away.max() < 0.6
    assert np.linalg.norm(made.played.pos[0, -1] - CORNERS[2]) < 3.0  # it came around both corners
    assert made.played.pos[0, -1, 1] > 2.0


def test_only_frames_of_the_wished_style_are_played(directing, walks):
    library, _ = walks
    wish = Wish(np.full(300, 1.05), CORNERS, styles=(("turn",), ("walk",)), style=np.repeat([0, 1], 150))
    frame = directing.make_motion(wish, np.random.default_rng(0)).played.frame[0]
    assert library.find_frames("turn")[frame[:150]].all()
    assert library.find_frames("walk")[frame[151:]].all()


def test_a_changed_wish_is_answered_at_once(walks):
    directing = Directing(walks[1], walks[0], MatchingWeights(path=10.0))
    speed = np.where(np.arange(240) < 123, 1.05, 1.575)
    wish = Wish(speed, np.array([(0.0, 0.0), (20.0, 0.0)]))
    assert wish.find_changes().tolist() == [123]
    made = directing.make_motion(wish, np.random.default_rng(0))
    jumps = np.flatnonzero(np.diff(made.played.frame[0]) != 1) + 1
    assert 123 in jumps
    assert all(jump == 123 or jump % SEARCH_FRAMES == 0 for jump in jumps)  # else every tenth frame
    going = np.diff(made.played.pos[0, :, 0]) * FPS
    assert going[60:120].mean() == pytest.approx(1.05, abs=0.1) and going[200:].mean() == pytest.approx(1.575, abs=0.15)


def test_transitions_do_not_jump(directing, walks):
    wish = Wish(np.full(420, 1.05), CORNERS, styles=(("walk",),))
    made = directing.make_motion(wish, np.random.default_rng(0), lock=False)
    assert made.transitions >= 2
    step = np.linalg.norm(np.diff(made.motion.world()[0], axis=0), axis=-1).max(axis=-1)
    own = max(np.linalg.norm(np.diff(clip.world()[0], axis=0), axis=-1).max() for clip in walks[0])
    assert step.max() < 1.3 * own
    turn = np.abs(np.diff(np.unwrap(made.played.yaw[0]))).max() * FPS
    assert turn < 4.0


def test_clips_are_left_before_they_end(directing, walks):
    library, _ = walks
    wish = Wish(np.full(1200, 1.05), np.array([(0.0, 0.0), (40.0, 0.0)]), styles=(("walk",),))
    frame = directing.make_motion(wish, np.random.default_rng(0)).played.frame[0]
    assert (np.diff(frame) != 0).all()  # no last frame is held
    assert len(frame) > 4 * np.diff(library.starts).max()


def test_who_arrives_stands_where_the_path_ends(directing):
    wish = Wish(np.full(480, 1.05), np.array([(0.0, 0.0), (3.0, 0.0)]), styles=(("walk",),))
    made = directing.make_motion(wish, np.random.default_rng(0))
    late = made.played.pos[0, -120:]
    assert np.linalg.norm(late - [3.0, 0.0], axis=-1).max() < 0.6
    assert np.linalg.norm(np.diff(late, axis=0), axis=-1).max() * FPS < 0.15
    assert any(finding.kind == "path" and "reached" in finding.message for finding in made.findings)


def test_who_is_to_stand_stands_for_a_minute_and_goes_on_when_told(directing, walks):
    speed = np.where(np.arange(3900) < 3600, 0.0, 1.05)
    made = directing.make_motion(Wish(speed, np.array([(0.0, 0.0), (9.0, 0.0)])), np.random.default_rng(0))
    stood = made.motion.world()[0][:3600]
    assert np.linalg.norm(stood - stood[0], axis=-1).max() < 0.05
    assert walks[0].find_frames("idle")[made.played.frame[0, :3600]].all()
    assert made.played.pos[0, -1, 0] > 3.0


def test_a_frame_that_is_held_comes_to_a_stop_without_a_jerk(database):
    frames = np.minimum(np.arange(40, 100), 70)
    still = database.track.pos[frames] * 0.0
    pos = make_clip(database, frames, still, 0.0 * still[:, 0]).world()[0]
    step = np.linalg.norm(np.diff(pos, axis=0), axis=-1).max(axis=-1)
    going = step[20:30].mean()
    assert step[30] > 0.5 * going and step[-1] < 0.05 * going  # it runs out over the first frames


def test_the_same_seed_makes_the_same_motion(directing):
    wish = Wish(np.full(120, 1.05), CORNERS)
    first, again, other = (directing.make_motion(wish, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert np.array_equal(first.motion.local_quat_wxyz, again.motion.local_quat_wxyz)
    assert not np.array_equal(first.motion.local_quat_wxyz, other.motion.local_quat_wxyz)


def test_many_characters_are_directed_at_once_as_each_would_be_alone(database):
    velocity, heading = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([0.0, np.pi / 2])
    together = MotionMatching(
        database, StickGuide(velocity, heading, np.zeros(2)), [30, 400], np.zeros((2, 2)), np.array([0.0, 1.0])
    ).advance(90)
    for one in range(2):
        here = slice(one, one + 1)
        guide = StickGuide(velocity[here], heading[here], np.zeros(1))
        alone = MotionMatching(database, guide, [[30, 400][one]], np.zeros((1, 2)), np.array([[0.0, 1.0][one]]))
        played = alone.advance(90)
        assert np.array_equal(played.frame[0], together.frame[one])
        np.testing.assert_allclose(played.pos[0], together.pos[one], atol=1e-9)
    assert together.pos[0, -1, 0] > 1.0 and together.pos[1, -1, 1] > 0.4


def test_an_artificial_user_changes_its_mind_and_is_followed(database):
    user = ArtificialUser(8, np.random.default_rng(5), styles=((), ("walk",)), most_m_s=1.5, chance=0.02)
    matching = MotionMatching(database, user, np.full(8, 30), np.zeros((8, 2)), np.zeros(8))
    played = matching.advance(600)
    assert user.events > 20 and np.isfinite(played.pos).all()
    again = ArtificialUser(8, np.random.default_rng(5), styles=((), ("walk",)), most_m_s=1.5, chance=0.02)
    same = MotionMatching(database, again, np.full(8, 30), np.zeros((8, 2)), np.zeros(8)).advance(600)
    assert np.array_equal(same.frame, played.frame) and np.array_equal(same.pos, played.pos)


def test_poses_of_a_clip_played_from_its_place_are_the_clip(database, walks):
    library, _ = walks
    frames = np.arange(10, 100)
    clip = make_clip(database, frames, database.track.pos[frames], database.track.heading[frames])
    np.testing.assert_allclose(clip.world()[0], library.motion.world()[0][frames], atol=1e-9)


def test_what_the_library_cannot_do_is_refused_with_what_it_can(directing, walks):
    rng = np.random.default_rng(0)
    with pytest.raises(BadSettings, match=r"no style 'dance'.*fast, idle, start, turn, walk"):
        directing.make_motion(Wish(np.full(60, 1.0), CORNERS, styles=(("dance",),)), rng)
    with pytest.raises(BadSettings, match=r"4 m/s were asked for.*fastest motion of style 'walk' goes 1\.\d m/s"):
        directing.make_motion(Wish(np.full(60, 4.0), CORNERS, styles=(("walk",),)), rng)
    library, body = walks
    short = make_library([clip.frames(0, 50) for clip in walks_clips()[:2]])
    with pytest.raises(BadMotion, match=r"longer than the 1 s.*Add longer clips"):
        Directing(body, short)
    mixed = Directing(body, make_library([library.clip(0), walks_clips()[1].frames(0, 50)]))
    made = mixed.make_motion(Wish(np.full(60, 1.0), CORNERS), rng)
    assert any("shorter than" in finding.message and "arc -2" in finding.message for finding in made.findings)
    slow = library.clip(0).resample(30.0)
    with pytest.raises(BadMotion, match="30 frames a second"):
        Directing(body, make_library([slow]))


def test_a_library_of_one_clip_goes_as_far_as_it_can(walks):
    """It has no turn: it is bent a little, and plays on and on."""
    library, body = walks
    alone = Directing(body, make_library([library.clip(0)]))
    made = alone.make_motion(Wish(np.full(420, 1.05), np.array([(0.0, 0.0), (9.0, 0.0)])), np.random.default_rng(0))
    assert set(alone.database.clip_of[made.played.frame[0]]) == {0} and made.transitions >= 1
    assert made.played.pos[0, -1, 0] > 4.0 and np.abs(made.played.pos[0, :, 1]).max() < 0.5
