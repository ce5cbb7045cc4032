# SPDX-License-Identifier: GPL-3.0-or-later
"""What is left when nodes of a cluster are killed at work, when its driver is, and when all of it goes away."""

import argparse
import os
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..core import jobs
from ..core.jobs.where import parse_where
from ..core.motion.io import stock
from .local_cluster import LocalCluster, local_cluster
from .options import print_progress
from .rows import Row
from .scale_jobs import (
    LITTLE,
    learned_bytes,
    make_takes,
    make_training,
    read_events,
    run_here,
    run_there,
    running_there,
    take_bytes,
    wait_for_fraction,
)

_TAKES, _FRAMES = 6, 13  # a run of the takes in which nodes are killed
_MOMENTS = (0.05, 0.8)  # of the work of a run, between which nodes are killed
_A_RUN = 2  # nodes killed in each


class KilledNodes:
    """Three nodes of a cluster, of which one after the other is killed and replaced by a new one."""

    def __init__(self, cluster: LocalCluster, rng: np.random.Generator) -> None:
        self._cluster, self._rng, self._nodes = cluster, rng, ["a", "b", "c"]
        self.moments: list[float] = []

    @property
    def count(self) -> int:
        """How many were killed."""
        return len(self.moments)

    def run(self, made: Sequence[jobs.Job], most: int) -> None:
        """Have jobs done, and kill nodes when so much of the work is done as the generator says."""
        moments = sorted(self._rng.uniform(*_MOMENTS, min(_A_RUN, most)).tolist())
        for _ in running_there(made, self._cluster):
            done = sum(job.status().fraction for job in made) / len(made)
            if moments and done >= moments[0] and any(job.status().alive for job in made):
                moments.pop(0)
                self._kill(done)
            time.sleep(0.02)

    def _kill(self, done: float) -> None:
        chosen = int(self._rng.integers(len(self._nodes)))
        self._cluster.kill(self._nodes[chosen])
        self.moments.append(round(done, 3))
        self._nodes[chosen] = f"node {self.count}"
        self._cluster.add(self._nodes[chosen])


def measure_kills(arguments: argparse.Namespace, folder: Path) -> Row:
    """Nodes killed at seeded moments: in takes, and in trainings."""
    clip = stock.load_stock("walk").frames(0, _FRAMES)
    takes = _kill_nodes(
        "takes",
        lambda name: make_takes(clip, _TAKES, folder / name),
        take_bytes,
        lambda job: sum("is lost" in event.get("message", "") for event in read_events(job)),
        arguments,
    )
    trainings = _kill_nodes(
        "training",
        lambda name: [make_training(folder / name, LITTLE)],
        learned_bytes,
        lambda job: int(job.report()["cluster"]["lost"]),
        arguments,
    )
    return {"takes": takes, "training": trainings, "load": os.getloadavg()[0]}


def _kill_nodes(
    what: str,
    make: Callable[[str], list[jobs.Job]],
    outcome: Callable[[jobs.Job], Any],
    count_losses: Callable[[jobs.Job], int],
    arguments: argparse.Namespace,
) -> Row:
    """Kill nodes under jobs of one kind until so many had work that was lost; says whether the results are the same.

    outcome: what must be the same as where nothing is killed. count_losses: how often a job's work was lost.
    """
    peace = make(f"{what}-peace")
    for job in peace:
        run_here(job)
    expected, runs, hit, same, begun = [outcome(job) for job in peace], 0, 0, True, time.monotonic()
    with local_cluster("a", "b", "c") as cluster:
        nodes = KilledNodes(cluster, np.random.default_rng([arguments.seed, len(what)]))
        while hit < arguments.kills:  # a node that has just come, or is done with its part, may have nothing to lose
            made = make(f"{what}-{runs}")
            nodes.run(made, arguments.kills - hit)
            runs += 1
            ends = [[event["kind"] for event in read_events(job)].count("done") for job in made]
            same &= [outcome(job) for job in made] == expected and ends == [1] * len(made)
            hit += sum(map(count_losses, made))
            said = "the same" if same else "DIFFERENT"
            print_progress(f"{what}: {nodes.count} nodes killed in {runs} runs, {hit} with work, {said}")
    spent_s = time.monotonic() - begun
    return {
        "killed": nodes.count,
        "runs": runs,
        "lost_work": hit,
        "same": same,
        "moments": nodes.moments,
        "seconds": spent_s,
    }


def measure_lost(_: argparse.Namespace, folder: Path) -> Row:
    """The driver is killed, and resumed there; the cluster goes away, and the job is resumed here."""
    peace = make_training(folder / "peace", LITTLE)
    run_here(peace)
    expected = learned_bytes(peace)
    driver, gone = make_training(folder / "driver", LITTLE), make_training(folder / "gone", LITTLE)
    with local_cluster("a", "b", "c") as cluster:
        process = jobs.launch(driver, where=parse_where(cluster.where))
        wait_for_fraction(driver, 0.3)
        os.kill(process.pid, signal.SIGKILL)
        lost = jobs.wait(driver, process).state
        run_there([driver], cluster)
        process = jobs.launch(gone, where=parse_where(cluster.where))
        wait_for_fraction(gone, 0.3)
        cluster.kill("head")
        begun = time.monotonic()
        said = jobs.wait(gone, process)
        said_s = time.monotonic() - begun
    run_here(gone)
    return {
        "driver": {"state": lost, "resumed": learned_bytes(driver) == expected, "runs": driver.report()["runs"]},
        "cluster": {
            "state": said.state,
            "message": said.message,
            "said_after_s": said_s,
            "resumed_here": learned_bytes(gone) == expected,
        },
    }
