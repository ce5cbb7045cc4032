# SPDX-License-Identifier: GPL-3.0-or-later
"""A file is whole or as it was before, and what cannot be written or read says why."""

import errno
import hashlib
import json
import os
import stat
import zipfile

import numpy as np
import pytest

from sinew.core import files
from sinew.core.errors import BadFile, CannotWrite


def fail_in(monkeypatch, function, number):
    def fail(*_arguments, **_more):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, function, fail)


@pytest.mark.parametrize("function", ["fsync", "replace"])
@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (errno.ENOSPC, "the disk is full"),
        (errno.EDQUOT, "quota"),
        (errno.EROFS, "read-only"),
        (errno.EACCES, "may not"),
        (errno.EIO, os.strerror(errno.EIO)),
    ],
)
def test_a_failed_write_leaves_the_old_content_and_nothing_else(tmp_path, monkeypatch, function, number, reason):
    path = tmp_path / "spec.json"
    path.write_bytes(b"old")
    fail_in(monkeypatch, function, number)
    with pytest.raises(CannotWrite, match=reason) as caught:
        files.write_whole(path, b"new")
    assert str(path) in caught.value.message
    assert caught.value.hint
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["spec.json"]


def test_a_failed_first_write_leaves_nothing(tmp_path, monkeypatch):
    fail_in(monkeypatch, "fsync", errno.ENOSPC)
    with pytest.raises(CannotWrite, match="disk is full"):
        files.write_json(tmp_path / "new" / "report.json", {"a": 1})
    assert os.listdir(tmp_path / "new") == []


def test_an_interrupt_while_writing_leaves_no_part_behind(tmp_path, monkeypatch):
    def interrupt(_handle):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        files.write_whole(tmp_path / "a", b"new")
    assert os.listdir(tmp_path) == []


def test_writing_makes_the_folder_and_replaces_the_file(tmp_path):
    path = tmp_path / "a" / "b c" / "größer.bin"
    files.write_whole(path, b"one")
    files.write_whole(path, b"two")
    assert path.read_bytes() == b"two"
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no permission bits")
def test_a_written_file_has_the_permissions_of_any_new_file(tmp_path):
    files.write_whole(tmp_path / "ours", b"")
    (tmp_path / "plain").write_bytes(b"")
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("ours", "plain")}
    assert len(modes) == 1


def test_a_folder_in_the_way_of_a_file_is_named(tmp_path):
    (tmp_path / "report.json").mkdir()
    with pytest.raises(CannotWrite, match=r"report\.json"):
        files.write_whole(tmp_path / "report.json", b"x")
    assert os.listdir(tmp_path) == ["report.json"]


def test_a_file_in_the_way_of_a_folder_is_named(tmp_path):
    (tmp_path / "out").write_bytes(b"x")
    with pytest.raises(CannotWrite, match=r"out.*a file has that name"):
        files.make_folder(tmp_path / "out")
    with pytest.raises(CannotWrite, match="out"):
        files.make_folder(tmp_path / "out" / "deeper")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a user whom permissions stop")
def test_a_read_only_folder_is_named(tmp_path):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(CannotWrite, match="may not write"):
            files.write_whole(tmp_path / "a", b"x")
    finally:
        tmp_path.chmod(0o700)


def test_json_comes_back_and_can_be_read_by_others(tmp_path):
    path = tmp_path / "spec.json"
    value = {"name": "größer 跳", "numbers": [1, 2.5, None, True], "deep": {"a": "b"}}
    files.write_json(path, value)
    assert files.read_json(path) == value
    assert json.loads(path.read_bytes().decode("utf-8")) == value
    assert "größer 跳" in path.read_text(encoding="utf-8")


def test_json_without_a_number_is_refused_and_the_old_stays(tmp_path):
    path = tmp_path / "spec.json"
    files.write_json(path, {"a": 1})
    with pytest.raises(ValueError, match="JSON"):
        files.write_json(path, {"a": float("nan")})
    assert files.read_json(path) == {"a": 1}


@pytest.mark.parametrize("data", [b"", b'{"a": ', b"\xff\xfe\x00", b"{} {}"])
def test_torn_json_is_refused_by_name(tmp_path, data):
    (tmp_path / "spec.json").write_bytes(data)
    with pytest.raises(BadFile, match=r"spec\.json"):
        files.read_json(tmp_path / "spec.json")


def test_missing_files_are_named(tmp_path):
    for read in (files.read_json, files.read_arrays, files.sha256_of):
        with pytest.raises(BadFile, match="none"):
            read(tmp_path / "none")


def test_what_json_cannot_hold_becomes_what_it_can():
    value = {1: (np.float64(0.5), float("nan")), "a": np.arange(2), "b": [float("inf"), None, "x", True]}
    assert files.to_jsonable(value) == {"1": [0.5, None], "a": [0, 1], "b": [None, None, "x", True]}
    json.dumps(files.to_jsonable(value), allow_nan=False)


def test_an_array_whose_head_is_damaged_is_never_read_as_another(tmp_path):
    # Larger than what zipfile reads at once: only then is a head believed before its array was checked.
    path, numbers = tmp_path / "numbers.npz", np.random.default_rng(0).random((40, 300))
    files.write_arrays(path, {"numbers": numbers}, {})
    data = path.read_bytes()
    start = data.rindex(b"\x93NUMPY")
    for place in range(start + 6, start + 128, 2):
        for bit in range(8):
            damaged = bytearray(data)
            damaged[place] ^= 1 << bit
            path.write_bytes(damaged)
            with pytest.raises(BadFile, match=r"numbers\.npz"):
                files.read_arrays(path)


@pytest.mark.parametrize("head", ["{'descr': '<f8', 'shape': (3,", "{'descr': '<f8' 'shape' 3 )", "  {\n }"])
def test_an_array_that_was_written_with_a_torn_head_is_refused(tmp_path, head):
    with zipfile.ZipFile(tmp_path / "torn.npz", "w") as archive:
        archive.writestr("x.npy", b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode() + b"\0" * 24)
    with pytest.raises(BadFile, match=r"torn\.npz"):
        files.read_arrays(tmp_path / "torn.npz")


def test_sha256_is_that_of_the_content(tmp_path):
    data = bytes(range(256)) * 10_000
    (tmp_path / "big").write_bytes(data)
    assert files.sha256_of(tmp_path / "big") == hashlib.sha256(data).hexdigest()
