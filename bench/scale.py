# SPDX-License-Identifier: GPL-3.0-or-later
"""A local Ray cluster of three nodes: the same bits as here, what that costs, and what is left when nodes are killed.

./sinew bench scale --json
./sinew bench scale --only kills --kills 3
"""

import argparse
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..core.motion.io import stock
from ..core.motion.loops import loop_clip
from .local_cluster import local_cluster
from .options import print_progress, split_words
from .rows import Row, append_row, code_version, describe_machine
from .scale_jobs import (
    LEARNED,
    learned_bytes,
    make_takes,
    make_training,
    measure_seconds,
    run_here,
    run_side_by_side,
    run_there,
    take_bytes,
)
from .scale_losses import measure_kills, measure_lost
from .simulate.again import cache_in

_NODES = ("one", "two", "three")
_CYCLES = 4  # of the stock walk: five seconds
_COPIES = 510  # as good as the usual 512, and so many can be had in three shards


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the benchmark's arguments."""
    add = parser.add_argument
    add("--only", type=split_words, default=tuple(PARTS), metavar="PARTS", help=f"of {', '.join(PARTS)}")
    add("--takes", type=int, default=20, metavar="N", help="how many variations of five seconds (default 20)")
    add(
        "--kills",
        type=int,
        default=10,
        metavar="N",
        help="nodes killed with takes at work, and with trainings (default 10)",
    )
    add("--millions", type=float, default=0.3, metavar="M", help="control steps of the training (default 0.3)")
    add("--seed", type=int, default=1, metavar="N", help="of the moments of kills (default 1)")
    add("--rows", type=Path, metavar="FILE.jsonl", help="add what was measured to this file")


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure the parts that were asked for."""
    found: dict[str, Any] = {}
    for part in arguments.only:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            found[part] = PARTS[part](arguments, Path(folder))
        if arguments.rows:
            about = {"part": part, "version": code_version(), "machine": describe_machine()}
            append_row(arguments.rows, {**about, **found[part]})
    return found


def measure_takes(arguments: argparse.Namespace, folder: Path) -> Row:
    """Variations of five seconds: here, three workers at once with a core each, and on three nodes with a core each.

    Both sides begin with nothing known of the source (an empty cache each), as two machines would. The cluster is
    there before; everything else that the job needs of it, from the connection on, counts.
    """
    clip = loop_clip(stock.load_stock("walk"), _CYCLES)
    here, there = (make_takes(clip, arguments.takes, folder / name) for name in ("here", "there"))
    with cache_in(folder / "cache-here"):
        here_s = measure_seconds(lambda: run_side_by_side(here, len(_NODES)))
    print_progress(f"{len(here)} takes here: {here_s:.1f} s")
    with cache_in(folder / "cache-there"), local_cluster(*_NODES) as cluster:
        there_s = measure_seconds(lambda: run_there(there, cluster))
    print_progress(f"{len(there)} takes on three nodes: {there_s:.1f} s")
    return {
        "takes": len(here),
        "clip_s": clip.duration_s,
        "nodes": len(_NODES),
        "same_bits": [take_bytes(job) for job in here] == [take_bytes(job) for job in there],
        "here_s": here_s,
        "there_s": there_s,
        "overhead": there_s / here_s - 1.0,
        "here_take_s": [float(job.report()["wall_s"]) for job in here],
        "take_s": [float(job.report()["wall_s"]) for job in there],
        "load": os.getloadavg()[0],
        "inputs_bytes": sum(
            path.stat().st_size for path in (*there[0].inputs.iterdir(), there[0].folder / "spec.json")
        ),
        "result_bytes": sum(path.stat().st_size for path in there[0].take_file.parent.iterdir()),
    }


def measure_training(arguments: argparse.Namespace, folder: Path) -> Row:
    """The walk within bounds in two and three shards: here, on two nodes, on three."""
    rows: list[Row] = []
    for shards, counts in ((2, (2,)), (3, (1, 3))):
        settings = {**LEARNED, "millions": arguments.millions, "worlds": _COPIES, "shards": shards, "threads": 2}
        here = make_training(folder / f"here-{shards}", settings)
        here_s = measure_seconds(lambda job=here: run_here(job))  # type: ignore[misc]
        print_progress(f"{shards} shards here: {here_s:.1f} s")
        for nodes in counts:
            there = make_training(folder / f"there-{shards}-{nodes}", settings)
            with local_cluster(*_NODES[:nodes]) as cluster:
                there_s = measure_seconds(lambda job=there, on=cluster: run_there([job], on))  # type: ignore[misc]
            row = _describe_training(there.report()["cluster"])
            same = learned_bytes(here) == learned_bytes(there)
            seconds = {"here_s": here_s, "there_s": there_s}
            rows.append({"shards": shards, "nodes": nodes, "same_weights": same, **seconds, **row})
            print_progress(f"{shards} shards on {nodes} nodes: {there_s:.1f} s, neither {row['share_neither']:.1%}")
    return {"copies": _COPIES, "rows": rows, "load": os.getloadavg()[0]}


def _describe_training(about: Row) -> Row:
    """Figures of a training's report of its cluster. Neither: all that is neither rollouts nor learning."""
    seconds = about["seconds"]
    return {
        "updates": about["parts"],
        "share_rollouts": seconds["rollouts"] / seconds["all"],
        "share_learning": seconds["learning"] / seconds["all"],
        "share_neither": 1.0 - (seconds["rollouts"] + seconds["learning"]) / seconds["all"],
        "bytes_an_update": {"weights_to_each": about["bytes"]["weights"], "rollouts_home": about["bytes"]["rollouts"]},
        "seconds_an_update": seconds["all"] / about["parts"],
        "each": about["each"],
    }


PARTS: dict[str, Callable[[argparse.Namespace, Path], Row]] = {
    "takes": measure_takes,
    "training": measure_training,
    "kills": measure_kills,
    "lost": measure_lost,
}
"""What is measured, by its name."""
