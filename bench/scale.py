# SPDX-License-Identifier: GPL-3.0-or-later
"""A local Ray cluster of three nodes: the same bits as here, what that costs, and what is left when nodes are killed.

./sinew bench scale --json
./sinew bench scale --only kills --kills 3
"""

import argparse
import contextlib
import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..core import jobs
from ..core.cores import CORES
from ..core.jobs.where import parse_where
from ..core.motion.io import stock
from ..core.motion.loops import loop_clip
from .local_cluster import LocalCluster, local_cluster
from .options import print_progress, split_words
from .rows import Row, append_row, code_version, describe_machine
from .simulate.again import cache_in

PARTS = ("takes", "training", "kills", "lost")
_TRAINED = {"warm": False, "stop": False, "device": "cpu"}
_LITTLE = {**_TRAINED, "millions": 0.006, "worlds": 24, "shards": 3, "seconds": 1.0}
_LONGEST_S = 900.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the benchmark's arguments."""
    add = parser.add_argument
    add("--only", type=split_words, default=PARTS, metavar="PARTS", help=f"of {', '.join(PARTS)}")
    add("--takes", type=int, default=20, metavar="N", help="how many takes of five seconds (default 20)")
    add(
        "--kills",
        type=int,
        default=10,
        metavar="N",
        help="nodes killed in takes, and as many in trainings (default 10)",
    )
    add("--millions", type=float, default=0.2, metavar="M", help="control steps of the training (default 0.2)")
    add("--seed", type=int, default=1, metavar="N", help="of the moments of kills (default 1)")
    add("--rows", type=Path, metavar="FILE.jsonl", help="add what was measured to this file")


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure the parts that were asked for."""
    found: dict[str, Any] = {}
    measures: dict[str, Callable[[argparse.Namespace, Path], Row]] = {
        "takes": measure_takes,
        "training": measure_training,
        "kills": measure_kills,
        "lost": measure_lost,
    }
    for part in arguments.only:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            found[part] = measures[part](arguments, Path(folder))
        if arguments.rows:
            about = {"part": part, "version": code_version(), "machine": describe_machine()}
            append_row(arguments.rows, {**about, **found[part]})
    return found


def measure_takes(arguments: argparse.Namespace, folder: Path) -> Row:
    """Takes of five seconds: here, two workers at once with a core each, and on two nodes with a core each.

    Both sides begin with nothing known of the source (an empty cache each), as two machines would.
    """
    clip = loop_clip(stock.load_stock("walk"), 4)

    def make(name: str) -> list[jobs.Job]:
        return [
            jobs.create(
                clip,
                method="sampling",
                settings={"quality": "normal"},
                engine="mujoco",
                seed=seed,
                folder=folder / name / str(seed),
            )
            for seed in range(arguments.takes)
        ]

    here, there = make("here"), make("there")
    with cache_in(folder / "cache-here"):
        here_s = _timed(lambda: _run_side_by_side(here, 2))
    print_progress(f"{len(here)} takes here: {here_s:.1f} s")
    with cache_in(folder / "cache-there"), local_cluster("one", "two") as cluster:
        there_s = _timed(lambda: _run_there(there, cluster))
    print_progress(f"{len(there)} takes on two nodes: {there_s:.1f} s")
    each = [float(job.report()["wall_s"]) for job in there]
    return {
        "takes": len(here),
        "clip_s": clip.duration_s,
        "cores": 2,
        "same_bits": [_take_bytes(job) for job in here] == [_take_bytes(job) for job in there],
        "here_s": here_s,
        "there_s": there_s,
        "overhead": there_s / here_s - 1.0,
        "take_s": each,
        "load": os.getloadavg()[0],
        "inputs_bytes": sum(
            path.stat().st_size for path in (*there[0].inputs.iterdir(), there[0].folder / "spec.json")
        ),
        "result_bytes": sum(path.stat().st_size for path in there[0].take_file.parent.iterdir()),
    }


def measure_training(arguments: argparse.Namespace, folder: Path) -> Row:
    """The walk within bounds in two and three shards: here, on two nodes, on three."""
    rows: list[Row] = []
    for shards in (2, 3):
        settings = {**_TRAINED, "millions": arguments.millions, "worlds": 384, "shards": shards, "threads": 2}
        here = _training(folder / f"here-{shards}", settings)
        here_s = _timed(lambda job=here: _run_here(job))  # type: ignore[misc]
        print_progress(f"{shards} shards here: {here_s:.1f} s")
        for nodes in (shards,) if shards == 2 else (1, 3):
            there = _training(folder / f"there-{shards}-{nodes}", settings)
            with local_cluster(*map(str, range(nodes))) as cluster:
                there_s = _timed(lambda job=there, on=cluster: _run_there([job], on))  # type: ignore[misc]
            about = there.report()["cluster"]
            seconds = about["seconds"]
            rows.append(
                {
                    "shards": shards,
                    "nodes": nodes,
                    "same_weights": _trained(here) == _trained(there),
                    "here_s": here_s,
                    "there_s": there_s,
                    "updates": about["parts"],
                    "share_rollouts": seconds["rollouts"] / seconds["all"],
                    "share_neither": (seconds["collecting"] - seconds["rollouts"]) / seconds["all"],
                    "bytes_an_update": {
                        "weights_to_each": about["bytes"]["weights"],
                        "rollouts_home": about["bytes"]["rollouts"],
                    },
                    "seconds_an_update": seconds["all"] / about["parts"],
                    "each": about["each"],
                }
            )
            print_progress(
                f"{shards} shards on {nodes} nodes: {there_s:.1f} s, neither {rows[-1]['share_neither']:.1%}"
            )
    return {"rows": rows, "load": os.getloadavg()[0]}


def measure_kills(arguments: argparse.Namespace, folder: Path) -> Row:
    """Nodes killed at seeded moments, each replaced by a new one: in takes, and in trainings."""
    rng = np.random.default_rng(arguments.seed)
    clip = stock.load_stock("walk").frames(0, 13)

    def takes(name: str) -> list[jobs.Job]:
        settings = {"quality": "normal"}
        return [
            jobs.create(
                clip, method="sampling", settings=settings, engine="mujoco", seed=seed, folder=folder / name / str(seed)
            )
            for seed in range(6)
        ]

    def trainings(name: str) -> list[jobs.Job]:
        return [_training(folder / name, _LITTLE)]

    found: Row = {}
    for what, make, outcome in (("takes", takes, _take_bytes), ("training", trainings, _trained)):
        peace = make(f"{what}-peace")
        begun = time.monotonic()
        for job in peace:
            _run_here(job)
        spent_s = time.monotonic() - begun
        expected, killed, runs, same = [outcome(job) for job in peace], 0, 0, True
        with local_cluster("a", "b", "c") as cluster:
            nodes = ["a", "b", "c"]
            while killed < arguments.kills:
                made = make(f"{what}-{runs}")
                for _ in _running(made, cluster):
                    time.sleep(float(rng.uniform(0.3, 0.6)) * min(spent_s, 10.0))
                    if killed == arguments.kills or not any(job.status().alive for job in made):
                        continue
                    chosen = int(rng.integers(len(nodes)))
                    cluster.kill(nodes[chosen])
                    killed, nodes[chosen] = killed + 1, f"{what}-{killed}"
                    cluster.add(nodes[chosen])
                runs += 1
                ends = [[event["kind"] for event in _events(job)].count("done") for job in made]
                same &= [outcome(job) for job in made] == expected and ends == [1] * len(made)
                print_progress(f"{what}: {killed} nodes killed in {runs} runs, {'the same' if same else 'DIFFERENT'}")
        found[what] = {"killed": killed, "runs": runs, "same": same}
    return {**found, "load": os.getloadavg()[0]}


def measure_lost(arguments: argparse.Namespace, folder: Path) -> Row:
    """The driver is killed, and resumed there; the cluster goes away, and the job is resumed here."""
    peace = _training(folder / "peace", _LITTLE)
    _run_here(peace)
    driver, gone = _training(folder / "driver", _LITTLE), _training(folder / "gone", _LITTLE)
    with local_cluster("a", "b", "c") as cluster:
        process = jobs.launch(driver, where=parse_where(cluster.where))
        _wait_for(driver, 0.3)
        os.kill(process.pid, signal.SIGKILL)
        lost = jobs.wait(driver, process).state
        _run_there([driver], cluster)
        process = jobs.launch(gone, where=parse_where(cluster.where))
        _wait_for(gone, 0.3)
        cluster.kill("head")
        begun = time.monotonic()
        said = jobs.wait(gone, process)
        said_s = time.monotonic() - begun
    _run_here(gone)
    return {
        "driver": {"state": lost, "resumed": _trained(driver) == _trained(peace), "runs": driver.report()["runs"]},
        "cluster": {
            "state": said.state,
            "message": said.message,
            "said_after_s": said_s,
            "resumed_here": _trained(gone) == _trained(peace),
        },
    }


def _training(folder: Path, settings: dict[str, Any]) -> jobs.Job:
    clip = stock.load_stock("walk")
    return jobs.create(clip, method="bounds_train", settings=settings, engine="mujoco", seed=4, folder=folder)


def _timed(do: Callable[[], Any]) -> float:
    begun = time.monotonic()
    do()
    return time.monotonic() - begun


def _run_here(job: jobs.Job) -> None:
    _expect(jobs.wait(job, jobs.launch(job)), job)


def _run_there(made: Sequence[jobs.Job], cluster: LocalCluster) -> None:
    for _ in _running(made, cluster):
        time.sleep(0.1)


def _running(made: Sequence[jobs.Job], cluster: LocalCluster) -> Iterator[None]:
    """Have jobs done on the cluster; yields as long as they are."""
    process = jobs.launch_together(made, None, parse_where(cluster.where))
    end = time.monotonic() + _LONGEST_S
    while process.poll() is None and time.monotonic() < end:
        yield
    for job in made:
        _expect(job.status(), job)


def _run_side_by_side(made: Sequence[jobs.Job], workers: int) -> None:
    """Have jobs done here, so many at once with a core each."""
    waiting, at_work = list(made), list[jobs.Job]()
    os.environ[CORES] = "1"
    try:
        while waiting or at_work:
            at_work = [job for job in at_work if job.status().alive]
            while waiting and len(at_work) < workers:
                at_work.append(waiting.pop(0))
                jobs.launch(at_work[-1])
            time.sleep(0.1)
    finally:
        with contextlib.suppress(KeyError):
            del os.environ[CORES]
    for job in made:
        _expect(job.status(), job)


def _expect(status: jobs.JobStatus, job: jobs.Job) -> None:
    if status.state != "done":
        raise RuntimeError(f"{job.folder}: {status.state}: {status.message}")


def _wait_for(job: jobs.Job, fraction: float) -> None:
    end = time.monotonic() + _LONGEST_S
    while (status := job.status()).fraction < fraction:
        if status.finished or time.monotonic() > end:
            raise RuntimeError(f"{job.folder}: {status.state}: {status.message}")
        time.sleep(0.05)


def _events(job: jobs.Job) -> list[dict[str, Any]]:
    from ..core.jobs.events import EventReader

    return EventReader(job.events).poll()


def _take_bytes(job: jobs.Job) -> bytes:
    job.result()
    return job.take_file.read_bytes()


def _trained(job: jobs.Job) -> dict[str, bytes]:
    """What was learned, without what is only told of it."""
    return {name: array.tobytes() for name, array in job.product("controller")[0].items()}
