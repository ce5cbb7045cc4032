# SPDX-License-Identifier: GPL-3.0-or-later
"""Checkpoints of a run: ``checkpoints/00000042.npz``, whole or absent, the newest few kept."""

import logging
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ..errors import BadFile
from ..files import read_arrays, remove_file, write_arrays
from ..paths import find_in_folder

_KEEP = 3
_KIND = "sinew.checkpoint"

_log = logging.getLogger(__name__)


def write_checkpoint(folder: Path, step: int, arrays: Mapping[str, np.ndarray], rng: np.random.Generator) -> None:
    """Write the checkpoint of ``step`` with the generator's state, then let the oldest go."""
    meta = {"kind": _KIND, "step": step, "rng": rng.bit_generator.state}
    write_arrays(folder / f"{step:08d}.npz", arrays, meta, checksum=True)
    there = _newest_first(folder)
    # One ahead of this step is broken, or this run would have begun with it.
    ahead = [path for path in there if int(path.stem) > step]
    for path in ahead + there[len(ahead) + _KEEP :]:
        remove_file(path)


def read_newest_checkpoint(folder: Path, rng: np.random.Generator) -> tuple[int, dict[str, np.ndarray]] | None:
    """The newest whole checkpoint as (step, arrays), with ``rng`` set to its state; None if there is none."""
    for path in _newest_first(folder):
        try:
            arrays, meta = read_arrays(path)
            if meta.get("kind") != _KIND or meta.get("step") != int(path.stem):
                raise BadFile(f"'{path}' is not a checkpoint")
            rng.bit_generator.state = meta["rng"]
        except (BadFile, KeyError, TypeError, ValueError) as error:
            _log.warning("Skipping a broken checkpoint: %s", error)
            remove_file(path)
            continue
        return int(meta["step"]), arrays
    return None


def _newest_first(folder: Path) -> list[Path]:
    files = (path for path in find_in_folder(folder, ".npz") if re.fullmatch(r"[0-9]{1,12}", path.stem))
    return sorted(files, key=lambda path: int(path.stem), reverse=True)
