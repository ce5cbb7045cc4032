# SPDX-License-Identifier: GPL-3.0-or-later
"""Features of motions, as an autoencoder found them: a convolution over time, in NumPy, and the style that they tell.

After Holden, Saito and Komura 2016: the encoder is one layer of convolutions, and a style is the Gram matrix of its
features, that is how often and how strongly each of them comes together with each other one.
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

    mean, spread: (F,) by which frames are brought to the same size. weights: (U, width * F), biases: (U,).
    """

    mean: Weights
    spread: Weights
    weights: Weights
    biases: Weights

    @property
    def width(self) -> int:
        """Frames that a feature looks at."""
        return int(self.weights.shape[1] // len(self.mean))

    @property
    def units(self) -> int:
        """U."""
        return len(self.biases)

    def __call__(self, frames: Floats) -> Weights:
        """(..., T - width + 1, U) features of frames (..., T, F), one for every frame with enough before it."""
        near = ((frames - self.mean) / self.spread).astype(np.float32)
        windows = np.lib.stride_tricks.sliding_window_view(near, self.width, axis=-2)  # (..., T', F, width)
        rows = np.swapaxes(windows, -1, -2).reshape(*windows.shape[:-2], -1)
        features: Weights = np.maximum(rows @ self.weights.T + self.biases, np.float32(0.0))
        return features

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Everything, to be kept in a file."""
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


def gram(features: Floats) -> Weights:
    """(..., U, U) Gram matrices of features (..., T, U), as means over time so that no motion weighs by its length."""
    matrices: Weights = np.swapaxes(features, -1, -2) @ features / np.float32(features.shape[-2])
    return matrices


def gram_distance(first: Floats, second: Floats) -> NDArray[np.float64]:
    """(...) how far Gram matrices (..., U, U) are from each other: the length of their difference (equation 6)."""
    apart = first - second
    return np.sqrt(np.einsum("...uv,...uv->...", apart, apart), dtype=np.float64)


def content_hash(sequences: Sequence[Floats], **how: Any) -> str:
    """A name for what an encoder is trained on and how."""
    found = hashlib.sha256(repr(sorted(how.items())).encode())
    for frames in sequences:
        found.update(repr(frames.shape).encode())
        found.update(np.round(np.asarray(frames, dtype=np.float64), 6).tobytes())
    return found.hexdigest()
