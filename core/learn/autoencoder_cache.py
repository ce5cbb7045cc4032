# SPDX-License-Identifier: GPL-3.0-or-later
"""A cache of trained motion encoders, by a hash of what they were trained on."""

import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..errors import BadFile, SinewError
from ..files import make_folder, read_arrays, write_arrays
from ..paths import is_plain_file
from .autoencoder import MotionEncoder, hash_sequences
from .environment import Floats
from .requirement import require_torch

_VERSION = 1
"""Goes up when encoders are trained in another way."""

_UNITS, _WIDTH, _STEPS = 32, 7, 800

_log = logging.getLogger(__name__)


def load_or_train_encoder(sequences: Sequence[Floats], folder: Path | None = None) -> MotionEncoder:
    """The encoder for sequences of (T, F) frames: from the folder if it was trained before, trained and kept if not.

    Its randomness is seeded by the sequences, so that the same clips always give the same encoder. A folder that
    cannot be written to, and a file in it that is of no use, only cost the seconds of training.
    """
    name = hash_sequences(sequences, version=_VERSION, units=_UNITS, width=_WIDTH, steps=_STEPS)
    path = (folder or encoder_folder()) / f"{name}.npz"
    if is_plain_file(path):
        try:
            return MotionEncoder.from_arrays(read_arrays(path)[0])
        except BadFile:
            _log.warning("'%s' is of no use, so the encoder is trained again", path)
    require_torch()
    from .autoencoder_training import train_encoder

    rng = np.random.default_rng(int(name[:16], 16))
    encoder, _ = train_encoder(sequences, rng, units=_UNITS, width=_WIDTH, steps=_STEPS)
    try:
        make_folder(path.parent)
        write_arrays(path, encoder.to_arrays(), {"version": _VERSION})
    except (OSError, SinewError):
        _log.warning("The encoder could not be kept in '%s'", path.parent)
    return encoder


def encoder_folder() -> Path:
    """This user's folder for encoders, which can all be made again."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "Sinew" / "encoders"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "Sinew" / "encoders"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sinew" / "encoders"
