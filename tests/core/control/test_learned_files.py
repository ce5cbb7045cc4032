# SPDX-License-Identifier: GPL-3.0-or-later
"""Learned files: a flipped bit is noticed, what a file asks for is known before it gets it, and old ones open."""

import json
import os
import random
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import written_before
from sinew.core import limits
from sinew.core.control import registry
from sinew.core.errors import BadFile, SinewError

KINDS = {family.name: family.learn.learned for family in registry.families() if family.learn}
BEFORE = {
    "graph": written_before.FOLDER / "sinew" / "Mannequin.graph.npz",
    "bounds": written_before.FOLDER / "sinew" / "Mannequin-walk.safetensors",
}


@pytest.fixture(scope="module", params=sorted(BEFORE))
def kept(request, tmp_path_factory):
    """(kind, a file of it as it is written now, one as it was written before checksums)."""
    kind, before = KINDS[request.param], BEFORE[request.param]
    path = tmp_path_factory.mktemp(request.param) / f"new{kind.ending}"
    kind.write_content(path, *kind.read_content(before))
    return kind, path, before


def problem_of(kind, content):
    """What is said of content that is no whole one; None where it is."""
    try:
        kind.describe(kind.from_content(content, "'a file'"))
    except SinewError as error:
        return error
    return None


def read(kind, path):
    return kind.from_content(kind.read_content(path), f"'{path}'")


def test_files_from_before_open_and_new_ones_have_the_same_in_them(kept):
    kind, new, before = kept
    has_checksum = {path: b"checksum" in path.read_bytes().replace(b"\0", b"") for path in (new, before)}
    assert has_checksum == {new: True, before: False}
    old_arrays, old_meta = kind.read_content(before)
    arrays, meta = kind.read_content(new)
    assert meta == old_meta and set(arrays) == set(old_arrays)
    assert all(arrays[name].tobytes() == old_arrays[name].tobytes() for name in arrays)
    assert kind.describe(read(kind, new)) == kind.describe(read(kind, before)) != ()


def test_a_flipped_bit_is_noticed(kept, tmp_path):
    kind, new, _ = kept
    data, rng, whole = new.read_bytes(), random.Random(9), kind.read_content(new)
    path = tmp_path / new.name
    noticed = 0
    for place in [rng.randrange(len(data)) for _ in range(60)]:
        damaged = bytearray(data)
        damaged[place] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        try:
            arrays, meta = kind.read_content(path)
        except BadFile:
            noticed += 1
            continue
        # A bit that says nothing: the date of an entry, white space.
        assert meta == whole[1] and all(np.array_equal(arrays[name], whole[0][name]) for name in whole[0])
    assert noticed > 50


def tensors(path: Path, header: dict, data: bytes) -> Path:
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    return path


def tensor(first, last, shape=None, kind="U8"):
    return {"dtype": kind, "shape": [last - first] if shape is None else shape, "data_offsets": [first, last]}


ABOUT = {"__metadata__": {"sinew": "{}"}}
MADE_UP = {
    "overlapping": ({f"a{i}": tensor(0, 2**20) for i in range(2000)}, "overlap"),
    "partly overlapping": ({"a": tensor(0, 2**20), "b": tensor(5, 2**20)}, "overlap"),
    "with a gap": ({"a": tensor(0, 5), "b": tensor(7, 2**20)}, "gaps"),
    "with a rest": ({"a": tensor(0, 5)}, "too much"),
    "beyond its end": ({"a": tensor(0, 2**40)}, "missing"),
    "backwards": ({"a": tensor(0, 2**20), "b": tensor(2**20, 5)}, "overlap"),
    "too many": ({f"a{i}": tensor(0, 0) for i in range(limits.TENSORS + 1)}, "10001 arrays, and at most 10000"),
    "of a shape that lies": ({"a": tensor(0, 2**20, [2**40, 2**40])}, "shape"),
    "of a shape below nothing": ({"a": tensor(0, 2**20, [-1, -(2**20)])}, "less than nothing"),
    "of a kind that is none": ({"a": tensor(0, 2**20, kind="PICKLE")}, "PICKLE"),
    "of texts": ({"a": tensor("0", "5", [5])}, "controller"),
    "of numbers of one byte": ({"a": tensor(0, 2**20)}, "its numbers would take 8 MB, and at most 4 MB"),
    "of nothing": ({"a": None}, "controller"),
    "of parts": ({"a": tensor(0, 2**20, [0.5])}, "controller"),
}


