# SPDX-License-Identifier: GPL-3.0-or-later
"""Clips and takes survive their files to the bit; every other file is refused with a reason."""

import io
import json
import os
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sinew.core import limits
from sinew.core.errors import BadFile, BadMotion, CannotWrite
from sinew.core.files import read_arrays, write_arrays
from sinew.core.motion import Clip, PropMotion, Tag, Take, motion_size
from sinew.core.motion.io import npz

ARRAYS = ("local_pos", "local_quat_wxyz")
REST = ("parents", "rest_pos", "rest_quat_wxyz", "lengths")


@pytest.fixture
def take(random_clip) -> Take:
    motion = random_clip(8, 6, 3, 29.97, (Tag("Schritt größer 跳", 1, 4),))
    contacts = np.random.default_rng(8).random((6, 3)) > 0.5
    measurements = {"skate_m_s": 0.1 + 0.2, "engine": "mujoco", "steps": 3, "kept": True, "unknown": None}
    return Take(motion, contacts, 0.1, measurements)


@pytest.fixture
def company(take, random_clip) -> Take:
    """A take of three with two loose things; the others have other bones."""
    rng = np.random.default_rng(3)
    contacts = rng.random((6, 5)) > 0.5
    others = (Take(random_clip(9, 6, 5, 29.97), contacts, 0.05, {"skate_m_s": 2.0}), Take(random_clip(10, 6, 2, 29.97)))
    props = tuple(PropMotion(name, rng.normal(size=(6, 3)), rng.normal(size=(6, 4))) for name in ("Ball", "Kiste 箱"))
    return replace(take, others=others, props=props)


def assert_same_bits(a: Clip, b: Clip) -> None:
    assert (a.name, a.fps, a.tags, a.skeleton.names) == (b.name, b.fps, b.tags, b.skeleton.names)
    for name in ARRAYS:
        assert getattr(a, name).tobytes() == getattr(b, name).tobytes()
    for name in REST:
        assert getattr(a.skeleton, name).tobytes() == getattr(b.skeleton, name).tobytes()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(st.integers(0, 2**32 - 2), st.integers(1, 5), st.integers(1, 5), st.floats(0.5, 1e3))
def test_a_clip_comes_back_to_the_bit(random_clip, tmp_path, seed, frames, bones, fps):
    clip = random_clip(seed, frames, bones, fps)
    npz.save_clip(tmp_path / "clip.npz", clip)
    assert_same_bits(npz.load_clip(tmp_path / "clip.npz"), clip)


def test_a_take_comes_back_to_the_bit(take, tmp_path):
    npz.save_take(tmp_path / "take.npz", take)
    again = npz.load_take(tmp_path / "take.npz")
    assert_same_bits(again.motion, take.motion)
    np.testing.assert_array_equal(again.contacts, take.contacts)
    assert (again.fell_at_s, again.measurements) == (take.fell_at_s, take.measurements)


def test_when_it_was_lost_is_kept_and_old_files_know_of_falls_alone(random_clip, tmp_path):
    motion = random_clip(1, 4, 3)
    npz.save_take(tmp_path / "take.npz", Take(motion, lost_at_s=1.5, others=(Take(motion, lost_at_s=0.5),)))
    again = npz.load_take(tmp_path / "take.npz")
    assert (again.lost_at_s, again.fell_at_s, again.others[0].lost_at_s) == (1.5, None, 0.5)
    npz.save_take(tmp_path / "old.npz", Take(motion, fell_at_s=2.0))
    arrays, meta = read_arrays(tmp_path / "old.npz")
    del meta["lost_at_s"]
    write_arrays(tmp_path / "old.npz", arrays, meta)
    assert npz.load_take(tmp_path / "old.npz").lost_at_s == 2.0


def test_whose_clock_a_take_is_on_is_kept(take, company, tmp_path):
    for one, own in ((take, False), (replace(take, own_clock=True), True)):
        npz.save_take(tmp_path / "take.npz", one)
        assert npz.load_take(tmp_path / "take.npz").own_clock is own
    others = tuple(replace(other, own_clock=True) for other in company.others)
    npz.save_take(tmp_path / "take.npz", replace(company, others=others))
    again = npz.load_take(tmp_path / "take.npz")
    assert [one.own_clock for one in (again, *again.others)] == [False, True, True]


def test_a_take_cannot_be_on_two_clocks(take):
    with pytest.raises(BadMotion, match="clock of its own"):
        replace(take, own_clock=True, source_times_s=np.arange(6.0))


