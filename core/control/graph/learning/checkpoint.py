# SPDX-License-Identifier: GPL-3.0-or-later
"""Progress of learning as plain arrays: a run that was killed resumes after its last whole step, bit for bit."""

import json
import logging
from typing import Any

import numpy as np

from .... import __version__
from ....body import BodyModel
from ...method import Run
from ..model.fragments import Track
from ..model.policies import Policies
from .progress import LearningProgress

_TRACK = ("qpos", "rates", "targets")
_POLICIES = ("gains", "states", "actions", "spreads")
# Fields of LearningProgress, and the keys they have in checkpoints.
_COUNTERS = {
    "stage": "lesson",
    "iteration": "iteration",
    "es_turn": "turn",
    "refined": "refined",
    "regressed": "studied",
    "warm_start": "warm",
}
_log = logging.getLogger(__name__)


def save_progress(run: Run, step: int, progress: LearningProgress) -> None:
    """Write a checkpoint after a step."""
    arrays = {f"track_{name}": getattr(progress.track, name) for name in _TRACK}
    for kind, policies in (("policies", progress.policies), ("best", progress.best)):
        arrays |= {f"{kind}_{name}": getattr(policies, name) for name in _POLICIES}
    arrays["levels"] = progress.push_levels
    about = {
        **{key: getattr(progress, name) for name, key in _COUNTERS.items()},
        "curve": [dict(figures) for figures in progress.curve],
        "made": _made(run),
    }
    arrays["about"] = np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)
    run.save_checkpoint(step, **arrays)


def load_progress(run: Run, body: BodyModel, begun: LearningProgress) -> tuple[int, LearningProgress]:
    """The last whole step and the progress then; ``begun`` without a checkpoint, or if it does not fit."""
    found = run.load_checkpoint()
    if found is None:
        return 0, begun
    step, arrays = found
    try:
        about: dict[str, Any] = json.loads(arrays["about"].tobytes().decode())
        track = Track(body, *(arrays[f"track_{name}"] for name in _TRACK))
        policies, best = (Policies(*(arrays[f"{kind}_{name}"] for name in _POLICIES)) for kind in ("policies", "best"))
        fits = about["made"] == _made(run) and track.qpos.shape == begun.track.qpos.shape
        counters = {name: about[key] for name, key in _COUNTERS.items()}
        now = LearningProgress(track, policies, best, arrays["levels"], **counters, curve=tuple(about["curve"]))
    except (KeyError, ValueError, UnicodeDecodeError) as error:
        _log.warning("The checkpoint cannot be read: %s", error)
        return 0, begun
    if not fits:
        _log.info("The checkpoint is of another engine, body or version: learning begins anew")
        return 0, begun
    return step, now


def _made(run: Run) -> dict[str, str]:
    return {"sinew": __version__, "engine": run.engine}
