# SPDX-License-Identifier: GPL-3.0-or-later
"""What a character is told: paths, goals, facing, styles, and what is wrong with them."""

import numpy as np
import pytest

from directed_walks import make_walks, tagged, walks_clips
from sinew.core.body.build import build_body
from sinew.core.control.matching.directing import Directing
from sinew.core.control.matching.ground_path import make_path
from sinew.core.control.matching.guides import RootState, WishGuide
from sinew.core.control.matching.stopping import find_stopping_styles
from sinew.core.control.matching.styles import parse_styles
from sinew.core.control.matching.wish import Wish, wish_from_arrays
from sinew.core.control.tracking.library_building import PreparedClip
from sinew.core.control.tracking.library_files import StoredLibrary
from sinew.core.control.tracking_policy.learned_file import choose_clips
from sinew.core.errors import BadSettings, JobError
from sinew.core.motion import Clip
from sinew.core.motion.library import ClipOrigin, make_library
from sinew.core.motion.plain_walk import plain_walk
from sinew.core.motion.time_warp import warp_clip

SPEED = np.full(240, 1.0)


@pytest.fixture(scope="module")
def stopping_walks():
    """(library, body): walks, of which one comes to a stand."""
    walk = plain_walk(4.4, 60.0)
    slower = warp_clip(walk, np.cumsum(np.clip(1.5 - np.arange(180) / 60.0, 0.0, 1.0)) / 60.0)
    halt = tagged(Clip(walk.skeleton, 60.0, slower.local_pos, slower.local_quat_wxyz, "halt"), "halt")
    clips = [*walks_clips(), halt]
    return make_library(clips), build_body(clips[0].skeleton, clip=clips[0])[0]


def test_a_path_of_no_length_is_refused():
    for points in ([(1.0, 1.0), (1.0, 1.0)], [(0.0, 0.0), (0.01, 0.0)]):
        with pytest.raises(BadSettings, match=r"only 0\.0\d m long"):
            make_path(np.array(points))
    with pytest.raises(BadSettings, match="not a number"):
        make_path(np.array([(0.0, 0.0), (np.nan, 1.0)]))


def test_a_path_is_gone_along_and_never_back():
    path = make_path(np.array([(0.0, 0.0), (2.0, 0.0), (2.0, 2.0)]))
    assert path.length_m == pytest.approx(4.0, abs=0.02) and not path.cusps
    assert path.progress(np.array([1.0, 0.3]), 0.5, 1.0) == pytest.approx(1.0, abs=0.03)
    assert path.progress(np.array([0.0, 0.0]), 1.0, 1.0) == pytest.approx(1.0)
    np.testing.assert_allclose(path.points[path.index_at(np.array([99.0]))], [[2.0, 2.0]], atol=1e-9)
    ring = make_path(np.array([(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0), (0.0, 0.0)]), closed=True)
    np.testing.assert_allclose(ring.points[ring.index_at(np.array([5.0]))], [[1.0, 0.0]], atol=0.03)


def test_a_cusp_is_walked_to_and_back_from_and_told():
    library, body = make_walks()
    there = np.array([(0.0, 0.0), (3.0, 0.0), (0.0, 0.0)])
    path = make_path(there)
    assert path.cusps == pytest.approx((3.0,)) and np.isfinite(path.ahead).all()
    made = Directing(body, library).make_motion(Wish(np.full(720, 1.05), there), np.random.default_rng(0))
    reach = made.played.pos[0, :, 0]
    assert reach.max() > 2.2 and reach[-1] < 1.0  # it went there, turned as tightly as it can, and came back
    assert any("turns back on itself 3.0 m from its beginning" in finding.message for finding in made.findings)


def test_a_goal_is_gone_to_and_slowed_down_for():
    wish = Wish(SPEED, goal=np.tile([2.0, 0.0], (240, 1)))
    guide = WishGuide(wish)
    far = guide.predict(0, RootState(np.zeros((1, 2)), np.zeros(1), np.array([[1.0, 0.0]])))
    near = guide.predict(10, RootState(np.array([[1.9, 0.0]]), np.zeros(1), np.zeros((1, 2))))
    np.testing.assert_allclose(far[0][0, -1], [1.0, 0.0], atol=1e-9)
    np.testing.assert_allclose(near[0][0, -1], [1.9, 0.0], atol=1e-9)