def test_everybody_and_everything_in_a_take_comes_back_to_the_bit(company, tmp_path):
    npz.save_take(tmp_path / "take.npz", company)
    again = npz.load_take(tmp_path / "take.npz")
    assert_same_bits(again.motion, company.motion)
    np.testing.assert_array_equal(again.contacts, company.contacts)
    assert len(again.others) == len(again.props) == 2
    for one, other in zip(again.others, company.others, strict=True):
        assert_same_bits(one.motion, other.motion)
        assert (one.fell_at_s, one.measurements) == (other.fell_at_s, other.measurements)
    np.testing.assert_array_equal(again.others[0].contacts, company.others[0].contacts)
    assert again.others[1].contacts is None
    for one, other in zip(again.props, company.props, strict=True):
        assert one.name == other.name
        assert one.pos.tobytes() == other.pos.tobytes()
        assert one.quat_wxyz.tobytes() == other.quat_wxyz.tobytes()


def test_a_take_of_the_first_format_is_of_one_character(take, tmp_path):
    path = tmp_path / "take.npz"
    npz.save_take(path, take)
    change_meta(path, version=1, others="absent", props="absent")
    again = npz.load_take(path)
    assert_same_bits(again.motion, take.motion)
    assert again.others == again.props == ()


@pytest.mark.parametrize(
    "missing", ["other0_local_pos", "other1_parents", "prop1_pos", "prop0_quat_wxyz", "others", "props"]
)
def test_a_take_with_somebody_missing_is_refused_by_name(company, tmp_path, missing):
    path = tmp_path / "take.npz"
    npz.save_take(path, company)
    arrays, meta = read_arrays(path)
    arrays.pop(missing, None)
    meta.pop(missing, None)
    write_arrays(path, arrays, meta)
    with pytest.raises(BadFile, match=missing.removeprefix("other0_").removeprefix("other1_")):
        npz.load_take(path)


@pytest.mark.parametrize("changes", [{"others": 3}, {"others": [3]}, {"props": 3}, {"others": [{"names": []}]}])
def test_a_take_whose_company_is_no_list_of_takes_is_refused(company, tmp_path, changes):
    path = tmp_path / "take.npz"
    npz.save_take(path, company)
    change_meta(path, **changes)
    with pytest.raises(BadFile, match=r"take\.npz"):
        npz.load_take(path)


def test_everything_in_a_take_is_on_one_clock(take, company, random_clip):
    with pytest.raises(BadMotion, match="5 frames"):
        replace(take, others=(Take(random_clip(9, 5, 5, 29.97)),))
    with pytest.raises(BadMotion, match="24 fps"):
        replace(take, others=(Take(random_clip(9, 6, 5, 24.0)),))
    with pytest.raises(BadMotion, match="'Ball' has 2 frames"):
        replace(take, props=(PropMotion("Ball", np.zeros((2, 3)), np.ones((2, 4))),))
    with pytest.raises(BadMotion, match="of its own"):
        replace(take, others=(company,))


def test_a_prop_s_motion_is_numbers_of_the_right_shape():
    with pytest.raises(BadMotion, match="'Ball'"):
        PropMotion("Ball", np.zeros((2, 3)), np.ones((3, 4)))
    with pytest.raises(BadMotion, match="'Ball'"):
        PropMotion("Ball", np.full((2, 3), np.nan), np.ones((2, 4)))
    turns = PropMotion("Ball", np.zeros((2, 3)), [[2.0, 0, 0, 0], [-1.0, 0.1, 0, 0]]).quat_wxyz
    np.testing.assert_allclose(np.linalg.norm(turns, axis=1), 1.0)
    assert turns[0] @ turns[1] > 0.0  # the same rotation without a jump


def test_a_take_without_contacts_comes_back_without(random_clip, tmp_path):
    npz.save_take(tmp_path / "take.npz", Take(random_clip(1, 2, 2)))
    again = npz.load_take(tmp_path / "take.npz")
    assert again.contacts is None
    assert not again.fell


def test_the_same_clip_makes_the_same_file(random_clip, tmp_path):
    for name in ("a.npz", "b.npz"):
        npz.save_clip(tmp_path / name, random_clip(1, 4, 3))
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_a_path_may_have_spaces_and_any_letters(random_clip, tmp_path):
    path = tmp_path / "Übung mit Anna" / "跳 прыжок é.npz"
    npz.save_clip(path, random_clip(1, 4, 3))
    assert_same_bits(npz.load_clip(path), random_clip(1, 4, 3))


