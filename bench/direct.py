# SPDX-License-Identifier: GPL-3.0-or-later
"""``bench direct``: what it takes to have a library, and to direct a character with it; one row a measurement.

A measurement is a function in ``ROWS`` that is given what came before it and gives rows; each row says ``what`` was
measured, and ``goal`` where it is held to one. Rows are printed, and kept where ``--rows`` says.
"""

import argparse
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..bridge.library.assembling import add_to_library, assemble, make_library_body, open_library, write_library
from ..bridge.library.file_sources import find_motion_files, make_file_sources
from ..core.control.matching.directing import Directing
from ..core.control.tracking.library_files import StoredLibrary
from ..core.control.tracking_policy.learned_file import DIRECTED, TrainedDirector
from ..core.errors import BadSettings
from . import direct_ablations, direct_control, direct_policy, mocap
from .direct_page import write_page
from .direct_policy import PolicyBench
from .options import print_progress, split_words
from .rows import Row, append_row, code_version, describe_machine, newest_rows, read_rows

LIBRARY = mocap.FOLDER.parent / "libraries" / "locomotion"
ADDED = mocap.FOLDER.parent / "libraries" / "obstacles" / "leap_49_04.bvh"
CMU_SCALE = 0.0564444
"""Metres a unit of the files of both."""


@dataclass
class DirectBench:
    """What measurements share: the files, a folder for results, and the library once it is there."""

    files: list[Path]
    folder: Path
    seed: int = 0
    controller: Path | None = None
    millions: float = 0.3

    @property
    def path(self) -> Path:
        """Where the library is."""
        return self.folder / "bench.library.npz"

    @cached_property
    def stored(self) -> StoredLibrary:
        """The library; measured where nobody has asked for it yet."""
        if not self.path.is_file():
            measure_build(self)
        return open_library(self.path)

    @cached_property
    def directing(self) -> Directing:
        """The library made ready to be directed."""
        return direct_control.prepare_directing(self.stored)

    @cached_property
    def policy(self) -> PolicyBench:
        """The trained director that was given."""
        if self.controller is None:
            raise BadSettings("There is no trained director to measure", "Give --controller FILE.library.npz")
        content = DIRECTED.read_content(self.controller)
        director = DIRECTED.from_content(content, f"'{self.controller}'")
        if not isinstance(director, TrainedDirector):
            raise BadSettings(f"'{self.controller}' has no policy in it", "Train it: ./sinew direct train")
        return PolicyBench(director, self.seed)


def measure_build(bench: DirectBench) -> list[Row]:
    """Files to a library with mirrored copies, ready to be searched."""
    begun, worked = time.perf_counter(), time.process_time()
    sources = make_file_sources(bench.files, CMU_SCALE)
    body = make_library_body(sources)
    stored = StoredLibrary(body, tuple(assemble(body, sources, ())), mirror=True, scale=CMU_SCALE)
    write_library(bench.path, stored)
    frames = len(stored.library.motion)
    row: Row = {"what": "library built", "seconds": time.perf_counter() - begun, "peak_mb": _peak_mb()}
    row["cpu_s"] = time.process_time() - worked  # what it takes on a machine that does nothing else
    row |= {"clips": len(stored.clips), "frames": frames, "goal": {"seconds": 90.0, "peak_mb": 1000.0}}
    return [row | {"file_mb": bench.path.stat().st_size / 1e6, "motion_s": sum(map(len, stored.clips)) / 60.0}]


def measure_add(bench: DirectBench) -> list[Row]:
    """One more clip: read the library, prepare that clip, write it."""
    if not ADDED.is_file():
        return [{"what": "clip added", "skipped": f"there is no '{ADDED}'"}]
    if not bench.path.is_file():
        measure_build(bench)
    begun = time.perf_counter()
    added = add_to_library(open_library(bench.path), make_file_sources([ADDED], CMU_SCALE))
    write_library(bench.folder / "added.library.npz", added)
    seconds = time.perf_counter() - begun
    return [{"what": "clip added", "seconds": seconds, "peak_mb": _peak_mb(), "goal": {"seconds": 2.0}}]


