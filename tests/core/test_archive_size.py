# SPDX-License-Identifier: GPL-3.0-or-later
"""What is read of an archive takes what the archive has, whatever its numbers and its description would become."""

import json
import tracemalloc
import zipfile
from io import BytesIO

import numpy as np
import pytest

from sinew.core import files, limits
from sinew.core.errors import BadFile, CannotWrite
from sinew.core.json_size import require_few_items
from sinew.core.npz_checks import require_wide_numbers

MANY = ",".join(["[]"] * 300_000)


def write(path, packing=zipfile.ZIP_DEFLATED, **arrays):
    with zipfile.ZipFile(path, "w", packing) as archive:
        for name, array in arrays.items():
            stream = BytesIO()
            np.save(stream, array)
            archive.writestr(f"{name}.npy", stream.getvalue())
    return path


def refuse(path, message, most_mib=32, **how):
    tracemalloc.start()
    try:
        with pytest.raises(BadFile, match=message) as caught:
            files.read_arrays(path, **how)
        assert tracemalloc.get_traced_memory()[1] < most_mib * limits.MIB
    finally:
        tracemalloc.stop()
    assert str(path) in caught.value.message


@pytest.mark.parametrize("kind", ["i1", "u1", "?", "i2", "f2"])
def test_narrow_numbers_are_counted_as_what_they_become(tmp_path, kind):
    few, many = np.zeros(8 * 2**20 - 100, kind), np.zeros(9 * 2**20, kind)
    arrays, _ = files.read_arrays(write(tmp_path / "few.npz", few=few))
    assert len(arrays["few"]) == len(few)
    path = write(tmp_path / "many.npz", many=many)
    assert path.stat().st_size < 100_000
    refuse(path, "its numbers would take 72 MB, and at most 64 MB are taken")


def test_narrow_numbers_that_are_all_there_are_no_better(tmp_path):
    path = write(tmp_path / "a.npz", zipfile.ZIP_STORED, a=np.zeros(20 * 2**20, np.int8))
    refuse(path, "its numbers would take 160 MB, and at most 80 MB")
    require_wide_numbers(2 * limits.GIB, limits.GIB)  # single precision


def test_ours_are_not_packed_and_others_may_be(tmp_path):
    """Zeros with some noise, which pack to an eighth."""
    still = np.zeros((5, 2**21))
    still[0] = np.random.default_rng(0).random(2**21)
    path = write(tmp_path / "a.npz", still=still)
    refuse(path, "would unpack to 80 MB, and at most 6")
    arrays, _ = files.read_arrays(path, packed_to=limits.OTHERS_PACKED_TO)
    assert np.array_equal(arrays["still"], still)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": "' + "x" * 2 * limits.META_LETTERS + '"}', "its description has 83[0-9]* letters, and at most 4194304"),
        ('{"a": [' + ",".join([MANY] * 10) + "]}", "its description has [0-9]+ letters"),
        ('{"a": [' + MANY + "]}", "it has 600001 entries, and at most 500000"),
    ],
)
def test_a_description_has_a_limit_that_is_told_before_it_is_read(tmp_path, text, message):
    refuse(write(tmp_path / "a.npz", meta=np.array(text)), message)


def test_a_description_that_nobody_could_read_is_not_written(tmp_path):
    with pytest.raises(CannotWrite, match=r"a\.npz': its description has .* fewer clips"):
        files.write_arrays(tmp_path / "a.npz", {}, {"a": "x" * limits.META_LETTERS})
    assert not (tmp_path / "a.npz").exists()


def test_the_description_of_ten_thousand_clips_is_read(tmp_path):
    row = {"name": "walk 0001", "source": "/captures/walk.bvh", "digest": "f" * 64, "notes": ["Trimmed"]}
    meta = {"clips": [row | {"tags": [["stroll", 0, 100, False]] * 3}] * 10_000}
    files.write_arrays(tmp_path / "a.npz", {}, meta)
    assert files.read_arrays(tmp_path / "a.npz") == ({}, meta)


def test_json_is_counted_before_it_is_read(tmp_path):
    path = tmp_path / "report.json"
    path.write_text('{"a": [' + ",".join(["[]"] * 1_000_001) + "]}", encoding="utf-8")
    with pytest.raises(BadFile, match=r"report\.json' cannot be read: it has 2000003 entries, and at most 2000000"):
        files.read_json(path)
    assert len(files.parse_json(json.dumps([0.5] * 1_000_000))) == 1_000_000
    for text in ("[" * 5, b"," * 5, "{" * 5):
        require_few_items(text, 5)
        with pytest.raises(ValueError, match="5 entries, and at most 4"):
            require_few_items(text, 4)
