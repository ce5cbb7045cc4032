# SPDX-License-Identifier: GPL-3.0-or-later
"""Libraries: clips with ranges, tags that say which frames, and files that are whole or refused."""

from dataclasses import replace

import numpy as np
import pytest

from sinew.core.errors import BadFile, BadMotion
from sinew.core.motion.clip import Tag
from sinew.core.motion.library import ClipOrigin, Library, library_from_arrays, make_library, tag_frames
from sinew.core.motion.plain_walk import plain_walk


def walk(name, frames, *tags):
    return replace(plain_walk().frames(0, frames), name=name, tags=tags)


@pytest.fixture
def library():
    """Three clips; the last is said to be the mirror image of the first."""
    clips = [walk("a", 10, Tag("walk", 2, 6)), walk("b", 7, Tag("idle", 0, 7, True)), walk("c", 10, Tag("walk", 2, 6))]
    contacts = [np.arange(2 * len(clip)).reshape(-1, 2) % 3 == 0 for clip in clips]
    origins = [ClipOrigin(f"{clip.name}.bvh", "abc", ("Feet were held",)) for clip in clips]
    words = {"feet": ("foot.L", "foot.R"), "mirrors": np.array([-1, -1, 0]), "origins": tuple(origins)}
    return replace(make_library(clips), contacts=np.concatenate(contacts), **words)


def test_clips_are_where_they_are_said_to_be(library):
    assert library.starts.tolist() == [0, 10, 17, 27]
    assert library.clip_of_frame()[[0, 9, 10, 16, 17]].tolist() == [0, 0, 1, 1, 2]
    assert np.array_equal(library.clip(1).local_pos, library.motion.local_pos[10:17])
    assert library.clip(0).tags == (Tag("walk", 2, 6),)
    assert library.mirrored.tolist() == [False, False, True]
    assert library.duration_s == pytest.approx(24 / library.motion.fps)


def test_a_tag_is_a_mask_over_all_frames(library):
    assert np.flatnonzero(library.find_frames("walk")).tolist() == [2, 3, 4, 5, 19, 20, 21, 22]
    assert not library.find_frames("run").any()
    assert library.tag_names() == ("idle", "walk")


def test_proposals_count_until_somebody_has_given_that_tag(library):
    assert np.flatnonzero(library.find_frames("idle")).tolist() == list(range(10, 17))
    given = replace(library, tags=((*library.tags[0], Tag("idle", 8, 9)), *library.tags[1:]))
    assert np.flatnonzero(given.find_frames("idle")).tolist() == [8]


def test_what_is_written_is_read(library):
    again = library_from_arrays(*library.to_arrays())
    assert (again.names, again.feet, again.tags, again.origins) == (
        library.names,
        library.feet,
        library.tags,
        library.origins,
    )
    for name in ("starts", "contacts", "mirrors"):
        assert np.array_equal(getattr(again, name), getattr(library, name))
    assert np.array_equal(again.motion.local_quat_wxyz, library.motion.local_quat_wxyz)


def test_a_library_without_tags_and_contacts_is_read(library):
    arrays, meta = library.to_arrays()
    arrays = {name: array for name, array in arrays.items() if name not in ("contacts", "mirrors")}
    meta = {key: value for key, value in meta.items() if key not in ("library_format", "feet", "clip_tags", "origins")}
    old = library_from_arrays(arrays, meta)
    assert old.contacts.shape == (27, 0)
    assert not old.mirrored.any()
    assert old.tags == ((), (), ())


def test_what_is_no_library_is_refused(library):
    arrays, meta = library.to_arrays()
    with pytest.raises(BadFile, match="newer Sinew"):
        library_from_arrays(arrays, {**meta, "library_format": 99})
    for wrong in ({"starts": np.array([0, 5])}, {"contacts": np.zeros((3, 2))}, {"mirrors": np.array([2, -1, 0])}):
        with pytest.raises(BadMotion, match="library"):
            library_from_arrays({**arrays, **wrong}, meta)
    for wrong in ({"clips": "abc"}, {"clip_tags": [["walk"]]}, {"clip_tags": [[["walk", "x", 3]]]}, {"origins": [[]]}):
        with pytest.raises(BadMotion, match="library"):
            library_from_arrays(arrays, {**meta, **wrong})


def test_a_tag_beyond_the_end_is_refused(library):
    with pytest.raises(BadMotion, match=r"'walk' goes to frame 10 of 'a'.*its last frame is 9"):
        replace(library, tags=((Tag("walk", 2, 11),), (), ()))


def test_no_clips_are_no_library():
    with pytest.raises(BadMotion, match="no clips"):
        make_library([])
    one = make_library([walk("a", 10)])
    assert isinstance(one, Library)
    assert len(one) == 1


def test_frames_are_tagged_and_untagged():
    tags = (Tag("walk", 0, 10), Tag("run", 2, 4), Tag("run", 6, 8, True))
    assert tag_frames(tags, "a", 20, "walk", 8, 15) == (Tag("walk", 0, 16), Tag("run", 2, 4), Tag("run", 6, 8, True))
    assert tag_frames(tags, "a", 20, "run", 5, 5) == (Tag("run", 2, 4), Tag("run", 5, 6), Tag("walk", 0, 10))
    assert tag_frames(tags, "a", 20, "walk", 3, 5, remove=True)[:2] == (Tag("walk", 0, 3), Tag("walk", 6, 10))
    with pytest.raises(BadMotion, match="goes to frame 20 of 'a'"):
        tag_frames(tags, "a", 20, "walk", 3, 20)
    with pytest.raises(BadMotion, match="covers frames"):
        tag_frames(tags, "a", 20, "walk", 5, 3)
