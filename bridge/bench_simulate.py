# SPDX-License-Identifier: GPL-3.0-or-later
"""``bench simulate``: what sampling control makes of stock clips and real mocap, against the goals."""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ..core.control import registry
from ..core.errors import BadSettings
from ..core.measure.bench_run import Case, Row, method_and_settings, simulated
from ..core.measure.bench_simulate import stock_cases
from ..core.measure.goals import line_of, stock_summary

_Cases = Callable[[argparse.Namespace], Iterator[Case]]
_Summary = Callable[[Sequence[Row]], dict[str, Any]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the benchmark's own arguments."""
    add = parser.add_argument
    add("--only", type=_words, default=(), metavar="GROUPS", help=f"some of: {', '.join(_GROUPS)}; all if left out")
    add("--clips", type=_words, default=(), metavar="NAMES", help="only these clips, such as walk,run")
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
    names = arguments.only or tuple(_GROUPS)
    if unknown := [name for name in names if name not in _GROUPS]:
        raise BadSettings(f"There is no group '{unknown[0]}'", f"Choose from: {', '.join(_GROUPS)}")
    texts = [f"quality={arguments.quality}"] if arguments.method == "sampling" else []
    method, settings = method_and_settings(arguments.method, texts + arguments.set)
    rows: list[Row] = []
    finished = False
    try:
        for name in names:
            for case in _GROUPS[name][0](arguments):
                rows.append(simulated(case, method, settings)[0])
                _tell(rows[-1], arguments.rows)
        finished = True
    except KeyboardInterrupt:  # what is known is still worth a table
        pass
    return {
        "settings": {"method": arguments.method, **settings.to_mapping()},
        "finished": finished,
        "summary": {name: _summed(name, rows) for name in names},
        "rows": rows,
    }


def _summed(group: str, rows: Sequence[Row]) -> dict[str, Any]:
    return _GROUPS[group][1]([row for row in rows if row["group"] == group])


def _tell(row: Row, file: Path | None) -> None:
    """A line for whoever watches, and the whole row for a file: a bench that is killed leaves what it knew."""
    sys.stderr.write(line_of(row) + "\n")
    sys.stderr.flush()
    if file is not None:
        with file.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(row) + "\n")


def _stock(arguments: argparse.Namespace) -> Iterator[Case]:
    return stock_cases(arguments.clips, arguments.seeds or (0, 1, 2), arguments.engine)


_GROUPS: dict[str, tuple[_Cases, _Summary]] = {
    "stock": (_stock, stock_summary),
}


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(word) for word in _words(text))
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of numbers; write N,N, such as 0,1,2") from None
