# SPDX-License-Identifier: GPL-3.0-or-later
"""``report.json``: one object that says what was done, how it went and with which versions."""

import importlib.metadata
import platform
from typing import Any

import numpy as np

from .. import __version__
from ..motion import Take
from .events import plain
from .running import WorkerRun


def make_report(run: WorkerRun, take: Take) -> dict[str, Any]:
    """The report of a run that is done."""
    spec = run.job.spec
    return {
        "status": "done",
        "job": spec.id,
        "title": spec.title,
        "method": spec.method,
        "engine": run.engine,
        "seed": spec.seed,
        "settings": spec.settings,
        "duration_s": take.motion.duration_s,
        "wall_s": run.wall_s,
        "fell": take.fell,
        "fell_at_s": take.fell_at_s,
        "runs": run.number,
        "measurements": plain(take.measurements),
        "findings": run.findings,
        "versions": versions(),
    }


def versions() -> dict[str, str]:
    """What this Python runs on; engines and torch where they are installed, found without importing them."""
    found = {
        "sinew": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "platform": platform.platform(),
    }
    for package in ("mujoco", "pybullet", "torch"):
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
