# SPDX-License-Identifier: GPL-3.0-or-later
"""What 10, 100 and 1,000 cores would give: the timeline simulated with what ``bench scale`` has measured.

A training: every shard draws the seconds of its part from those measured; the slowest decides (synchronous updates).
Then the driver takes what is sent home, shard by shard, and learns from all of it, on as many cores as when it was
measured. A shard keeps its size, so an update learns from more samples with more shards. Takes: each core makes one
after the other, with seconds drawn from those measured; the driver hands out one at a time.

    ./sinew bench timeline --rows docs/scale.jsonl
    ./sinew bench timeline --page                      # writes docs/scale.md
"""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import BadFile
from ..core.files import write_whole
from .rows import Row, newest_rows, read_rows
from .scale_page import make_scale_page

_CORES = (2, 10, 100, 1000)
_UPDATES = 400
_TAKES_A_CORE = (1, 10)
_REPLAYS = 50  # of the takes that were measured
_FAST = 10.0  # how much faster the page's other learner is


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the benchmark's arguments."""
    add = parser.add_argument
    add("--rows", type=Path, default=Path("docs/scale.jsonl"), metavar="FILE.jsonl", help="what bench scale measured")
    add("--gigabits", type=float, default=1.0, metavar="G", help="of the driver's network, a second (default 1)")
    add("--learner", type=float, default=1.0, metavar="X", help="how much faster it learns than measured (default 1)")
    add("--seed", type=int, default=0, metavar="N")
    add(
        "--page",
        type=Path,
        nargs="?",
        const=Path("docs/scale.md"),
        metavar="FILE.md",
        help="also write the page of what was measured and simulated; the project's docs/scale.md if left out",
    )


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """Simulate both."""
    rows = {row["part"]: row for row in newest_rows(read_rows(arguments.rows), ("part",))}
    if not {"takes", "training"} <= set(rows):
        raise BadFile(f"'{arguments.rows}' has no takes and no training", "Run: sinew bench scale --rows FILE.jsonl")
    found = simulate(rows, arguments.gigabits, arguments.learner, arguments.seed)
    if arguments.page is not None:
        fast = simulate(rows, arguments.gigabits, _FAST, arguments.seed)
        write_whole(arguments.page.resolve(), make_scale_page(rows, found, fast, _FAST).encode())
    return found


def simulate(rows: Mapping[str, Row], gigabits: float, faster: float, seed: int) -> Row:
    """Trainings and takes on more and more cores. rows: by their parts. faster: than measured, how quick learning is.

    check: an update as it was measured, and as it is simulated without a network in between. takes_check: likewise all
    takes.
    """
    rng, bytes_s = np.random.default_rng(seed), gigabits * 1e9 / 8.0
    trained = next(row for row in rows["training"]["rows"] if row["shards"] == row["nodes"] == 2)
    measured = [one["between"] + one["all"] for one in trained["each"][1:]]
    again, own = simulate_training(trained, 2, np.inf, 1.0, rng), rows["takes"]
    replayed = [simulate_takes(own, own["nodes"], own["takes"], rng) for _ in range(_REPLAYS)]
    return {
        "training": [simulate_training(trained, cores, bytes_s, faster, rng) for cores in _CORES],
        "takes": [
            simulate_takes(rows["takes"], cores, cores * each, rng) for cores in _CORES for each in _TAKES_A_CORE
        ],
        "check": {"measured_s": float(np.mean(measured)), "simulated_s": again["update_s"]},
        "takes_check": {
            "measured_s": own["there_s"],
            "simulated_s": float(np.mean([one["seconds"] for one in replayed])),
        },
    }


def simulate_training(row: Row, cores: int, bytes_s: float, faster: float, rng: np.random.Generator) -> Row:
    """Updates with a shard on each core. row: two shards as they were measured on two nodes."""
    each = row["each"][1:]  # the first one wakes everything up
    parts = np.array([one["shards"] for one in each]).ravel()
    learning = np.array([one["learning"] for one in each]) / (2.0 * faster)  # of one shard's samples
    learned = np.array([one["learning"] for one in row["each"][:-1]])  # before each of them
    passed = np.array([one["between"] + one["all"] - max(one["shards"]) for one in each])
    handling = np.maximum(passed - learned, 0.0) / 2.0
    size = row["bytes_an_update"]["rollouts_home"] / 2.0 + row["bytes_an_update"]["weights_to_each"]
    sent = size / bytes_s
    spent = np.zeros(3)
    for _ in range(_UPDATES):
        spent += (
            float(rng.choice(parts, cores).max()),
            cores * (float(rng.choice(handling)) + sent),
            cores * float(rng.choice(learning)),
        )
    alone_s = float(parts.mean() + learning.mean())  # a shard here, with nothing between
    update_s = float(spent.sum()) / _UPDATES
    shares = dict(zip(("rollouts", "neither", "learning"), (spent / spent.sum()).tolist(), strict=True))
    return {
        "cores": cores,
        "update_s": update_s,
        "faster_than_one_core": cores * alone_s / update_s,
        "shares": shares,
        "megabytes_an_update": cores * size / 1e6,
    }


def simulate_takes(row: Row, cores: int, takes: int, rng: np.random.Generator) -> Row:
    """So many takes: every core begins the next one as soon as it is free."""
    spent = rng.choice(np.array(row["take_s"]), takes)
    # What nodes lost beside the takes, for each of them: not where one had no take left to do.
    busy_s = _hand_out(np.array(row["take_s"]), row["nodes"], 0.0, 0.0)
    lost_s = max(row["there_s"] - busy_s, 0.0) * row["nodes"] / row["takes"]
    handed_s = (row["inputs_bytes"] + row["result_bytes"]) / (1e9 / 8.0)
    seconds = _hand_out(spent, cores, lost_s, handed_s)
    return {
        "cores": cores,
        "takes": takes,
        "seconds": seconds,
        "used": float(spent.sum()) / (cores * seconds),
    }


def _hand_out(spent: NDArray[np.float64], cores: int, lost_s: float, handed_s: float) -> float:
    """Seconds until the last take is done. lost_s: beside each of them. handed_s: of the driver, for one at a time."""
    free, driver = np.zeros(cores), 0.0
    for seconds in spent:
        core = int(np.argmin(free))
        driver = max(driver, float(free[core])) + handed_s
        free[core] = driver + lost_s + seconds
    return float(free.max())
