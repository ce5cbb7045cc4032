# SPDX-License-Identifier: GPL-3.0-or-later
"""The encoder of a motion autoencoder in NumPy, and the Gram matrix of its features as a descriptor of style.

After Holden, Saito and Komura 2016: the encoder is one layer of convolutions over time, and the Gram matrix says how
strongly each of its features comes together with each other one.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadFile
from .environment import Floats

Weights = NDArray[np.float32]
_HINT = "Train it again"


@dataclass(frozen=True, eq=False)
class MotionEncoder:
    """F numbers a frame in, U features a frame out, each of ``width`` frames, the newest of them the last.

    mean, spread: (F,) by which frames are normalised. weights: (U, width * F), biases: (U,).
    """

    mean: Weights
    spread: Weights
    weights: Weights
    biases: Weights

    @property
    def width(self) -> int:
        """Frames that a feature is computed from."""
        return int(self.weights.shape[1] // len(self.mean))

    @property
    def units(self) -> int:
        """U."""
        return len(self.biases)

    def __call__(self, frames: Floats) -> Weights:
        """(..., T - width + 1, U) features of frames (..., T, F), one for every frame with enough before it."""
        normalised = ((frames - self.mean) / self.spread).astype(np.float32)
        windows = np.lib.stride_tricks.sliding_window_view(normalised, self.width, axis=-2)  # (..., T', F, width)
        rows = np.swapaxes(windows, -1, -2).reshape(*windows.shape[:-2], -1)
        features: Weights = np.maximum(rows @ self.weights.T + self.biases, np.float32(0.0))
        return features

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """All of it, for a file."""
        return {name: np.array(values) for name, values in vars(self).items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "MotionEncoder":
        """What ``to_arrays`` gave; anything else is a ``BadFile``."""
        try:
            parts = {name: np.asarray(arrays[name], dtype=np.float32) for name in cls.__dataclass_fields__}
        except (KeyError, TypeError, ValueError) as error:
            raise BadFile(f"The motion encoder is not whole: {error}", _HINT) from error
        size, units = parts["mean"].size, parts["biases"].size
        weights = parts["weights"]
        fits = parts["spread"].size == size > 0 and weights.ndim == 2 and len(weights) == units > 0
        if not fits or weights.shape[1] % size or not all(np.isfinite(part).all() for part in parts.values()):
            raise BadFile("The motion encoder's parts do not fit together", _HINT)
        return cls(**parts)


def gram_matrix(features: Floats) -> Weights:
    """(..., U, U) Gram matrices of features (..., T, U), as means over time: no motion weighs by its length."""
    matrices: Weights = np.swapaxes(features, -1, -2) @ features / np.float32(features.shape[-2])
    return matrices


def gram_distance(first: Floats, second: Floats) -> NDArray[np.float64]:
    """(...) Frobenius norm of the difference of Gram matrices (..., U, U) (equation 6 of Ma et al. 2021)."""
    difference = first - second
    return np.sqrt(np.einsum("...uv,...uv->...", difference, difference), dtype=np.float64)


def hash_sequences(sequences: Sequence[Floats], **how: Any) -> str:
    """A hash of the sequences that an encoder is trained on, and of how it is trained."""
    found = hashlib.sha256(repr(sorted(how.items())).encode())
    for frames in sequences:
        found.update(repr(frames.shape).encode())
        found.update(np.round(np.asarray(frames, dtype=np.float64), 6).tobytes())
    return found.hexdigest()
