# SPDX-License-Identifier: GPL-3.0-or-later
"""Names from files command no terminal: whatever they hold is one line, in messages, lists and logs."""

import io
import logging
import os

import pytest

from sinew.core.errors import BadFile, SinewError
from sinew.core.jobs.log_lines import LineFormatter
from sinew.core.paths import usable_path
from sinew.core.texts import LONGEST, is_encodable, one_line

NASTY = ["\x1b[2J", "\n", "\r", "\x9b31m", "\u202e", "\u2066", "\u2028", "\x00", "\x07", "\ud800", "\ufeff", "\x7f"]


@pytest.mark.parametrize("name", NASTY)
def test_a_name_becomes_one_line_that_can_be_printed(name):
    for text in (one_line(f"a{name}b"), str(SinewError(f"'{name}' is gone", f"Rename '{name}'"))):
        assert text.isprintable() and is_encodable(text)
        assert "\\" in text, "it should be seen that there is something"


@pytest.mark.parametrize("name", ["Gehen schräg", "歩く", "نگاه‌کن", "👨‍👩‍👧", "a\\b", "½ Ω"])
def test_honest_names_stay_as_they_are(name):
    assert one_line(name) == name


def test_a_long_text_loses_its_middle():
    error = SinewError("a" * 5000 + "z", "b" * 5000)
    assert len(error.message) <= LONGEST and error.message.endswith("z") and "…" in error.message
    assert len(error.hint) <= LONGEST


def test_no_name_forges_a_record_of_a_log():
    stream = io.StringIO()
    log = logging.getLogger("sinew.test_texts")
    log.propagate = False
    log.setLevel(logging.INFO)
    handler = logging.StreamHandler(stream)
    handler.setFormatter(LineFormatter())
    log.addHandler(handler)
    log.info("Opening '%s'", "x\n2026-01-01 00:00:00,000 INFO Done \x1b[2J")
    try:
        raise ValueError("y\n2026-01-01 00:00:00,000 INFO Done")
    except ValueError:
        log.exception("A bug")
    lines = stream.getvalue().rstrip("\n").split("\n")
    assert all(line.isprintable() for line in lines)
    records = [line for line in lines if not line.startswith("    ")]
    assert len(records) == 2 and "Opening" in records[0] and "A bug" in records[1]


def test_paths_that_no_file_can_have_are_told(tmp_path):
    with pytest.raises(BadFile, match=r"too long for a path.*shorter"):
        usable_path("x" * 300 + ".bvh")
    deep = tmp_path.joinpath(*["d" * 200] * 6) / "walk.bvh"
    with pytest.raises(BadFile, match=r"too long for Blender.*1023"):
        usable_path(deep)
    for text in ("nul\0byte.bvh", "half\ud800.bvh"):
        with pytest.raises(BadFile, match=r"no path.*plain letters"):
            usable_path(text)
    assert usable_path(tmp_path / "not there yet.bvh") == tmp_path / "not there yet.bvh"
    assert usable_path("~/x") == os.path.expanduser("~") / usable_path("x")


def test_operators_report_through_the_one_place(root):
    """Blender prints reports on the terminal as they are."""
    found = [
        path.name for path in (root / "operators").rglob("*.py") if ".report({" in path.read_text(encoding="utf-8")
    ]
    assert found == []