def test_a_file_cut_short_anywhere_is_refused(take, tmp_path):
    whole, cut = tmp_path / "take.npz", tmp_path / "cut.npz"
    npz.save_take(whole, take)
    data = whole.read_bytes()
    for twentieth in range(20):
        cut.write_bytes(data[: len(data) * twentieth // 20])
        with pytest.raises(BadFile, match=r"cut\.npz") as caught:
            npz.load_take(cut)
        assert caught.value.hint


def test_a_take_of_a_newer_format_is_refused_with_the_fix(take, tmp_path):
    path = tmp_path / "take.npz"
    npz.save_take(path, take)
    change_meta(path, version=npz.TAKE_VERSION + 1)
    with pytest.raises(BadFile, match="newer Sinew"):
        npz.load_take(path)


def test_a_damaged_file_is_refused_or_says_the_same(take, tmp_path):
    path = tmp_path / "take.npz"
    npz.save_take(path, take)
    data, rng = path.read_bytes(), np.random.default_rng(0)
    refused = 0
    for _ in range(300):
        damaged = bytearray(data)
        damaged[rng.integers(len(data))] ^= 1 << rng.integers(8)
        path.write_bytes(damaged)
        try:
            assert_same_bits(npz.load_take(path).motion, take.motion)
        except BadFile:
            refused += 1
    assert refused > 200


def test_pickled_arrays_are_neither_written_nor_read(tmp_path):
    path = tmp_path / "pickled.npz"
    np.savez(path, meta=np.array('{"kind": "sinew.clip", "version": 1}'), local_pos=np.array([{"a": 1}], dtype=object))
    with pytest.raises(BadFile, match=r"pickled\.npz"):
        npz.load_clip(path)
    with pytest.raises(TypeError, match="'things'"):
        write_arrays(tmp_path / "new.npz", {"things": np.array([None])}, {})
    assert os.listdir(tmp_path) == ["pickled.npz"]


def test_arrays_come_back_without_any_of_numpys_own(tmp_path):
    write_arrays(tmp_path / "a.npz", {"x": np.arange(3)}, {"n": 1})
    arrays, meta = read_arrays(tmp_path / "a.npz")
    assert list(arrays) == ["x"]
    assert meta == {"n": 1}


def change_meta(path, **changes):
    arrays, meta = read_arrays(path)
    write_arrays(path, arrays, {key: value for key, value in (meta | changes).items() if value != "absent"})


def test_a_newer_format_is_refused_with_the_fix(random_clip, tmp_path):
    path = tmp_path / "clip.npz"
    npz.save_clip(path, random_clip(1, 4, 3))
    change_meta(path, version=npz.VERSION + 1)
    with pytest.raises(BadFile, match="newer Sinew") as caught:
        npz.load_clip(path)
    assert caught.value.hint == "Update Sinew"


@pytest.mark.parametrize("version", ["absent", "2", None, 0])
def test_a_file_without_a_version_is_not_called_newer(random_clip, tmp_path, version):
    path = tmp_path / "clip.npz"
    npz.save_clip(path, random_clip(1, 4, 3))
    change_meta(path, version=version)
    with pytest.raises(BadFile, match="no format version"):
        npz.load_clip(path)


@pytest.mark.parametrize(
    "changes",
    [
        {"names": "absent"},
        {"names": ["a"]},
        {"names": ["a", "a", "b"]},
        {"fps": "fast"},
        {"fps": 0},
        {"fps": None},
        {"tags": [["x", 0, 99]]},
        {"tags": [["x"]]},
        {"tags": 3},
        {"name": "absent"},
    ],
)
def test_a_description_that_does_not_fit_is_refused(random_clip, tmp_path, changes):
    path = tmp_path / "clip.npz"
    npz.save_clip(path, random_clip(1, 4, 3))
    change_meta(path, **changes)
    with pytest.raises(BadFile, match="whole clip"):
        npz.load_clip(path)


@pytest.mark.parametrize(
    "changes", [{"fell_at_s": "soon"}, {"fell_at_s": "absent"}, {"measurements": 3}, {"measurements": "absent"}]
)
def test_a_take_whose_description_does_not_fit_is_refused(take, tmp_path, changes):
    path = tmp_path / "take.npz"
    npz.save_take(path, take)
    change_meta(path, **changes)
    with pytest.raises(BadFile, match="whole take"):
        npz.load_take(path)


def test_a_take_whose_contacts_do_not_fit_is_refused(take, tmp_path):
    path = tmp_path / "take.npz"
    npz.save_take(path, take)
    arrays, meta = read_arrays(path)
    write_arrays(path, arrays | {"contacts": np.ones((2, 2), dtype=bool)}, meta)
    with pytest.raises(BadFile, match="contacts"):
        npz.load_take(path)


@pytest.mark.parametrize("missing", [*ARRAYS, *REST])
def test_a_clip_without_one_of_its_arrays_is_refused(random_clip, tmp_path, missing):
    path = tmp_path / "clip.npz"
    npz.save_clip(path, random_clip(1, 4, 3))
    arrays, meta = read_arrays(path)
    del arrays[missing]
    write_arrays(path, arrays, meta)
    with pytest.raises(BadFile, match=missing):
        npz.load_clip(path)


def test_a_clip_with_a_value_that_is_no_number_is_refused_by_bone(random_clip, tmp_path):
    path = tmp_path / "clip.npz"
    npz.save_clip(path, random_clip(1, 4, 3))
    arrays, meta = read_arrays(path)
    arrays["local_pos"][2, 1, 0] = np.nan
    write_arrays(path, arrays, meta)
    with pytest.raises(BadFile, match="bone 'bone 1' is not a number at frame 2"):
        npz.load_clip(path)


def single_array() -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.arange(4))
    return stream.getvalue()


def other_npz(**entries) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **entries)
    return stream.getvalue()


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"HIERARCHY\nROOT Hips\n", id="text"),
        pytest.param(single_array(), id="npy"),
        pytest.param(other_npz(x=np.arange(3)), id="foreign npz"),
        pytest.param(other_npz(meta=np.arange(3)), id="numbers for a description"),
        pytest.param(other_npz(meta=np.array("[1, 2]")), id="a list for a description"),
        pytest.param(other_npz(meta=np.array("{")), id="torn description"),
        pytest.param(other_npz(meta=np.array(json.dumps({"kind": "sinew.take", "version": 1}))), id="take"),
    ],
)
def test_what_is_no_clip_is_refused_by_name(tmp_path, data):
    path = tmp_path / "other.npz"
    path.write_bytes(data)
    with pytest.raises(BadFile, match=r"other\.npz") as caught:
        npz.load_clip(path)
    assert caught.value.hint


