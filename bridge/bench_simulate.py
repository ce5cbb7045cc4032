# SPDX-License-Identifier: GPL-3.0-or-later
"""``bench simulate``: what simulation makes of stock clips, recorded motion and pushes, against the goals."""

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ..core.control import registry
from ..core.errors import BadSettings
from ..core.measure import bench_simulate as core
from ..core.measure import goals
from ..core.measure.bench_run import Case, Row, method_and_settings, simulated
from ..core.motion.io import stock
from . import bench_mocap


@dataclass(frozen=True)
class Group:
    """A part of the benchmark.

    names: the clips it knows. cases: what to simulate of (clips, seeds, engine). summary: of its rows and all rows.
    clips: those it takes by itself, all if empty. engine: the only one it is for. by_name: whether it only runs when
    asked for.
    """

    names: Callable[[], Iterable[str]]
    cases: Callable[[Sequence[str], Sequence[int], str], Iterator[Case]]
    summary: Callable[[Sequence[Row], Sequence[Row]], dict[str, Any]]
    seeds: tuple[int, ...] = (0,)
    clips: tuple[str, ...] = ()
    engine: str = ""
    by_name: bool = False


def _own(summary: Callable[[Sequence[Row]], dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    return lambda rows, _: summary(rows)


def _bullet(rows: Sequence[Row], others: Sequence[Row]) -> dict[str, Any]:
    mujoco = [row for row in others if row["group"] == "stock" and row["engine"] == "mujoco"]
    return goals.bullet_summary(rows, mujoco, core.engines_ratio() if rows else None)


GROUPS = {
    "stock": Group(stock.names, core.stock_cases, _own(goals.stock_summary), seeds=(0, 1, 2)),
    "bullet": Group(stock.names, partial(core.stock_cases, group="bullet"), _bullet, engine="bullet"),
    "push": Group(stock.names, core.push_cases, _own(goals.push_summary), clips=("walk",)),
    "mocap": Group(partial(bench_mocap.names, "cmu", "bvh"), bench_mocap.mocap_cases, _own(goals.mocap_summary)),
    "odd": Group(partial(bench_mocap.names, "odd"), bench_mocap.odd_cases, _own(goals.odd_summary)),
    "skinned": Group(
        partial(bench_mocap.names, "skinned", "fbx"), bench_mocap.skinned_cases, _own(goals.fates), by_name=True
    ),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the benchmark's own arguments."""
    add = parser.add_argument
    standard = [name for name, group in GROUPS.items() if not group.by_name]
    groups = f"some of: {', '.join(GROUPS)}; if left out, {', '.join(standard)}"
    add("--only", type=_words, default=(), metavar="GROUPS", help=groups)
    add("--clips", type=_words, default=(), metavar="NAMES", help="only these clips, such as walk,run,07_01_walk")
    add("--seeds", type=_numbers, default=(), metavar="N,…", help="other seeds than the group's own, such as 0,1")
    add("--engine", default="mujoco", help="mujoco or bullet (default mujoco)")
    add("--quality", default="normal", help="draft, normal or high (default normal)")
    add("--method", default=registry.default_name(), metavar="NAME", help=f"one of: {', '.join(registry.names())}")
    add(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="another setting of the method; may be repeated"
    )
    add("--rows", type=Path, metavar="FILE.jsonl", help="append every row to this file as soon as it is known")


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """Simulate what was asked for, row by row, and sum up."""
    chosen = _chosen(arguments.only, arguments.clips)
    texts = [f"quality={arguments.quality}"] if arguments.method == "sampling" else []
    method, settings = method_and_settings(arguments.method, texts + arguments.set)
    rows: list[Row] = []
    finished = True
    try:
        for name, clips in chosen.items():
            if not clips:
                _say(f"{name}: skipped, there is no '{bench_mocap.FOLDER}'")
            group = GROUPS[name]
            for case in group.cases(clips, arguments.seeds or group.seeds, group.engine or arguments.engine):
                rows.append(simulated(case, method, settings)[0])
                _tell(rows[-1], arguments.rows)
    except KeyboardInterrupt:  # what is known is still worth a table
        finished = False
    return {
        "settings": {"method": arguments.method, **settings.to_mapping()},
        "finished": finished,
        "summary": {name: _summed(name, rows, bool(clips)) for name, clips in chosen.items()},
        "rows": rows,
    }


def _chosen(only: Sequence[str], clips: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """By group its clips; a group that knows none of the asked clips is left out."""
    if unknown := [name for name in only if name not in GROUPS]:
        raise BadSettings(f"There is no group '{unknown[0]}'", f"Choose from: {', '.join(GROUPS)}")
    wanted = only or [name for name, group in GROUPS.items() if not group.by_name]
    known = {name: tuple(GROUPS[name].names()) for name in wanted}
    if unknown := [clip for clip in clips if not any(clip in names for names in known.values())]:
        raise BadSettings(
            f"There is no clip '{unknown[0]}' in {' or '.join(known)}",
            "Give names of 'sinew clips', or of files in ../shared/mocap without their endings",
        )
    if not clips:
        return {name: GROUPS[name].clips or names for name, names in known.items()}
    return {name: some for name, names in known.items() if (some := tuple(clip for clip in clips if clip in names))}


def _summed(name: str, rows: Sequence[Row], ran: bool) -> dict[str, Any]:
    if not ran:
        return {"skipped": f"There are no recorded motions in '{bench_mocap.FOLDER}'"}
    return GROUPS[name].summary([row for row in rows if row["group"] == name], rows)


def _tell(row: Row, file: Path | None) -> None:
    """A line for whoever watches, and the whole row for a file: a bench that is killed leaves what it knew."""
    _say(goals.line_of(row))
    if file is not None:
        with file.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(row) + "\n")


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(word) for word in _words(text))
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of numbers; write N,N, such as 0,1,2") from None
