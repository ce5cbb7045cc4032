# SPDX-License-Identifier: GPL-3.0-or-later
"""``bench simulate``: what simulation makes of stock clips, recorded motion and pushes, against the goals."""

import argparse
import os
import platform
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from ...bridge.cli.job_arguments import add_where
from ...bridge.scene import saving
from ...core.control import registry
from ...core.errors import BadSettings
from ...core.files import write_whole
from ...core.jobs.cluster.calls import spread_calls
from ...core.jobs.cluster.connection import ROOMS, Cluster
from ...core.motion import Take
from ...core.motion.io import stock
from ...core.settings import Settings
from .. import mocap
from .. import rows as bench_rows
from ..options import print_progress, split_numbers, split_words
from ..run import Case, Row, method_and_settings
from ..sheets import take_sheet
from . import cases as core
from . import files, goals
from .again import again_cases, simulate_as_first
from .page import simulate_page

_DOCS = Path(__file__).resolve().parents[2] / "docs"
_PICTURES = Path("images") / "simulate"
_KEY = ("group", "clip", "seed", "engine", "from", "phase", "hint_taken", "again")  # what makes two rows the same run
_ABSENT = "there is no folder of recorded motions: ../shared/mocap"


@dataclass(frozen=True)
class Group:
    """A part of the benchmark.

    names: the clips it knows. cases: what to simulate of (clips, seeds, engine). summary: of its rows and all rows.
    clips: those it takes by itself, all if empty. engine: the only one it is for.
    """

    names: Callable[[], Iterable[str]]
    cases: Callable[[Sequence[str], Sequence[int], str], Iterator[Case]]
    summary: Callable[[Sequence[Row], Sequence[Row]], dict[str, Any]]
    seeds: tuple[int, ...] = (0,)
    clips: tuple[str, ...] = ()
    engine: str = ""


