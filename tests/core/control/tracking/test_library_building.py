# SPDX-License-Identifier: GPL-3.0-or-later
"""Libraries made of sources: prepared once, noticed when changed, with tags that stay where they belong."""

from dataclasses import replace

import numpy as np
import pytest

from on_the_spot import walk_on_the_spot
from sinew.core.body import build_body
from sinew.core.control.tracking.library_building import (
    LIBRARY_FPS,
    LibrarySource,
    add_mirrored,
    find_mirror,
    gather_library,
    is_slowed_down,
    place_tags,
    prepare_clip,
    prepare_clips,
)
from sinew.core.errors import BadMotion
from sinew.core.motion.clip import Tag
from sinew.core.motion.plain_walk import SPEED_M_S, plain_walk


@pytest.fixture(scope="module")
def walk():
    return plain_walk(2.2)


@pytest.fixture(scope="module")
def walker(walk):
    return build_body(walk.skeleton, clip=walk)[0]


class Sources:
    """Sources that remember which of them were read."""

    def __init__(self, clip):
        self.clip, self.read = clip, []

    def source(self, name, digest="", **words):
        def read():
            self.read.append(name)
            return self.clip

        return LibrarySource(name, f"{name}.bvh", digest or name, read, **words)


def given(clip):
    return [tag for tag in clip.tags if not tag.is_proposal]


def test_a_clip_is_prepared_at_sixty_frames_a_second(walker, walk):
    floating = replace(
        walk, local_pos=walk.local_pos + [[[0.0, 0.0, 0.1]]] * (np.arange(len(walk.skeleton)) == 0)[:, None]
    )
    one = prepare_clip(walker, floating, "walk.bvh")
    assert gather_library(walker, [one]).motion.fps == LIBRARY_FPS
    assert (len(one) - 1) / LIBRARY_FPS == pytest.approx(walk.duration_s, abs=1.0 / 60.0)
    assert one.contacts.shape == (len(one), 2)
    assert 0.5 < one.contacts.mean() < 0.8
    foot = walk.skeleton.index("foot.L")
    stands = one.contacts[:, 0]
    lowest = gather_library(walker, [one]).motion.world()[0][stands, foot, 2].min()
    assert lowest == pytest.approx(walk.world()[0][:, foot, 2].min(), abs=0.02)  # back on the ground
    assert "The floor of the clip was at 9.9 cm and is now at zero" in one.origin.notes[0]
    assert [tag.name for tag in one.tags if tag.is_proposal] == ["walk"]


def test_only_what_is_new_is_prepared(walker, walk):
    files = Sources(walk)
    first = list(prepare_clips(walker, [files.source("a", styles=("walk",)), files.source("b")]))
    assert files.read == ["a", "b"]
    again = list(prepare_clips(walker, [files.source(name) for name in "abc"], first))
    assert files.read == ["a", "b", "c"]
    assert again[0].local_quat_wxyz is first[0].local_quat_wxyz
    assert given(again[0]) == [Tag("walk", 0, len(first[0]))]
    changed = list(prepare_clips(walker, [files.source("a", digest="new"), files.source("b")], again))
    assert files.read[3:] == ["a"]
    assert given(changed[0]) == given(first[0])  # what somebody gave stays


def test_tags_of_the_source_win_and_move_without_preparing_again(walker, walk):
    files = Sources(walk)
    tags = (Tag("sneak", 12, 24),)
    one = next(prepare_clips(walker, [files.source("a", tags=tags, fps=walk.fps)]))
    assert given(one) == [Tag("sneak", 29, 59)]  # from half a frame before, at 2.5 times the rate
    moved = next(prepare_clips(walker, [files.source("a", tags=(Tag("sneak", 0, 12),), fps=walk.fps)], [one]))
    assert files.read == ["a"]
    assert [tag.name for tag in given(moved)] == ["sneak"]
    assert given(moved)[0].stop == 29


def test_tags_follow_frames_that_were_trimmed_and_retimed():
    times_s = 1.0 + np.arange(60) / 60.0
    assert place_tags([Tag("a", 0, 30), Tag("b", 20, 45), Tag("c", 80, 90)], 30.0, times_s) == (Tag("b", 0, 29),)


def test_mirrored_copies_follow_their_clips(walker, walk):
    mirror = find_mirror(walker)
    assert not isinstance(mirror, str)
    clips = list(prepare_clips(walker, [Sources(walk).source("a", styles=("walk",))]))
    library = add_mirrored(gather_library(walker, clips), mirror)
    assert library.names == ("a", "a mirrored")
    assert library.mirrors.tolist() == [-1, 0]
    assert np.array_equal(library.contacts[library.frames_of(1)], library.contacts[library.frames_of(0)][:, ::-1])
    assert library.find_frames("walk").all()


def test_no_clips_and_too_short_clips_are_refused(walker, walk):
    with pytest.raises(BadMotion, match="no clips"):
        gather_library(walker, [])
    with pytest.raises(BadMotion, match="frame"):
        prepare_clip(walker, walk.frames(0, 2))


def test_a_clip_that_falls_faster_than_anything_is_slowed_down_with_its_tags(walker, walk):
    bob = np.zeros((600, 1, 3))
    bob[:, 0, 2] = 0.05 * np.cos(2.0 * np.pi * 2.8 * np.arange(600) / 60.0)
    still = replace(
        walk, local_pos=walk.local_pos[:1].repeat(600, 0), local_quat_wxyz=walk.local_quat_wxyz[:1].repeat(600, 0)
    )
    is_root = (np.arange(len(walk.skeleton)) == 0)[:, None]
    runner = replace(still, local_pos=still.local_pos + bob * is_root, tags=(Tag("hop", 60, 120),))
    slow = prepare_clip(walker, runner.with_fps(60.0))
    fast = prepare_clip(walker, runner.with_fps(120.0))
    assert len(fast) == pytest.approx(len(slow), abs=2)
    assert "again and again" in fast.origin.notes[0] and "It is played at that rate" in fast.origin.notes[0]
    assert not any("again and again" in note for note in slow.origin.notes)
    assert is_slowed_down(fast) and not is_slowed_down(slow)
    assert [(tag.start, tag.stop) for tag in given(fast)] == [(tag.start, tag.stop) for tag in given(slow)]


def test_a_cycle_on_the_spot_travels_in_a_library():
    stride = walk_on_the_spot()
    body = build_body(stride.skeleton, clip=stride)[0]
    (one,) = prepare_clips(body, [Sources(stride).source("stride", styles=("walk",))])
    library = gather_library(body, [one])
    way = library.motion.world()[0][:, 0, :2]
    speed = np.linalg.norm(way[-1] - way[0]) / ((len(one) - 1) / LIBRARY_FPS)
    assert speed == pytest.approx(SPEED_M_S, rel=0.15) and len(one) >= 5.0 * LIBRARY_FPS
    assert any("on the spot, and travels here" in note for note in one.origin.notes)
    # Where a foot is on the ground it stands, and the tag of its name is on all of it.
    foot = library.motion.world()[0][:, body.skeleton.index("foot.L"), :2]
    stands = one.contacts[1:, 0] & one.contacts[:-1, 0]
    assert np.median(np.linalg.norm(np.diff(foot, axis=0), axis=-1)[stands]) * LIBRARY_FPS < 0.1
    assert [(tag.start, tag.stop) for tag in given(one)] == [(0, len(one))]
