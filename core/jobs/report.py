# SPDX-License-Identifier: GPL-3.0-or-later
"""``report.json``: one object that says what was done, how it went and with which versions."""

import importlib.metadata
import platform
from typing import Any

import numpy as np

from .. import __version__
from ..control.cast import load_cast
from ..errors import SinewError
from ..files import to_jsonable
from ..measure import summarize_measurements
from ..motion import Take
from .job import Job
from .running import WorkerRun
from .spec import JobSpec


def unfinished_report(job: Job) -> dict[str, Any]:
    """What can be said of a job that is not done, under the same names; what is unknown is None."""
    status = job.status()
    try:
        duration_s = job.clip().duration_s
    except SinewError:
        duration_s = None
    return {
        "status": status.state,
        **_of_spec(job.spec),
        "message": status.message,
        "hint": status.hint,
        "duration_s": duration_s,
        "wall_s": status.wall_s,
        "fell": None,
        "fell_at_s": None,
        "lost": None,
        "lost_at_s": None,
        "rejoined_at_s": None,
        "runs": status.run,
        "measurements": status.measurements,
        "summary": [],
        "findings": list(status.findings),
        "versions": versions(),
    }


def make_report(run: WorkerRun, take: Take | None) -> dict[str, Any]:
    """The report of a run that is done; ``take`` is None where the method measures and makes none."""
    characters = _characters(run, take) if take is not None else []
    return {
        **run.details,
        "status": "done",
        **_of_spec(run.job.spec),
        "engine": run.engine,
        "duration_s": take.motion.duration_s if take is not None else None,
        "wall_s": run.wall_s,
        "fell": take.fell if take is not None else None,
        "fell_at_s": take.fell_at_s if take is not None else None,
        "lost": take.lost if take is not None else None,
        "lost_at_s": take.lost_at_s if take is not None else None,
        "rejoined_at_s": take.measurements.get("rejoined_at_s") if take is not None else None,
        "runs": run.number,
        "measurements": to_jsonable(take.measurements) if take is not None else {},
        "summary": _summary(characters),
        "characters": characters,
        "findings": run.findings,
        "versions": versions(),
    }


def _characters(run: WorkerRun, take: Take) -> list[dict[str, Any]]:
    """Result of every character on the stage, the main character first."""
    names = [run.job.spec.target.armature, *(member.name for member in load_cast(run))]
    return [
        {
            "name": name,
            "fell": one.fell,
            "fell_at_s": one.fell_at_s,
            "lost": one.lost,
            "lost_at_s": one.lost_at_s,
            "rejoined_at_s": one.measurements.get("rejoined_at_s"),
            "measurements": to_jsonable(one.measurements),
            "summary": summarize_measurements(one.measurements, one.lost_at_s, one.fell, one.own_clock),
        }
        for name, one in zip(names, (take, *take.others), strict=False)
    ]


def _summary(characters: list[dict[str, Any]]) -> list[str]:
    """How it went in plain sentences; those about anybody but the main character begin with a name."""
    if not characters:
        return []
    main, *others = characters
    return main["summary"] + [f"{other['name']}: {sentence}" for other in others for sentence in other["summary"]]


def _of_spec(spec: JobSpec) -> dict[str, Any]:
    return {
        "job": spec.id,
        "title": spec.title,
        "method": spec.method,
        "engine": spec.engine,
        "seed": spec.seed,
        "settings": spec.settings,
    }


def versions() -> dict[str, str]:
    """What this Python runs on; engines and torch where they are installed, found without importing them."""
    found = {
        "sinew": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "platform": platform.platform(),
    }
    for package in ("mujoco-core", "pybullet", "torch"):
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
