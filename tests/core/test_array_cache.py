# SPDX-License-Identifier: GPL-3.0-or-later
"""The cache of arrays: the same bits back, nothing that does not fit, and never in anybody's way."""

import os
from dataclasses import dataclass

import numpy as np
import pytest

from sinew.core import array_cache
from sinew.core.array_cache import ArrayCache, cache_root, compute_digest, describe_code

SHAPES = {"values": (3, 2)}


def values():
    return {"values": np.random.default_rng(0).normal(size=(3, 2))}


def test_the_same_bits_come_back(tmp_path):
    cache = ArrayCache("things", tmp_path)
    assert cache.load("a", SHAPES) is None
    cache.save("a", values())
    assert ArrayCache("things", tmp_path).load("a", SHAPES)["values"].tobytes() == values()["values"].tobytes()
    assert ArrayCache("others", tmp_path).load("a", SHAPES) is None


@pytest.mark.parametrize("shapes", [{"values": (2, 3)}, {"others": (3, 2)}, {"values": (3, 2), "more": (1,)}])
def test_what_does_not_fit_is_not_used(tmp_path, shapes):
    cache = ArrayCache("things", tmp_path)
    cache.save("a", values())
    assert cache.load("a", shapes) is None


def test_other_numbers_than_were_computed_are_not_used(tmp_path):
    cache = ArrayCache("things", tmp_path)
    cache.save("a", {"values": values()["values"].astype(np.float32)})
    assert cache.load("a", SHAPES) is None


def test_a_torn_file_is_as_good_as_none(tmp_path):
    cache = ArrayCache("things", tmp_path)
    cache.save("a", values())
    path = tmp_path / "things" / "a.npz"
    path.write_bytes(path.read_bytes()[:-20])
    assert cache.load("a", SHAPES) is None
    cache.save("a", values())
    assert cache.load("a", SHAPES) is not None


def test_what_cannot_be_kept_is_no_error(tmp_path):
    (tmp_path / "things").write_text("a file is in the way")
    cache = ArrayCache("things", tmp_path)
    cache.save("a", values())
    assert cache.load("a", SHAPES) is None


def test_what_was_not_asked_for_the_longest_goes_first(tmp_path, monkeypatch):
    cache = ArrayCache("things", tmp_path)
    for number, name in enumerate("abc"):
        cache.save(name, values())
        os.utime(tmp_path / "things" / f"{name}.npz", (number, number))
    assert cache.load("a", SHAPES) is not None  # it was asked for now
    size = (tmp_path / "things" / "a.npz").stat().st_size
    monkeypatch.setattr(array_cache, "MOST_BYTES", 2 * size)
    cache.save("d", values())
    assert sorted(path.stem for path in (tmp_path / "things").iterdir()) == ["a", "d"]


def test_without_a_folder_nothing_is_kept(monkeypatch):
    monkeypatch.setenv("SINEW_CACHE", "")
    assert cache_root() is None
    cache = ArrayCache("things")
    cache.save("a", values())
    assert cache.load("a", SHAPES) is None


def test_the_folder_can_be_chosen(monkeypatch, tmp_path):
    monkeypatch.setenv("SINEW_CACHE", str(tmp_path))
    assert ArrayCache("things").folder == tmp_path / "things"
    monkeypatch.delenv("SINEW_CACHE")
    assert cache_root().is_absolute()


@dataclass
class Thing:
    size: float
    places: np.ndarray


def test_a_digest_tells_everything_apart():
    different = [
        1,
        1.0,
        True,
        "1",
        None,
        (1,),
        ((1,),),
        (1, 2),
        (1, (2,)),
        np.zeros(2),
        np.zeros((2, 1)),
        np.zeros(2, dtype=np.float32),
        {"a": 1},
        {"b": 1},
        Thing(1.0, np.zeros(2)),
        Thing(1.0, np.ones(2)),
        Thing(2.0, np.zeros(2)),
    ]
    assert len({compute_digest(thing) for thing in different}) == len(different)
    assert compute_digest({"a": 1, "b": 2}) == compute_digest({"b": 2, "a": 1})
    assert compute_digest("a", "b") != compute_digest("ab")
    assert compute_digest(np.arange(6).reshape(2, 3).T) == compute_digest(np.arange(6).reshape(2, 3).T.copy())
    with pytest.raises(TypeError):
        compute_digest(object())
    assert describe_code() == describe_code()