def test_a_missing_file_and_a_folder_are_refused_by_name(tmp_path):
    with pytest.raises(BadFile, match=r"none\.npz' does not exist"):
        npz.load_clip(tmp_path / "none.npz")
    with pytest.raises(BadFile, match=str(tmp_path.name)):
        npz.load_clip(tmp_path)


def test_a_file_in_the_way_of_the_folder_is_refused(random_clip, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(CannotWrite, match="file"):
        npz.save_clip(tmp_path / "file" / "clip.npz", random_clip(1, 2, 2))


def test_how_long_a_motion_is_is_known_before_it_is_read(random_clip, company, tmp_path, monkeypatch):
    """Of clips that travel, of takes, and of those who are in them."""
    arrays, meta = npz.clip_to_arrays(random_clip(8, 6, 3, 30.0))
    frames = limits.MOST_FRAMES + 1
    arrays |= {"local_pos": np.broadcast_to(0.0, (frames, 3, 3))}  # all of them are the same one
    with pytest.raises(BadMotion, match=f"{frames} frames, and 1048574 is the most"):
        npz.clip_from_arrays(arrays, meta)
    with pytest.raises(BadFile, match="shape"):  # a library may have so many
        npz.clip_from_arrays(arrays, meta, is_library=True)
    npz.save_take(tmp_path / "take.npz", company)
    monkeypatch.setattr(motion_size, "MOST_POSES", 20)  # the second has thirty
    with pytest.raises(BadFile, match="6 frames of 5 bones"):
        npz.load_take(tmp_path / "take.npz")


@pytest.mark.parametrize("read", [npz.load_clip, npz.load_take])
def test_numbers_of_one_byte_are_no_motion(random_clip, tmp_path, read):
    """64 MB of them would become half a gigabyte."""
    arrays, meta = npz.clip_to_arrays(random_clip(8, 6, 3, 30.0))
    arrays["local_pos"] = np.zeros((3_000_000, 3, 3), np.int8)
    np.savez_compressed(tmp_path / "a.npz", meta=np.array(json.dumps(meta)), **arrays)
    with pytest.raises(BadFile, match="its numbers would take 206 MB, and at most 64 MB"):
        read(tmp_path / "a.npz")


@pytest.mark.parametrize("kind", [np.int8, np.float32, np.float64])
def test_a_long_motion_in_a_small_file_is_refused(random_clip, tmp_path, kind):
    """Blender would take some 2 KB for each of its poses."""
    arrays, meta = npz.clip_to_arrays(random_clip(8, 6, 3, 30.0))
    meta |= {"kind": "sinew.clip"}
    for frames, is_long in ((100_000, False), (110_000, True)):
        arrays |= {"local_pos": np.zeros((frames, 3, 3), kind), "local_quat_wxyz": np.ones((frames, 3, 4), kind)}
        np.savez_compressed(tmp_path / "a.npz", meta=np.array(json.dumps(meta)), **arrays)
        if is_long:
            with pytest.raises(BadFile, match="330000 poses of bones, and 300000 are the most for a file of its size"):
                npz.load_clip(tmp_path / "a.npz")
        else:
            assert len(npz.load_clip(tmp_path / "a.npz")) == frames
    npz.save_clip(
        tmp_path / "a.npz", Clip(random_clip(8, 6, 3, 30.0).skeleton, 30.0, *(arrays[name] for name in ARRAYS))
    )
    assert len(npz.load_clip(tmp_path / "a.npz")) == 110_000  # as it is written, it is as large as it looks
