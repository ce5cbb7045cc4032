# SPDX-License-Identifier: GPL-3.0-or-later
"""A file is whole or as it was before, and what cannot be written or read says why."""

import errno
import hashlib
import json
import os
import stat
import tracemalloc
import zipfile

import numpy as np
import pytest

from sinew.core import files
from sinew.core.errors import BadFile, CannotWrite

from ..permissions import as_nobody, open_folder


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


@pytest.mark.skipif(os.name == "nt", reason="Windows has no permission bits")
def test_a_read_only_folder_is_named():
    with open_folder() as folder:
        folder.chmod(0o555)
        with as_nobody(), pytest.raises(CannotWrite, match="may not write"):
            files.write_whole(folder / "a", b"x")
        assert os.listdir(folder) == []
        folder.chmod(0o777)


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


def archive(path, **entries):
    """A zip file of entries given as bytes; packed, so that it looks small."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in entries.items():
            packed.writestr(f"{name}.npy", data)


def array_bytes(shape, data, dtype="<f8", version=b"\x01\x00"):
    """An array file whose header says what we like."""
    header = repr({"descr": dtype, "fortran_order": False, "shape": shape}).encode().ljust(117) + b"\n"
    return b"\x93NUMPY" + version + len(header).to_bytes(2, "little") + header + data


def bomb(path):
    """512 MB of zeros in 0.5 MB."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed, packed.open("a.npy", "w") as member:
        member.write(array_bytes((2**26,), b""))
        for _ in range(512):
            member.write(bytes(2**20))


def many(path):
    archive(path, **{f"a{number}": array_bytes((1,), bytes(8)) for number in range(files.limits.ARCHIVE_ENTRIES + 1)})


def twins(path):
    archive(path, a=array_bytes((1,), bytes(8)), b=array_bytes((1,), bytes(8)))
    path.write_bytes(path.read_bytes().replace(b"b.npy", b"a.npy"))


def long_list(path):
    archive(path, a=array_bytes((1,), bytes(8)))
    data = bytearray(path.read_bytes())
    at = data.rfind(b"PK\x05\x06")
    data[at + 12 : at + 16] = (2**31).to_bytes(4, "little")
    path.write_bytes(data)


def packed_otherwise(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as packed:
        packed.writestr("a.npy", array_bytes((1,), bytes(8)))


def sparse(path):
    with path.open("wb") as stream:
        stream.truncate(200 * files.limits.GIB)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (bomb, "would unpack to 512 MB, and at most 64 MB"),
        (many, "10001 entries, and at most 10000"),
        (twins, "same name"),
        (long_list, "list of entries has 2147483648 bytes"),
        (packed_otherwise, "packed in an unknown way"),
        (sparse, "too large: 204800 MB, and at most 4096 MB"),
        (lambda path: archive(path, a=array_bytes((10**12,), bytes(8))), "not as long as its shape says"),
        (lambda path: archive(path, a=array_bytes((2**62, 2**62), b"")), "not as long as its shape says"),
        (lambda path: archive(path, a=array_bytes((-1, -1), bytes(8))), "no array of numbers"),
        (lambda path: archive(path, a=array_bytes((1,), bytes(8), "|O")), "no array of numbers"),
        (lambda path: archive(path, a=array_bytes((1,), bytes(8), [("a", "<f8")])), "no array of numbers"),
        (lambda path: archive(path, a=array_bytes("(" * 500, b"")), "not a whole"),
    ],
)
def test_an_archive_is_asked_what_it_wants_before_it_gets_it(tmp_path, make, message):
    path = tmp_path / "a.npz"
    make(path)
    tracemalloc.start()
    try:
        with pytest.raises(BadFile, match=message) as caught:
            files.read_arrays(path)
        assert tracemalloc.get_traced_memory()[1] < 64 * files.limits.MIB
    finally:
        tracemalloc.stop()
    assert str(path) in caught.value.message and caught.value.hint


def test_an_archive_that_is_packed_as_others_do_is_read(tmp_path):
    still = np.zeros((1000, 60, 3))
    np.savez_compressed(tmp_path / "a.npz", still=still, name=np.array("walk"), count=np.int64(3))
    arrays, meta = files.read_arrays(tmp_path / "a.npz")
    assert np.array_equal(arrays["still"], still) and str(arrays["name"]) == "walk" and arrays["count"] == 3
    assert meta == {}


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("code", [0x110000, 0x7FFFFFFF, 0xFFFFFFFF])
def test_texts_with_characters_that_do_not_exist_are_refused(tmp_path, order, code):
    codes = np.array([ord("a"), code, 0, 0], f"{order}u4")
    for array in (codes.view(f"{order}U2"), codes.view(f"{order}U4").reshape(())):
        np.savez(tmp_path / "a.npz", names=array)
        with pytest.raises(BadFile, match="'names' in it is no text"):
            files.read_arrays(tmp_path / "a.npz")
    np.savez(tmp_path / "a.npz", names=np.array(["", "Zoë", "\U0010ffff"], f"{order}U4"), none=np.array([], "U4"))
    assert files.read_arrays(tmp_path / "a.npz")[0]["names"].tolist() == ["", "Zoë", "\U0010ffff"]


def test_memory_that_is_at_its_end_is_not_a_damaged_file(tmp_path, monkeypatch):
    files.write_arrays(tmp_path / "a.npz", {"a": np.zeros(3)}, {})

    def no_memory(*_arguments, **_more):
        raise MemoryError

    monkeypatch.setattr(np, "load", no_memory)
    with pytest.raises(MemoryError):
        files.read_arrays(tmp_path / "a.npz")


