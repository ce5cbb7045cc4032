# SPDX-License-Identifier: GPL-3.0-or-later
"""A training that is kept in a file and goes on from it, bit for bit."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import BadFile
from .files import read_tensors, write_tensors
from .trainer import Trainer

_KIND = "training"


def save(path: Path, trainer: Trainer, about: Mapping[str, Any] | None = None) -> None:
    """Keep networks, optimisers, normalisers, environments, all randomness and the curve."""
    write_tensors(path, _KIND, trainer.state(), {"about": dict(about or {})})


def load(path: Path, trainer: Trainer) -> dict[str, Any]:
    """Put the training back to where it was, and give what was said about it; a ``BadFile`` names one that cannot."""
    arrays, described = read_tensors(path, _KIND)
    try:
        trainer.restore(arrays)
    except BadFile as error:
        raise BadFile(f"'{path}' cannot be used: {error.message}", error.hint) from error
    return dict(described.get("about") or {})
