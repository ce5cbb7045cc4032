# SPDX-License-Identifier: GPL-3.0-or-later
"""``bench bounds``: what learning within spacetime bounds costs, against the goals; part by part if wanted."""

import argparse
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...bridge.scene import saving
from ...core.errors import BadSettings
from ...core.files import write_whole
from ...core.motion.io import stock
from .. import mocap
from .. import rows as bench_rows
from ..options import print_progress, split_numbers, split_words
from ..rows import Row
from ..sheets import take_sheet
from . import ablation, claims, drawings, other_bodies, page, style_page
from . import styles as bench_style
from .table import CLIPS, PARTS, BoundsBench, format_learning_row, override_settings, summarise_bounds_goals

_ALL = (*PARTS, *ablation.PARTS, *claims.PARTS, *other_bodies.PARTS, *bench_style.PARTS)
_LINES = {"ablation": ablation.format_ablation_row, "claims": claims.format_claim_row}
_LINES |= dict.fromkeys(other_bodies.PARTS, other_bodies.format_body_row)
_LINES |= dict.fromkeys(bench_style.PARTS, bench_style.format_style_row)
_DOCS = Path(__file__).resolve().parents[2] / "docs"
_PICTURES, _SHOWN_S = Path("images") / "styles", 3.0
_DRAWINGS = Path("images") / "bounds"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the benchmark's own arguments."""
    add = parser.add_argument
    add("--only", type=split_words, default=(), metavar="PARTS", help=f"some of: {', '.join(_ALL)} (default all)")
    add(
        "--clips",
        type=split_words,
        default=(),
        metavar="NAMES",
        help=f"default {','.join(CLIPS)} for the table, {','.join(ablation.CLIPS)} for ablation",
    )
    add("--styles", type=split_words, default=(), metavar="NAMES", help="of the parts style and manner (default all)")
    add(
        "--bodies",
        type=split_words,
        default=(),
        metavar="NAMES",
        help=f"of the parts about other bodies: {', '.join(other_bodies.BODIES)} (default all)",
    )
    add(
        "--variants",
        type=split_words,
        default=(),
        metavar="NAMES",
        help=f"of ablation: {', '.join(ablation.VARIANTS)}; of claims: {', '.join(claims.CLAIMS)}, or what "
        "their rows call variants (default all)",
    )
    add("--seeds", type=split_numbers, default=(0, 1), metavar="N,…", help="default 0,1")
    add("--engine", default="mujoco", help="mujoco or bullet (default mujoco)")
    add("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of training; may be repeated")
    add("--minutes", type=float, help="how long a row may take now; it goes on from there in the next run")
    add("--kept", type=Path, default=_cache(), metavar="DIR", help="where unfinished trainings are kept (%(default)s)")
    add("--anew", action="store_true", help="begin anew what is kept")
    add(
        "--sheets",
        type=Path,
        nargs="?",
        const=_DOCS,
        metavar="DIR",
        help="also make contact sheets of the styles and a page with them; DIR is the project's docs/ if left out",
    )
    add(
        "--page",
        type=Path,
        nargs="?",
        const=_DOCS,
        metavar="DIR",
        help="measure nothing; make bounds.md with its drawings of all that --rows has, the newest row of each. DIR is "
        "the project's docs/ if left out",
    )
    add("--rows", type=Path, metavar="FILE.jsonl", help="append every row to this file as soon as it is known")


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure the parts that were asked for, row by row, and sum up."""
    if arguments.page is not None:
        return _made(arguments)
    if unknown := [name for name in arguments.only if name not in _ALL]:
        raise BadSettings(f"There is no part '{unknown[0]}'", f"Choose from: {', '.join(_ALL)}")
    if unknown := [name for name in arguments.clips if name not in stock.stock_names()]:
        raise BadSettings(f"There is no stock clip '{unknown[0]}'", "Give names of 'sinew clips'")
    if unknown := [name for name in arguments.bodies if name not in other_bodies.BODIES]:
        raise BadSettings(f"There is no body '{unknown[0]}'", f"Choose from: {', '.join(other_bodies.BODIES)}")
    for folder in (arguments.kept, arguments.sheets, arguments.rows and arguments.rows.parent):
        if folder is not None:
            saving.require_writable_folder(folder)
    bench = BoundsBench(
        arguments.kept, arguments.engine, minutes=arguments.minutes, anew=arguments.anew, say=print_progress
    )
    bench = override_settings(bench, arguments.set)
    rows: list[Row] = []
    finished = True
    try:
        for row in _rows(bench, arguments):
            rows.append(row)
            print_progress(_LINES.get(row["part"], format_learning_row)(row))
            if arguments.rows is not None:
                bench_rows.append_row(arguments.rows, row)
    except KeyboardInterrupt:  # what is known is still worth a table
        finished = False
    if arguments.sheets is not None:
        _write_page(bench, [*(bench_rows.read_rows(arguments.rows) if arguments.rows else []), *rows], arguments.sheets)
    return {
        "settings": bench.settings.to_mapping(),
        "finished": finished,
        "summary": summarise_bounds_goals(rows),
        "rows": rows,
    }


def _rows(bench: BoundsBench, arguments: argparse.Namespace) -> Iterator[Row]:
    """Of the parts that were asked for, those of learning first, then those of styles."""
    wanted = arguments.only or _ALL
    clips, seeds, variants = arguments.clips, arguments.seeds, arguments.variants
    whole = replace(bench, clips=clips or CLIPS)
    yield from whole.rows([part for part in wanted if part in PARTS], seeds)
    if "ablation" in wanted:
        known = [name for name in variants if name in ablation.VARIANTS]
        # Without a warm start, as in the paper, unless it is set.
        warm = any(text.partition("=")[0].strip() == "warm" for text in arguments.set) and bench.settings.warm
        own = replace(bench, clips=clips or ablation.CLIPS, settings=replace(bench.settings, warm=warm))
        yield from ablation.measure_ablation(own, seeds, known)
    if "claims" in wanted:
        yield from claims.measure_claims(replace(bench, clips=clips), seeds, variants)
    bodies = [part for part in wanted if part in other_bodies.PARTS]
    own = replace(bench, clips=clips or other_bodies.CLIPS)
    yield from other_bodies.measure_other_bodies(own, bodies, seeds, arguments.bodies)
    styles = [part for part in wanted if part in bench_style.PARTS]
    yield from bench_style.measure_styles(whole, styles, seeds, mocap.read_mocap_clip, arguments.styles)


def _made(arguments: argparse.Namespace) -> dict[str, Any]:
    """The page of all that is known, and its drawings."""
    if arguments.rows is None or not arguments.rows.is_file():
        raise BadSettings("There are no rows to make a page of", "Give --rows FILE.jsonl with what was measured")
    saving.require_writable_folder(arguments.page)
    rows = bench_rows.read_rows(arguments.rows)
    folder = arguments.page / _DRAWINGS
    folder.mkdir(parents=True, exist_ok=True)
    pictures = {}
    for name, drawing in drawings.drawings(page.without_failures(page.known_rows(rows))).items():
        write_whole(folder / f"{name}.svg", drawing.encode())
        pictures[name] = (_DRAWINGS / f"{name}.svg").as_posix()
    if (arguments.page / "styles.md").is_file():
        pictures[page.STYLES] = "styles.md"
    write_whole(arguments.page / "bounds.md", page.make_bounds_page(rows, pictures).encode())
    return {"page": str(arguments.page / "bounds.md"), "rows": len(rows), "drawings": sorted(pictures)}


def _write_page(bench: BoundsBench, rows: list[Row], folder: Path) -> None:
    """The page of the styles, with pictures of those that are kept, and of those that were drawn before."""
    own = [row for row in rows if row["part"] in bench_style.PARTS and "refused" not in row and "bug" not in row]
    pictures = {}
    for row in own:
        name = style_page.picture_name(row)
        path = folder / _PICTURES / f"{name}.png"
        motions = None if name in pictures or row["seed"] else bench_style.film_style(bench, row, _SHOWN_S)
        if motions is not None:
            take_sheet(path, *motions)
        if path.is_file():
            pictures[name] = path.relative_to(folder).as_posix()
    write_whole(folder / "styles.md", style_page.make_styles_page(rows, pictures).encode())


def _cache() -> Path:
    """The default folder of unfinished trainings: this user's cache."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "Sinew" / "bounds"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "Sinew" / "bounds"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sinew" / "bounds"