def test_a_checksum_notices_what_the_archive_cannot(tmp_path):
    arrays, meta = {"a": np.arange(4.0), "b": np.array([True])}, {"kind": "graph"}
    files.write_arrays(tmp_path / "a.npz", arrays, meta, checksum=True)
    read, about = files.read_arrays(tmp_path / "a.npz")
    assert about == meta and np.array_equal(read["a"], arrays["a"])
    noted = files.checksum_of(arrays, meta)
    # Somebody wrote the archive anew, so that its own sums are right.
    files.write_arrays(
        tmp_path / "a.npz", arrays | {"a": np.arange(4.0) + [0, 0, 0, 1e-16]}, meta | {"checksum": noted}
    )
    files.read_arrays(tmp_path / "a.npz")  # 3 + 1e-16 is 3
    changes = (
        (arrays | {"a": np.arange(4.0) + [0, 0, 0, 1e-15]}, meta),
        (arrays | {"a": np.arange(4.0).reshape(2, 2)}, meta),
        (arrays | {"a": np.arange(4)}, meta),
        ({"a": arrays["a"], "c": arrays["b"]}, meta),
        (arrays, {"kind": "Graph"}),
    )
    for changed in changes:
        files.write_arrays(tmp_path / "a.npz", changed[0], changed[1] | {"checksum": noted})
        with pytest.raises(BadFile, match="is damaged"):
            files.read_arrays(tmp_path / "a.npz")


def in_the_way(kind, path):
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "loop":
        path.symlink_to(path)
    else:
        sparse(path)


@pytest.mark.skipif(os.name == "nt", reason="pipes and devices are POSIX")
@pytest.mark.parametrize("kind", ["pipe", "folder", "device", "loop", "sparse"])
def test_what_is_no_plain_file_is_refused_at_once(tmp_path, kind):
    path = tmp_path / "odd"
    in_the_way(kind, path)
    for read in (files.read_json, files.read_arrays, files.read_bytes, files.sha256_of):
        with pytest.raises(BadFile, match="odd"):
            read(path)


@pytest.mark.parametrize(
    "text",
    [
        "NaN",
        '{"a": -Infinity}',
        "1e999",
        "9" * 41,
        "9" * 5000,
        "[" * 200 + "]" * 200,
        "[" * 100_000,
        '{"a":' * 5000,
        '"\\ud800"',
        "\ufeff{}",
        "",
        "{1: 2}",
    ],
)
def test_json_that_would_trip_a_reader_is_refused(tmp_path, text):
    path = tmp_path / "odd.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadFile, match=r"odd\.json' cannot be read"):
        files.read_json(path)
    path.write_bytes(b"\xff\xfe{}")
    with pytest.raises(BadFile, match="cannot be read"):
        files.read_json(path)


def test_json_of_any_honest_kind_is_read():
    rng = np.random.default_rng(1)
    state = json.loads(json.dumps(rng.bit_generator.state))
    for value in (state, "😀", "\u00e9", -(2**127), 1.5e300, [[[1]]], {"": None}):
        assert files.parse_json(json.dumps(value)) == value


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_link_is_replaced_and_what_it_leads_to_stays(tmp_path):
    (tmp_path / "theirs").write_bytes(b"precious")
    (tmp_path / "ours").symlink_to(tmp_path / "theirs")
    files.write_whole(tmp_path / "ours", b"new")
    assert (tmp_path / "theirs").read_bytes() == b"precious"
    assert (tmp_path / "ours").read_bytes() == b"new" and not (tmp_path / "ours").is_symlink()


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
@pytest.mark.parametrize("links", [True, False])
def test_a_new_file_never_takes_the_place_of_another(tmp_path, monkeypatch, links):
    if not links:
        fail_in(monkeypatch, "link", errno.EPERM)
    assert files.write_new(tmp_path / "a" / "new", b"mine") and (tmp_path / "a" / "new").read_bytes() == b"mine"
    (tmp_path / "theirs").write_bytes(b"precious")
    (tmp_path / "link").symlink_to(tmp_path / "theirs")
    (tmp_path / "nowhere").symlink_to(tmp_path / "not there")
    (tmp_path / "folder").mkdir()
    for name in ("theirs", "link", "nowhere", "folder"):
        assert not files.write_new(tmp_path / name, b"mine")
    assert (tmp_path / "theirs").read_bytes() == b"precious" and not (tmp_path / "not there").exists()
    assert sorted(os.listdir(tmp_path)) == ["a", "folder", "link", "nowhere", "theirs"]
    assert os.listdir(tmp_path / "a") == ["new"]


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_what_is_written_in_place_is_never_another_file(tmp_path):
    theirs = tmp_path / "theirs"
    theirs.write_bytes(b"precious")
    (tmp_path / "link").symlink_to(theirs)
    os.link(theirs, tmp_path / "name")
    (tmp_path / "nowhere").symlink_to(tmp_path / "not there")
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "name", "nowhere", "pipe"):
        with pytest.raises(CannotWrite, match=name):
            files.open_to_write(tmp_path / name, os.O_RDWR | os.O_CREAT)
    assert not (tmp_path / "not there").exists()
    os.close(files.open_to_write(tmp_path / "new", os.O_WRONLY | os.O_CREAT, files.PRIVATE))
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o600


def test_a_folder_in_the_place_of_a_file_stays_and_is_said(tmp_path):
    folder = tmp_path / "00000012.npz"
    folder.mkdir()
    (folder / "kept").write_text("")
    assert not files.remove_file(folder) and (folder / "kept").exists()
    assert files.remove_file(tmp_path / "gone.npz")
