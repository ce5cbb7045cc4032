# SPDX-License-Identifier: GPL-3.0-or-later
"""A learned policy as plain arrays: inference with NumPy, without torch."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadFile
from .environment import Floats
from .normaliser import Normaliser, RunningStatistics

Weights = NDArray[np.float32]
_HINT = "Train it again, or choose another file"
_WRITTEN = (np.dtype(np.float32), np.dtype(np.float64))  # weights, and what normalises observations


@dataclass(frozen=True, eq=False)
class Policy:
    """A multilayer perceptron behind a normaliser of observations: the mean of a Gaussian policy.

    layers: (weights (out, in), biases (out,)) of each layer, the last one without activation.
    noise: (A,) standard deviations that it explored with.
    """

    normaliser: Normaliser
    layers: Sequence[tuple[Weights, Weights]]
    activation: str
    output_scale: float
    noise: Weights

    @property
    def observation_size(self) -> int:
        """O."""
        return int(self.layers[0][0].shape[1])

    @property
    def action_size(self) -> int:
        """A."""
        return len(self.layers[-1][1])

    def __call__(self, observations: Floats) -> Weights:
        """(..., A) mean actions for observations (..., O)."""
        hidden = self.normaliser(observations)
        for weights, biases in self.layers[:-1]:
            hidden = _ACTIVATIONS[self.activation](hidden @ weights.T + biases)
        weights, biases = self.layers[-1]
        actions: Weights = (hidden @ weights.T + biases) * np.float32(self.output_scale)
        return actions

    def to_arrays(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """(arrays, description) for a file."""
        statistics = self.normaliser.statistics
        arrays: dict[str, NDArray[Any]] = {
            "noise": self.noise,
            "mean": statistics.mean,
            "deviations": statistics.deviations,
        }
        for number, (weights, biases) in enumerate(self.layers):
            arrays |= {f"weights{number}": weights, f"biases{number}": biases}
        about = {
            "layers": len(self.layers),
            "activation": self.activation,
            "output_scale": self.output_scale,
            "count": statistics.count,
        }
        return arrays, about

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], about: Mapping[str, Any]) -> "Policy":
        """What ``to_arrays`` gave; anything else is a ``BadFile``, for it may come from anywhere."""
        try:
            layers = [_layer(arrays, number) for number in range(int(about["layers"]))]
            activation, scale = str(about["activation"]), float(about["output_scale"])
            noise = _checked(arrays["noise"], 1).astype(np.float32)
            statistics = RunningStatistics(
                float(about["count"]), _checked(arrays["mean"], 1), _checked(arrays["deviations"], 1)
            )
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise BadFile(f"The policy is not whole: {error}", _HINT) from error
        if activation not in _ACTIVATIONS:
            raise BadFile(f"The policy has units called '{activation}'", "Update Sinew, or choose another file")
        if not layers:
            raise BadFile("The policy has no layers", _HINT)
        widths = [layers[0][0].shape[1], *(len(biases) for _, biases in layers)]
        if any(weights.shape != pair for (weights, _), pair in zip(layers, _pairs(widths), strict=True)):
            raise BadFile("The policy's layers do not fit together", _HINT)
        if not len(statistics.mean) == len(statistics.deviations) == widths[0] or len(noise) != widths[-1]:
            raise BadFile("The policy's layers do not fit its observations and actions", _HINT)
        return cls(Normaliser(statistics), tuple(layers), activation, scale, noise)


def _layer(arrays: Mapping[str, NDArray[Any]], number: int) -> tuple[Weights, Weights]:
    weights, biases = _checked(arrays[f"weights{number}"], 2), _checked(arrays[f"biases{number}"], 1)
    return weights.astype(np.float32), biases.astype(np.float32)


def _checked(array: NDArray[Any], dimensions: int) -> NDArray[np.float64]:
    if array.ndim != dimensions:
        raise ValueError(f"an array has {array.ndim} dimensions instead of {dimensions}")
    if array.dtype not in _WRITTEN:  # what is narrower would become wider
        raise ValueError(f"an array holds {array.dtype} instead of {' or '.join(map(str, _WRITTEN))}")
    numbers = np.asarray(array, dtype=np.float64)
    if not np.isfinite(numbers).all():
        raise ValueError("an array holds what is no number")
    return numbers


def _pairs(widths: Sequence[int]) -> list[tuple[int, int]]:
    return [(out, into) for into, out in itertools.pairwise(widths)]


def _relu(sums: Weights) -> Weights:
    return np.maximum(sums, np.float32(0.0))


def _elu(sums: Weights) -> Weights:
    # The exponential of what is above zero is not used, and must not overflow.
    return np.where(sums > 0.0, sums, np.expm1(np.minimum(sums, np.float32(0.0))))


def _tanh(sums: Weights) -> Weights:
    return np.tanh(sums)


_ACTIVATIONS = {"relu": _relu, "elu": _elu, "tanh": _tanh}
