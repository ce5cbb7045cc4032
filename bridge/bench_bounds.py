# SPDX-License-Identifier: GPL-3.0-or-later
"""``bench bounds``: what learning within spacetime bounds costs, against the goals; part by part if wanted."""

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from ..core.errors import BadSettings
from ..core.measure import bench_rows
from ..core.measure.bench_bounds import CLIPS, PARTS, Bench, line_of, summary_of, with_settings
from ..core.measure.bench_rows import Row
from ..core.motion.io import stock
from . import saving
from .bench_options import numbers, say, words


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the benchmark's own arguments."""
    add = parser.add_argument
    add("--only", type=words, default=(), metavar="PARTS", help=f"some of: {', '.join(PARTS)} (default all)")
    add("--clips", type=words, default=CLIPS, metavar="NAMES", help=f"of the table (default {','.join(CLIPS)})")
    add("--seeds", type=numbers, default=(0, 1), metavar="N,…", help="default 0,1")
    add("--engine", default="mujoco", help="mujoco or bullet (default mujoco)")
    add("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of training; may be repeated")
    add("--minutes", type=float, help="how long a row may take now; it goes on from there in the next run")
    add("--kept", type=Path, default=_cache(), metavar="DIR", help="where unfinished trainings are kept (%(default)s)")
    add("--anew", action="store_true", help="begin anew what is kept")
    add("--rows", type=Path, metavar="FILE.jsonl", help="append every row to this file as soon as it is known")


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure the parts that were asked for, row by row, and sum up."""
    if unknown := [name for name in arguments.only if name not in PARTS]:
        raise BadSettings(f"There is no part '{unknown[0]}'", f"Choose from: {', '.join(PARTS)}")
    if unknown := [name for name in arguments.clips if name not in stock.names()]:
        raise BadSettings(f"There is no stock clip '{unknown[0]}'", "Give names of 'sinew clips'")
    for folder in (arguments.kept, arguments.rows and arguments.rows.parent):
        if folder is not None:
            saving.require_writable_folder(folder)
    bench = Bench(
        arguments.kept, arguments.engine, arguments.clips, minutes=arguments.minutes, anew=arguments.anew, say=say
    )
    bench = with_settings(bench, arguments.set)
    rows: list[Row] = []
    finished = True
    try:
        for row in bench.rows(arguments.only or PARTS, arguments.seeds):
            rows.append(row)
            say(line_of(row))
            if arguments.rows is not None:
                bench_rows.append(arguments.rows, row)
    except KeyboardInterrupt:  # what is known is still worth a table
        finished = False
    return {"settings": bench.settings.to_mapping(), "finished": finished, "summary": summary_of(rows), "rows": rows}


def _cache() -> Path:
    """Where trainings are kept if nobody says where: this user's folder for what can be made again."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "Sinew" / "bounds"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "Sinew" / "bounds"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sinew" / "bounds"