def test_facing_is_along_to_an_object_or_keyed():
    line, state = np.array([(0.0, 0.0), (9.0, 0.0)]), RootState(np.zeros((1, 2)), np.zeros(1), np.array([[1.0, 0.0]]))
    along = WishGuide(Wish(SPEED, line)).predict(0, state)[1]
    np.testing.assert_allclose(along[0], [[1.0, 0.0]] * 3, atol=1e-9)
    looks = WishGuide(Wish(SPEED, line, look_at=np.tile([0.0, 50.0], (240, 1)))).predict(0, state)[1]
    assert looks[0, -1, 1] > 0.95
    keyed = WishGuide(Wish(SPEED, line, heading=np.full(240, -np.pi / 2))).predict(0, state)[1]
    assert keyed[0, -1, 1] < -0.95
    assert WishGuide(Wish(SPEED, line, heading=np.full(240, np.pi / 2))).start()[1] == pytest.approx(np.pi / 2)


def test_styles_come_one_after_the_other():
    styles, style = parse_styles("walk 1, run+turn 0.5, crouch", 180)
    assert styles == (("walk",), ("run", "turn"), ("crouch",))
    assert [int((style == index).sum()) for index in range(3)] == [60, 30, 90]
    assert parse_styles(" ", 10)[0] == ((),)
    assert parse_styles("front kick", 10)[0] == (("front kick",),)
    with pytest.raises(BadSettings, match="'walk' does not say for how long"):
        parse_styles("walk, run", 60)


def test_a_wish_travels_as_arrays():
    wish = Wish(SPEED, np.array([(0, 0), (1, 1)]), False, None, np.full(240, np.nan), None, (("walk",), ()), SPEED > 2)
    again = wish_from_arrays(*wish.to_arrays())
    assert again.styles == wish.styles and np.array_equal(again.path, wish.path) and again.look_at is None
    arrays, meta = wish.to_arrays()
    with pytest.raises(JobError, match="not whole"):
        wish_from_arrays({name: array for name, array in arrays.items() if name != "style"}, meta)


def test_what_is_no_wish_is_refused():
    line = np.array([(0.0, 0.0), (1.0, 0.0)])
    with pytest.raises(BadSettings, match="nowhere to go"):
        Wish(SPEED)
    with pytest.raises(BadSettings, match="speed is not a number"):
        Wish(-SPEED, line)
    with pytest.raises(BadSettings, match="style for every frame"):
        Wish(SPEED, line, style=np.full(240, 3))


def test_who_comes_to_a_stand_may_play_what_stops(stopping_walks):
    """Whatever its style: clips of walking have no step to stop with."""
    library, body = stopping_walks
    directing = Directing(body, library)
    wish = Wish(np.full(480, 1.05), np.array([(0.0, 0.0), (4.0, 0.0)]), styles=(("walk",),))
    assert find_stopping_styles(directing.database, ("walk",)) == ("halt",)
    assert find_stopping_styles(directing.database, ()) == () == find_stopping_styles(directing.database, ("halt",))
    made = directing.make_motion(wish, np.random.default_rng(0))
    halts = library.find_frames("halt")[made.played.frame[0]]
    assert halts.any() and not halts[:120].any()  # two seconds before its end nobody stops
    assert np.linalg.norm(made.played.pos[0, -60:] - [4.0, 0.0], axis=-1).max() < 0.8


def test_clips_that_stop_are_kept_where_only_a_style_is_asked_for(stopping_walks):
    library, body = stopping_walks
    clips = tuple(
        PreparedClip(clip.name, clip.local_pos, clip.local_quat_wxyz, np.zeros((len(clip), 2), bool),
                     np.arange(len(clip)) / 60.0, clip.tags, ClipOrigin())
        for clip in library
    )  # fmt: skip
    stored = StoredLibrary(body, clips, mirror=False)
    kept = {clip.name for clip in choose_clips(stored, (("walk",),), "idle").clips}
    assert {"straight", "halt", "stand"} <= kept and "fast 1.5" not in kept
