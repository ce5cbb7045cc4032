# SPDX-License-Identifier: GPL-3.0-or-later
"""``bench graph``: what learned control graphs are worth, against the goals. Parts can be measured one by one."""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...bridge.scene import saving
from ...core.control.graph.model.control_graph import ControlGraph
from ...core.control.graph.playing.baking import Bake
from ...core.control.graph.playing.take_making import take_of_bake
from ...core.errors import BadSettings
from ...core.files import write_whole
from ...core.motion.io import stock
from .. import rows as bench_rows
from ..options import print_progress, split_numbers, split_words
from ..rows import Row
from ..run import BenchRun, method_and_settings
from ..sheets import meeting_sheet
from . import goals
from .learned_graphs import CYCLES, METHOD, GraphCache, graph_cache_folder
from .learning_curves import draw_learning_curve
from .measurements import LINKED, PARTS, GraphBenchmark
from .page import curve_name, graph_page

_DOCS = Path(__file__).resolve().parents[2] / "docs"
_PICTURES = Path("images") / "graph"
_KEY = ("part", "name", "seed", "engine", "study")  # what makes two rows the same measurement
_FPS = 30.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the benchmark's own arguments."""
    add = parser.add_argument
    add("--only", type=split_words, default=(), metavar="PARTS", help=f"some of: {', '.join(PARTS)} (default all)")
    add(
        "--skills",
        type=split_words,
        default=CYCLES,
        metavar="NAMES",
        help=f"cycles of the table, the first also of endurance, cost and retarget (default {','.join(CYCLES)})",
    )
    add(
        "--linked",
        type=split_words,
        default=LINKED,
        metavar="NAMES",
        help=f"skills of the graph that walks and collides (default {','.join(LINKED)})",
    )
    add("--seeds", type=split_numbers, default=(0,), metavar="N,…", help="default 0")
    add("--engine", default="mujoco", help="mujoco or bullet (default mujoco)")
    add("--study", default="normal", help="how hard to learn: draft, normal or high (default normal)")
    add("--set", action="append", default=[], metavar="KEY=VALUE", help="another setting of learning; may be repeated")
    add("--seconds", type=float, help="play for so long instead of as long as the goals ask; for a quick try")
    add(
        "--graphs",
        type=Path,
        default=graph_cache_folder(),
        metavar="DIR",
        help="where learned graphs are kept (%(default)s)",
    )
    add("--anew", action="store_true", help="learn again what is kept")
    add("--rows", type=Path, metavar="FILE.jsonl", help="append every row to this file as soon as it is known")
    add(
        "--sheets",
        type=Path,
        nargs="?",
        const=_DOCS,
        metavar="DIR",
        help="also make the collision's contact sheet, the curves and a page that shows them; DIR is the project's "
        "docs/ if left out. The page has all that --rows has, the newest row of each",
    )


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure the parts that were asked for, row by row, and sum up."""
    parts = _parts(arguments)
    settings = (f"quality={arguments.study}", *arguments.set)
    method_and_settings(METHOD, list(settings))  # a wrong one is refused before anything is learned
    for folder in (arguments.graphs, arguments.sheets, arguments.rows and arguments.rows.parent):
        if folder is not None:
            saving.require_writable_folder(folder)
    cache = GraphCache(arguments.graphs, arguments.engine, settings, arguments.anew, print_progress)
    bench = GraphBenchmark(cache, arguments.skills, arguments.linked, arguments.seconds, print_progress)
    if arguments.sheets is not None:
        picture = arguments.sheets / _PICTURES / "collide.png"
        bench = replace(bench, on_collision=lambda graph, bake, row: _shown(picture, graph, bake, row))
    rows: list[Row] = []
    finished = True
    try:
        for row in bench.rows(parts, arguments.seeds):
            rows.append(row)
            print_progress(goals.graph_row_line(row))
            if arguments.rows is not None:
                bench_rows.append_row(arguments.rows, row)
    except KeyboardInterrupt:  # what is known is still worth a table
        finished = False
    if arguments.sheets is not None:
        _write_page([*(bench_rows.read_rows(arguments.rows) if arguments.rows else []), *rows], arguments.sheets)
    summary = {part: goals.graph_goal_summary(part, [row for row in rows if row["part"] == part]) for part in parts}
    return {"settings": list(settings), "finished": finished, "summary": summary, "rows": rows}


def _parts(arguments: argparse.Namespace) -> Sequence[str]:
    """The parts that were asked for; unknown ones, and clips that are none, are refused."""
    if unknown := [name for name in arguments.only if name not in PARTS]:
        raise BadSettings(f"There is no part '{unknown[0]}'", f"Choose from: {', '.join(PARTS)}")
    for option, names in (("--skills", arguments.skills), ("--linked", arguments.linked)):
        if not names:
            raise BadSettings(f"{option} names no skills", f"Write names of stock clips, such as {option} walk,run")
        if unknown := [name for name in names if name not in stock.stock_names()]:
            raise BadSettings(f"There is no stock clip '{unknown[0]}'", "Give names of 'sinew clips'")
    if arguments.seconds is not None and not arguments.seconds >= 1.0:
        raise BadSettings(f"{arguments.seconds:g} s are too few to play", "Give 1 second or more")
    return arguments.only or PARTS


def _shown(picture: Path, graph: ControlGraph, bake: Bake, row: Row) -> None:
    """The contact sheet of a collision: from before the contact until those that fell are up again."""
    run = BenchRun("", 0, {})
    take = take_of_bake(bake, _FPS, run)
    meeting_sheet(picture, [take.motion, *(other.motion for other in take.others)], *_window(row))


def _window(row: Row) -> tuple[float, float]:
    """Seconds from when to when a meeting is worth seeing."""
    falls = [fall for own in row["down"] for fall in own]
    if not falls:
        first = min(row["touched_s"], default=0.5 * row["seconds"])
        return max(first - 2.0, 0.0), min(first + 2.0, row["seconds"])
    fell = min(fall["fell_s"] for fall in falls)
    begins = max((moment for moment in row["touched_s"] if moment <= fell), default=fell)
    # Falls of this contact, not much later ones. Not far before and after, for the characters are soon apart.
    ups = [fall["up_s"] or row["seconds"] for fall in falls if fall["fell_s"] < fell + 3.0]
    return max(begins - 0.5, 0.0), min(max(ups) + 0.2, row["seconds"])


def _write_page(rows: Sequence[Row], docs: Path) -> None:
    """The page of all rows that are known, with the pictures that there are."""
    known = bench_rows.newest_rows(rows, _KEY)
    folder = docs / _PICTURES
    folder.mkdir(parents=True, exist_ok=True)
    for row in known:
        if row["part"] == "table" and row.get("curve"):
            drawing = draw_learning_curve(row["name"], row["curve"], row["floor_n"])
            write_whole(folder / f"{curve_name(row)}.svg", drawing.encode())
    pictures = {path.stem: (_PICTURES / path.name).as_posix() for path in sorted(folder.iterdir())}
    by_part = {part: [row for row in known if row["part"] == part] for part in PARTS}
    summaries = {part: goals.graph_goal_summary(part, own) for part, own in by_part.items()}
    write_whole(docs / "graph.md", graph_page(summaries, known, pictures).encode())