@pytest.mark.parametrize("name", MADE_UP)
def test_arrays_that_somebody_made_up_take_no_memory(tmp_path, name, monkeypatch):
    monkeypatch.setattr(limits, "PACKED_FREE_BYTES", 0)
    header, message = MADE_UP[name]
    path = tensors(tmp_path / "a.safetensors", ABOUT | header, bytes(2**20))
    tracemalloc.start()
    try:
        with pytest.raises(BadFile, match=message) as caught:
            KINDS["bounds"].read_content(path)
        assert tracemalloc.get_traced_memory()[1] < 32 * limits.MIB
    finally:
        tracemalloc.stop()
    assert str(path) in caught.value.message


@pytest.mark.parametrize("family", sorted(BEFORE))
def test_what_is_no_learned_file_is_refused_at_once(tmp_path, family):
    kind = KINDS[family]
    path = tmp_path / f"a{kind.ending}"
    with path.open("wb") as stream:
        stream.truncate(200 * limits.GIB)
    with pytest.raises(BadFile, match="204800 MB, and at most 256 MB"):
        kind.read_content(path)
    path.unlink()
    if os.name != "nt":
        os.mkfifo(path)
        with pytest.raises(BadFile, match="no plain file"):
            kind.read_content(path)
        path.unlink()
    path.mkdir()
    with pytest.raises(BadFile, match="no plain file"):
        kind.read_content(path)


def test_a_description_that_somebody_made_up_is_a_message(kept):
    kind, new, _ = kept
    (arrays, meta), rng = kind.read_content(new), random.Random(19)
    odd = [None, True, -1, 10**30, 1e300, "", "x", [], {}, [[]], {"a": 1}, [None], "nan"]

    def spoil(value, depth):
        if isinstance(value, dict) and value and depth:
            name = rng.choice(sorted(value))
            return {**value, name: spoil(value[name], depth - 1)}
        if isinstance(value, list) and value and depth:
            place = rng.randrange(len(value))
            return [*value[:place], spoil(value[place], depth - 1), *value[place + 1 :]]
        return rng.choice(odd)

    problems = [problem_of(kind, (arrays, spoil(meta, 1 + number % 5))) for number in range(120)]
    problems += [
        problem_of(kind, (arrays | {name: changed}, meta))
        for name in sorted(arrays)
        for changed in (np.zeros(0), np.zeros((1, 1, 1, 1)), np.array("text"), np.full((2, 2), np.nan))
    ]
    found = [problem for problem in problems if problem is not None]
    assert len(found) > 60 and all(problem.message.startswith("'a file'") for problem in found)


def test_numbers_of_another_precision_than_is_written_are_refused(kept):
    """What is narrower in a file would become wider in memory; of a body's few links that is nobody's worry."""
    kind, new, _ = kept
    arrays, meta = kind.read_content(new)
    large = [name for name, array in arrays.items() if array.dtype.kind == "f" and not name.startswith("body")]
    assert len(large) > 6
    for name in large:
        for narrow in (np.int8, np.float16, np.bool_):
            problem = problem_of(kind, (arrays | {name: arrays[name].astype(narrow)}, meta))
            assert problem is not None and np.dtype(narrow).name in problem.message, name


def test_bounds_that_bind_nothing_are_read():
    arrays, meta = KINDS["bounds"].read_content(BEFORE["bounds"])
    widths = np.full_like(arrays["widths"], np.inf)
    controller = KINDS["bounds"].from_content((arrays | {"widths": widths}, meta), "'a file'")
    assert np.array_equal(controller.widths, widths)
