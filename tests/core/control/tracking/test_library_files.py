# SPDX-License-Identifier: GPL-3.0-or-later
"""Libraries as files: what is written is read bit for bit, and what is not whole is refused by name."""

from dataclasses import replace

import numpy as np
import pytest

from sinew.core import limits
from sinew.core.body import build_body
from sinew.core.control.tracking.library_building import prepare_clip
from sinew.core.control.tracking.library_files import (
    LIBRARY_FILE,
    StoredLibrary,
    store_library,
    stored_library_from_content,
    summarize_library,
)
from sinew.core.errors import BadFile, BadMotion
from sinew.core.motion.clip import Tag
from sinew.core.motion.plain_walk import plain_walk


@pytest.fixture(scope="module")
def stored():
    clip = plain_walk(2.2)
    body = build_body(clip.skeleton, clip=clip)[0]
    one = prepare_clip(body, replace(clip, tags=(Tag("stroll", 0, 24),)), "walk.bvh", "abc")
    return StoredLibrary(body, (one, replace(one, name="Other", tags=())), scale=0.5)


@pytest.fixture
def path(stored, tmp_path):
    path = tmp_path / "walks.library.npz"
    LIBRARY_FILE.write_content(path, *store_library(stored))
    return path


def read(path):
    return stored_library_from_content(*LIBRARY_FILE.read_content(path), f"'{path.name}'")


def test_a_file_gives_back_what_was_written(stored, path):
    again = read(path)
    assert (again.mirror, again.scale, len(again.clips)) == (True, 0.5, 2)
    for one, other in zip(again.clips, stored.clips, strict=True):
        assert (one.name, one.tags, one.origin) == (other.name, other.tags, other.origin)
        for name in ("local_pos", "local_quat_wxyz", "contacts", "times_s"):
            assert np.array_equal(getattr(one, name), getattr(other, name))
    arrays, meta = store_library(again)
    first, first_meta = store_library(stored)
    assert meta == first_meta
    assert all(np.array_equal(arrays[name], first[name]) for name in first)


def test_it_is_searched_with_mirrored_copies(stored, path):
    library = read(path).library
    assert library.names == ("Walk", "Other", "Walk mirrored", "Other mirrored")
    assert library.mirrors.tolist() == [-1, -1, 0, 1]
    frames = len(stored.clips[0])
    assert library.find_frames("stroll").sum() == 2 * sum(
        tag.stop - tag.start for tag in stored.clips[0].tags if tag.name == "stroll"
    )
    assert np.array_equal(library.contacts[2 * frames : 3 * frames], library.contacts[:frames, ::-1])
    assert len(replace(stored, mirror=False).library) == 2


def test_a_summary_counts_what_was_given(stored):
    one = summarize_library(stored)
    assert one["clips"] == 2
    assert one["frames"] == 2 * len(stored.clips[0])
    assert one["seconds"] == pytest.approx(one["frames"] / 60.0)
    assert one["tags"]["stroll"]["proposed"] is False
    assert one["tags"]["walk"]["proposed"] is True
    assert LIBRARY_FILE.describe(stored)[1] == "Styles: stroll, walk?"


def test_an_empty_library_is_refused(stored):
    with pytest.raises(BadMotion, match="no clips"):
        store_library(replace(stored, clips=()))


def test_a_file_that_is_cut_in_half_is_refused(path):
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(BadFile, match=r"walks\.library\.npz"):
        read(path)


def test_a_file_that_is_gone_is_told(tmp_path):
    with pytest.raises(BadFile, match="There is no library in"):
        read(tmp_path / "none.library.npz")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"kind": "sinew graph"}, "is no library"),
        ({"version": 99}, "newer Sinew"),
        ({"version": "new"}, "newer Sinew"),
        ({"clips": []}, "do not fill"),
        ({"clips": [1, 2]}, "not a whole library"),
        ({"body": {}}, "not a whole library"),
        ({"scale": "large"}, "not a whole library"),
    ],
)
def test_a_description_that_is_wrong_is_refused(stored, wrong, words):
    arrays, meta = store_library(stored)
    with pytest.raises(BadFile, match=words):
        stored_library_from_content(arrays, {**meta, **wrong}, "'x'")


def test_a_tag_beyond_the_end_is_refused(stored):
    arrays, meta = store_library(stored)
    rows = [{**meta["clips"][0], "tags": [["walk", 0, 10_000, False]]}, meta["clips"][1]]
    with pytest.raises(BadFile, match="goes to frame 9999 of 'Walk'"):
        stored_library_from_content(arrays, {**meta, "clips": rows}, "'x'")


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("local_pos", lambda array: array[:, :3]),
        ("local_quat_wxyz", lambda array: np.where(np.arange(4) == 2, np.nan, array)),
        ("contacts", lambda array: array[:-1]),
        ("starts", lambda array: array[::-1]),
        ("starts", lambda array: array + 1),
    ],
)
def test_arrays_that_are_wrong_are_refused(stored, name, change):
    arrays, meta = store_library(stored)
    with pytest.raises(BadFile, match="not a whole library"):
        stored_library_from_content({**arrays, name: change(arrays[name])}, meta, "'x'")


def test_an_unknown_clip_is_told_with_names_like_it(stored):
    assert stored.find_clip("Other") == 1
    with pytest.raises(BadMotion, match=r"no clip 'Otter'.*'Other'"):
        stored.find_clip("Otter")


@pytest.mark.parametrize("name", ["local_pos", "local_quat_wxyz", "contacts", "times_s"])
@pytest.mark.parametrize("kind", [np.int8, np.float16, np.int64])
def test_motion_of_another_precision_than_is_written_is_refused(stored, name, kind):
    """What is narrower in a file would become wider for every frame."""
    arrays, meta = store_library(stored)
    arrays[name] = arrays[name].astype(kind)
    with pytest.raises(BadFile, match=f"its '{name}' are {np.dtype(kind)}, not (float|bool)"):
        stored_library_from_content(arrays, meta, "'walks'")


def test_a_library_of_more_than_anybody_has_is_refused_before_it_is_looked_at(stored):
    arrays, meta = store_library(stored)
    bones = len(stored.body.skeleton)
    frames = limits.MOST_LIBRARY_POSES // bones + 1
    arrays |= {"local_pos": np.broadcast_to(np.float32(0.0), (frames, bones, 3))}  # all of them are the same one
    with pytest.raises(BadFile, match=f"{frames} frames of {bones} bones.* 60000000 poses.*fewer clips"):
        stored_library_from_content(arrays, meta, "'walks'")
    long = replace(stored.clips[0], local_pos=arrays["local_pos"])
    with pytest.raises(BadMotion, match=r"The library has .* 60000000"):
        store_library(replace(stored, clips=(long,)))