ROWS: dict[str, Callable[[DirectBench], list[Row]]] = {
    "build": measure_build,
    "add": measure_add,
    "search": lambda bench: direct_control.compare_searches(bench.directing, bench.seed),
    "frame": lambda bench: direct_control.measure_frames(bench.directing, bench.seed),
    "path": lambda bench: direct_control.measure_path(bench.directing, bench.seed),
    "turn": lambda bench: direct_control.measure_turns(bench.directing, bench.seed),
    "speed": lambda bench: direct_control.measure_speeds(bench.directing, bench.seed),
    "stand": lambda bench: direct_control.measure_standing(bench.directing, bench.seed),
}
POLICY_ROWS: dict[str, Callable[[PolicyBench], list[Row]]] = {
    "policy": direct_policy.describe_policy,
    "wishes": direct_policy.measure_wishes,
    "left_out": direct_policy.measure_held_out,
    "answers": direct_policy.measure_answers,
    "still": direct_policy.measure_still,
    "policy_frame": direct_policy.measure_policy_frames,
    "cubes": direct_policy.measure_cubes,
    "bullet": direct_policy.measure_bullet,
}
"""Measurements by the name that ``--only`` takes, in their order: of the library, and of a trained director."""


def measure_ablations(bench: DirectBench) -> Iterator[Row]:
    """Small trainings, with and without parts of it; in the library that was given, or in the files'."""
    begin = None if bench.controller is None else bench.policy.controller.policy
    stored = bench.stored if bench.controller is None else bench.policy.stored
    return direct_ablations.train_ablations(stored, begin, bench.seed, bench.millions)


LONG_ROWS: dict[str, Callable[[DirectBench], Iterable[Row]]] = {"ablations": measure_ablations}
"""Measurements that are only made when they are named."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the benchmark's own arguments."""
    parser.add_argument(
        "--only", type=split_words, default=(), metavar="NAMES", help=f"some of: {', '.join((*_names(), *LONG_ROWS))}"
    )
    parser.add_argument("--library", type=Path, default=LIBRARY, metavar="FOLDER", help="motion files to be measured")
    parser.add_argument("--controller", type=Path, metavar="FILE", help="a trained director, for the later ones")
    parser.add_argument("--rows", type=Path, metavar="FILE.jsonl", help="add the rows to this file")
    parser.add_argument("--page", type=Path, metavar="DOCS", help="make the page in a docs folder from its rows alone")
    parser.add_argument("--plots", type=Path, metavar="FOLDER", help="draw what the file of rows has, as SVG")
    parser.add_argument("--millions", type=float, default=0.3, metavar="M", help="samples of an ablation (default 0.3)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="another seed (default 0)")


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure what was asked for, one row after the other; or make the page of what was measured."""
    if arguments.page:
        return {"page": str(write_page(arguments.page)), "missed": []}
    if unknown := [name for name in arguments.only if name not in (*_names(), *LONG_ROWS)]:
        raise BadSettings(f"There is no measurement '{unknown[0]}'", f"Choose from: {', '.join(_names())}")
    rows: list[Row] = []
    with TemporaryDirectory() as folder:
        files = find_motion_files([arguments.library])
        bench = DirectBench(files, Path(folder), arguments.seed, arguments.controller, arguments.millions)
        for name in arguments.only or (_names() if arguments.controller else ROWS):
            for row in _measure_one(bench, name):
                row |= {"code": code_version(), "machine": describe_machine()}
                rows.append(row)
                print_progress(f"{row['what']}: {_figures(row)}")
                if arguments.rows:
                    append_row(arguments.rows, row)
    if arguments.plots and arguments.rows:
        _draw(newest_rows(read_rows(arguments.rows), ("what", "trained")), arguments.plots)
    return {"rows": rows, "missed": [miss for row in rows for miss in find_misses(row)]}


def _measure_one(bench: DirectBench, name: str) -> Iterable[Row]:
    if name in LONG_ROWS:
        return LONG_ROWS[name](bench)
    return POLICY_ROWS[name](bench.policy) if name in POLICY_ROWS else ROWS[name](bench)


def _draw(rows: list[Row], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, drawing in {**direct_ablations.draw_ablations(rows), **direct_ablations.draw_cubes(rows)}.items():
        (folder / f"{name}.svg").write_text(drawing, encoding="utf-8")


def _names() -> tuple[str, ...]:
    return (*ROWS, *POLICY_ROWS)


def find_misses(row: Row) -> list[str]:
    """What of a row is beyond its goals, in words."""
    goals = row.get("goal", {}).items()
    return [f"{row['what']}: {key} {row[key]:.4g}, goal {most:g}" for key, most in goals if (row.get(key) or 0) > most]


def _figures(row: Row) -> str:
    return ", ".join(f"{key} {value:.4g}" for key, value in row.items() if isinstance(value, float | int))


def _peak_mb() -> float:
    """Megabytes that this process had at most so far; 0 where nothing tells."""
    try:
        import resource
    except ImportError:  # Windows
        return 0.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
