# SPDX-License-Identifier: GPL-3.0-or-later
"""A BVH file takes memory for its motion, however its text is laid out."""

import tracemalloc

import numpy as np
import pytest

from sinew.core import limits
from sinew.core.motion.io import bvh, bvh_check
from sinew.core.motion.io.bvh import load_bvh
from sinew.core.motion.io.bvh_check import check_bvh

from .written_files import BVH, refused

FRAME = "0 0.9 0 1 2 3 4 5 6\n"


def written(tmp_path, text):
    path = tmp_path / "walk.bvh"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("check", [check_bvh, load_bvh])
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("HIERARCHY " + "00 " * 3_000_000 + "\n", "line 1"),
        (BVH.replace("CHANNELS 3 ", "CHANNELS 3 " + "Zrotation " * 500_000), "line 9"),
        (BVH + "00 " * 3_000_000, "line 21"),
    ],
)
def test_a_line_is_read_as_far_as_any_frame_goes(tmp_path, check, text, line):
    path = written(tmp_path, text)
    tracemalloc.start()
    refused(check, path, line, "more than 1048576 letters", "a line of its own")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16 * limits.MIB


def test_lines_and_ends_of_joints_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(bvh_check, "BVH_LINES", 30)
    check_bvh(written(tmp_path, BVH + "\n" * 10))
    refused(check_bvh, written(tmp_path, BVH + "\n" * 11), "more than 30 lines", "empty lines")
    monkeypatch.undo()
    monkeypatch.setattr(bvh_check, "MOST_BONES", 2)
    end = BVH[BVH.index("    End Site") : BVH.index("  }\n}\nMOTION")]
    check_bvh(written(tmp_path, BVH.replace(end, end * 2)))
    refused(check_bvh, written(tmp_path, BVH.replace(end, end * 3)), "line 18", "more than 2 End Sites")


def test_joints_that_do_not_move_are_in_every_frame(tmp_path):
    """Ten thousand of them cost a word each, and a pose of each in every frame."""
    still = "JOINT J{}\n{{\nOFFSET 0 0 0\n}}\n"
    text = BVH.replace("  JOINT", "".join(still.format(number) for number in range(9_990)) + "  JOINT", 1)
    path = written(tmp_path, text.replace(FRAME, FRAME * 80))
    for check in (check_bvh, load_bvh):
        refused(check, path, "more than 150 frames of 9992 joints", "leave out joints")


def test_numbers_that_are_read_in_pieces_are_the_same(tmp_path, monkeypatch):
    rows = np.random.default_rng(2).normal(size=(300, 9)) * 50.0
    frames = "".join(" ".join(f"{value:.6f}" for value in row) + "\n" for row in rows)
    path = written(tmp_path, BVH.replace(FRAME * 2, frames))
    whole = load_bvh(path)
    for piece in (1, 7, 64, 5000):
        monkeypatch.setattr(bvh, "_PIECE", piece)
        again = load_bvh(path)
        assert np.array_equal(again.local_pos, whole.local_pos)
        assert np.array_equal(again.local_quat_wxyz, whole.local_quat_wxyz)


def test_words_of_a_motion_are_not_all_there_at_once(monkeypatch):
    """Half a million numbers of three letters would be thirty megabytes of words."""
    monkeypatch.setattr(bvh, "_PIECE", 10_000)
    motion = BVH.replace(FRAME * 2, ("00 " * 9 + "\n") * 60_000).partition("MOTION")[2]
    tracemalloc.start()
    fps, rows = bvh._read_motion(motion, 9)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert rows.shape == (60_000, 9) and fps == 30.0
    assert peak < 20 * limits.MIB