def _own(summary: Callable[[Sequence[Row]], dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    return lambda rows, _: summary(rows)


def _bullet(rows: Sequence[Row], others: Sequence[Row]) -> dict[str, Any]:
    mujoco = [row for row in others if row["group"] == "stock" and row["engine"] == "mujoco"]
    return goals.bullet_summary(rows, mujoco, core.engines_ratio() if rows else None)


GROUPS = {
    "stock": Group(stock.stock_names, core.stock_cases, _own(goals.stock_summary), seeds=(0, 1, 2)),
    "again": Group(stock.stock_names, again_cases, _own(goals.again_summary)),
    "bullet": Group(stock.stock_names, partial(core.stock_cases, group="bullet"), _bullet, engine="bullet"),
    "push": Group(stock.stock_names, core.push_cases, _own(goals.push_summary), clips=("walk",)),
    files.GROUP: Group(files.file_names, files.file_cases, _own(goals.files_summary)),
    "odd": Group(partial(mocap.mocap_names, "odd"), mocap.odd_cases, _own(goals.odd_summary)),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the benchmark's own arguments."""
    add = parser.add_argument
    groups = f"some of: {', '.join(GROUPS)}; if left out, all"
    add("--only", type=split_words, default=(), metavar="GROUPS", help=groups)
    add(
        "--clips",
        type=split_words,
        default=(),
        metavar="NAMES",
        help="only these clips, such as walk,07_01_walk,Fox/Run",
    )
    add("--seeds", type=split_numbers, default=(), metavar="N,…", help="other seeds than the group's own, such as 0,1")
    add("--engine", default="mujoco", help="mujoco or bullet (default mujoco)")
    add("--quality", default="normal", help="draft, normal or high (default normal)")
    add(
        "--method",
        default=registry.default_method_name(),
        metavar="NAME",
        help=f"one of: {', '.join(registry.clip_method_names())}",
    )
    add(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="another setting of the method; may be repeated"
    )
    add("--mesh", action="store_true", help="bodies of stock clips fitted to the mannequin's mesh, not from tables")
    add_where(parser)
    add("--twice", action="store_true", help="simulate everything twice, and say whether it came out the same")
    add("--rows", type=Path, metavar="FILE.jsonl", help="append every row to this file as soon as it is known")
    add("--look", type=Path, metavar="DIR", help="a contact sheet of everything simulated, to be looked at, goes here")
    add(
        "--sheets",
        type=Path,
        nargs="?",
        const=_DOCS,
        metavar="DIR",
        help="also make contact sheets of the stock clips and a page that shows them; DIR is the project's docs/ if "
        "left out. The page has all that --rows has, the newest row of each",
    )


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """Simulate what was asked for, row by row, and sum up."""
    chosen = _chosen(arguments.only, arguments.clips)
    texts = [f"quality={arguments.quality}"] if arguments.method == "sampling" else []
    method, settings = method_and_settings(arguments.method, texts + arguments.set)
    if arguments.sheets is not None:
        saving.require_writable_folder(arguments.sheets)
    shown_seed = min(arguments.seeds or GROUPS["stock"].seeds)
    rows: list[Row] = []
    finished = True
    try:
        for case, row, take in _simulated(_cases(chosen, arguments), method.name, settings, arguments):
            rows.append(row)
            _tell(row, arguments.rows)
            if take is None:
                continue
            source = take.in_take_time(case.clip) or case.clip
            if arguments.look is not None:
                name = re.sub(r"[^\w.-]+", "_", f"{case.group}_{case.name}_{case.seed}")
                take_sheet(arguments.look / f"{name}.png", source, take.motion)
            if arguments.sheets is not None and (case.group, case.seed) == ("stock", shown_seed):
                take_sheet(arguments.sheets / _PICTURES / f"{case.name}.png", source, take.motion)
    except KeyboardInterrupt:  # what is known is still worth a table
        finished = False
    result = {
        "settings": {"method": arguments.method, **settings.to_mapping()},
        "finished": finished,
        "same_again": all(row["same_again"] for row in rows) if arguments.twice else None,
        "summary": _summed(chosen, rows),
        "rows": rows,
    }
    if arguments.sheets is not None:
        _write_page(result, arguments)
    return result


def _simulated(
    cases: Iterable[Case], method: str, settings: Settings, arguments: argparse.Namespace
) -> Iterator[tuple[Case, Row, Take | None]]:
    """Every case with its row and take: one after the other here, or as they come from a cluster."""
    words = method, settings.to_mapping(), arguments.twice
    if arguments.where.is_here:
        for case in cases:
            yield case, *simulate_as_first(case, *words)
        return
    listed = list(cases)
    with Cluster(arguments.where, (*ROOMS, "bench")) as cluster:
        for number, found in spread_calls(cluster, simulate_as_first, [(case, *words) for case in listed]):
            yield listed[number], *found


def _cases(chosen: Mapping[str, Sequence[str]], arguments: argparse.Namespace) -> Iterator[Case]:
    for name, clips in chosen.items():
        group = GROUPS[name]
        if not clips:
            print_progress(f"{name}: skipped, {_ABSENT}")
        for case in group.cases(clips, arguments.seeds or group.seeds, group.engine or arguments.engine):
            worn = mocap.mannequin_attachments() if arguments.mesh and group.names is stock.stock_names else {}
            yield replace(case, attachments={**case.attachments, **worn})


def _write_page(result: dict[str, Any], arguments: argparse.Namespace) -> None:
    """The page of all rows that are known, with the pictures that there are."""
    rows = bench_rows.newest_rows(
        [*(bench_rows.read_rows(arguments.rows) if arguments.rows else []), *result["rows"]], _KEY
    )
    groups = {name: [row["clip"] for row in rows if row["group"] == name] for name in GROUPS}
    whole = {**result, "summary": _summed({name: clips for name, clips in groups.items() if clips}, rows)}
    folder = arguments.sheets / _PICTURES
    pictures = {path.stem: (_PICTURES / path.name).as_posix() for path in sorted(folder.glob("*.png"))}
    machine = f"{os.cpu_count()} cores, {platform.system()}"
    write_whole(arguments.sheets / "simulate.md", simulate_page(whole, rows, pictures, machine).encode())


def _chosen(only: Sequence[str], clips: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """By group its clips; a group that knows none of the asked clips is left out."""
    if unknown := [name for name in only if name not in GROUPS]:
        raise BadSettings(f"There is no group '{unknown[0]}'", f"Choose from: {', '.join(GROUPS)}")
    known = {name: tuple(GROUPS[name].names()) for name in only or GROUPS}
    if unknown := [clip for clip in clips if not any(_knows(names, clip) for names in known.values())]:
        raise BadSettings(
            f"There is no clip '{unknown[0]}' in {' or '.join(known)}",
            "Give names of 'sinew clips', or of files in ../shared/mocap without their endings",
        )
    if not clips:
        return {name: GROUPS[name].clips or names for name, names in known.items()}
    chosen = {name: tuple(clip for clip in clips if _knows(names, clip)) for name, names in known.items()}
    return {name: some for name, some in chosen.items() if some}


def _knows(names: Sequence[str], clip: str) -> bool:
    """Whether a clip is one of these, or an Action of one that is a file: 'Fox/Run'."""
    return clip in names or clip.partition("/")[0] in names


def _summed(chosen: Mapping[str, Sequence[str]], rows: Sequence[Row]) -> dict[str, Any]:
    """By group what its rows come to."""
    found: dict[str, Any] = {}
    for name, clips in chosen.items():
        own = [row for row in rows if row["group"] == name]
        found[name] = GROUPS[name].summary(own, rows) if clips else {"skipped": _ABSENT}
    return found


def _tell(row: Row, file: Path | None) -> None:
    """A line for whoever watches, and the whole row for a file."""
    print_progress(goals.run_line(row))
    if file is not None:
        bench_rows.append_row(file, row)
