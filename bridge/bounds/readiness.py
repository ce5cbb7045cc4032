# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the worker's Python can train, as far as ``bridge.readiness`` knows."""

from ...core.errors import LearningMissing
from ...core.learn.requirement import missing
from .. import readiness


def known() -> LearningMissing | None:
    """What the worker's Python lacks to train, and how it gets it; None where nothing is known to be missing.

    Cheap enough for ``draw``. Where nobody has asked yet, the worker itself will tell.
    """
    found = readiness.current()
    if found is None or not found.version or found.learner:
        return None
    return missing(found.python, next((name for name in ("torch", "safetensors") if name in found.missing), "torch"))


def require() -> None:
    """Refuse to train with a Python that is known not to be able to."""
    if (problem := known()) is not None:
        raise problem
