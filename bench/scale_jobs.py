# SPDX-License-Identifier: GPL-3.0-or-later
"""The jobs that ``bench scale`` measures, and how they are done here and on a cluster."""

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ..core import jobs
from ..core.control.character import BodyChoices, build_plain_body
from ..core.control.staging import STAGE
from ..core.cores import CORES
from ..core.jobs.events import EventReader
from ..core.jobs.where import parse_where
from ..core.motion import Clip
from ..core.motion.io import stock
from ..core.sim.stage_io import stage_to_arrays
from ..core.sim.stage_parts import StageParts
from ..core.sim.variations import VariationSettings, make_variations
from .local_cluster import LocalCluster

LEARNED = {"warm": False, "stop": False, "device": "cpu"}
LITTLE = {**LEARNED, "millions": 0.006, "worlds": 24, "shards": 3, "seconds": 1.0}
"""Settings of a training of seconds."""
_LONGEST_S = 900.0


def make_takes(clip: Clip, count: int, folder: Path) -> list[jobs.Job]:
    """Variations of a clip as ``simulate --variations`` makes them, at the usual quality: pushes of 50 to 200 N."""
    body, settings = build_plain_body(clip, BodyChoices()), VariationSettings(count=count)
    return [
        jobs.create(
            clip,
            method="sampling",
            settings={"quality": "normal"},
            engine="mujoco",
            seed=one.seed,
            attachments={STAGE: stage_to_arrays(one.parts)},
            folder=folder / str(one.number),
        )
        for one in make_variations(StageParts(characters=(clip.name,)), clip, body, settings, 0)
    ]


def make_training(folder: Path, settings: dict[str, Any]) -> jobs.Job:
    """A walk within bounds."""
    clip = stock.load_stock("walk")
    return jobs.create(clip, method="bounds_train", settings=settings, engine="mujoco", seed=4, folder=folder)


def measure_seconds(do: Callable[[], Any]) -> float:
    """How long something takes."""
    begun = time.monotonic()
    do()
    return time.monotonic() - begun


def run_here(job: jobs.Job) -> None:
    """Have a job done here, or go on."""
    require_done(jobs.wait(job, jobs.launch(job)), job)


def run_there(made: Sequence[jobs.Job], cluster: LocalCluster) -> None:
    """Have jobs done on a cluster."""
    for _ in running_there(made, cluster):
        time.sleep(0.05)


def running_there(made: Sequence[jobs.Job], cluster: LocalCluster) -> Iterator[None]:
    """Have jobs done on the cluster; yields as long as they are."""
    process = jobs.launch_together(made, None, parse_where(cluster.where))
    end = time.monotonic() + _LONGEST_S
    while process.poll() is None and time.monotonic() < end:
        yield
    for job in made:
        require_done(job.status(), job)


def run_side_by_side(made: Sequence[jobs.Job], workers: int) -> None:
    """Have jobs done here, so many at once with a core each."""
    waiting, at_work = list(made), list[jobs.Job]()
    os.environ[CORES] = "1"
    try:
        while waiting or at_work:
            at_work = [job for job in at_work if job.status().alive]
            while waiting and len(at_work) < workers:
                at_work.append(waiting.pop(0))
                jobs.launch(at_work[-1])
            time.sleep(0.05)
    finally:
        with contextlib.suppress(KeyError):
            del os.environ[CORES]
    for job in made:
        require_done(job.status(), job)


def require_done(status: jobs.JobStatus, job: jobs.Job) -> None:
    """Stop the benchmark where a job is not done."""
    if status.state != "done":
        raise RuntimeError(f"{job.folder}: {status.state}: {status.message}")


def wait_for_fraction(job: jobs.Job, fraction: float) -> None:
    """Wait until so much of a job is done."""
    end = time.monotonic() + _LONGEST_S
    while (status := job.status()).fraction < fraction:
        if status.finished or time.monotonic() > end:
            raise RuntimeError(f"{job.folder}: {status.state}: {status.message}")
        time.sleep(0.05)


def read_events(job: jobs.Job) -> list[dict[str, Any]]:
    """All that was written of a job."""
    return EventReader(job.events).poll()


def take_bytes(job: jobs.Job) -> bytes:
    """A take as it is kept."""
    job.result()
    return job.take_file.read_bytes()


def learned_bytes(job: jobs.Job) -> dict[str, bytes]:
    """What was learned, without what is only told of it."""
    return {name: array.tobytes() for name, array in job.product("controller")[0].items()}
