# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of benchmarks in files, one JSON object a line, so that parts measured at different times come together."""

import json
import os
import platform
import subprocess
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

Row = dict[str, Any]
_ROOT = Path(__file__).resolve().parents[1]


def append_row(path: Path, row: Row) -> None:
    """Add a row: a benchmark that is killed leaves what it knew."""
    with path.open("a", encoding="utf-8") as stream:
        stream.write(f"\n{json.dumps(row)}\n")  # after a line that a kill may have torn


def read_rows(path: Path) -> list[Row]:
    """What earlier runs left in a file; a last line that a kill tore is none."""
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else []:
        with suppress(ValueError):
            rows.append(json.loads(line))
    return rows


def newest_rows(rows: Iterable[Row], key: Sequence[str]) -> list[Row]:
    """Of rows that are the same in ``key`` only the last, each where the first of them stood."""
    known = {}
    for row in rows:
        known[tuple(str(row.get(name)) for name in key)] = row
    return list(known.values())


def code_version() -> str:
    """Which state of the code this is; '+' after it where core was changed since, '' where that is unknown."""
    try:
        head = _git("rev-parse", "--short", "HEAD")
        return head + ("+" if _git("status", "--porcelain", "--untracked-files=no", "--", "core") else "")
    except (OSError, subprocess.SubprocessError):
        return ""


def describe_machine() -> str:
    """What it was measured on, in words."""
    return f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}"


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=_ROOT, capture_output=True, text=True, timeout=20, check=True)
    return done.stdout.strip()
