# SPDX-License-Identifier: GPL-3.0-or-later
"""A recurrent network as plain arrays: stacked LSTM layers between encoder and decoder; it acts with NumPy alone."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadFile

Floats32 = NDArray[np.float32]
Layer = tuple[Floats32, Floats32]
_HINT = "Train it again, or choose another file"
_MOST_LAYERS = 16


@dataclass(frozen=True, eq=False)
class RecurrentNetwork:
    """Layers of (weights (in, out), biases (out,)).

    encoder: with tanh behind each. cells: weights (2 H, 4 H) for what comes in beside what was put out before, to the
    gates of input, forgetting and output, and to what is let in. decoder: with tanh between them.
    """

    encoder: tuple[Layer, ...]
    cells: tuple[Layer, ...]
    decoder: tuple[Layer, ...]

    @property
    def input_size(self) -> int:
        """I."""
        return len(self.encoder[0][0])

    @property
    def output_size(self) -> int:
        """O."""
        return len(self.decoder[-1][1])

    @property
    def units(self) -> int:
        """H."""
        return len(self.cells[0][1]) // 4

    def begin(self, count: int) -> Floats32:
        """(L, 2, N, H) the memory of N characters that begin: what each layer put out, and what it holds."""
        return np.zeros((len(self.cells), 2, count, self.units), dtype=np.float32)

    def step(self, inputs: Floats32, memory: Floats32) -> Floats32:
        """(N, O) for inputs (N, I); the memory is changed in place."""
        hidden, units = inputs, self.units
        for weights, biases in self.encoder:
            hidden = np.tanh(hidden @ weights + biases)
        for (weights, biases), part in zip(self.cells, memory, strict=True):
            put_out, cell = part[0], part[1]
            sums = hidden @ weights[:units] + put_out @ weights[units:] + biases
            gates = 0.5 + 0.5 * np.tanh(0.5 * sums[:, : 3 * units])
            cell *= gates[:, units : 2 * units]
            cell += gates[:, :units] * np.tanh(sums[:, 3 * units :])
            np.multiply(gates[:, 2 * units :], np.tanh(cell), out=put_out)
            hidden = put_out
        for weights, biases in self.decoder[:-1]:
            hidden = np.tanh(hidden @ weights + biases)
        weights, biases = self.decoder[-1]
        found: Floats32 = hidden @ weights + biases
        return found

    def to_arrays(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """(arrays, description) for a file."""
        arrays: dict[str, NDArray[Any]] = {}
        for name, layers in self._stacks().items():
            for number, (weights, biases) in enumerate(layers):
                arrays |= {f"{name}_weights{number}": weights, f"{name}_biases{number}": biases}
        return arrays, {name: len(layers) for name, layers in self._stacks().items()}

    def _stacks(self) -> dict[str, tuple[Layer, ...]]:
        return {"encoder": self.encoder, "cells": self.cells, "decoder": self.decoder}


def recurrent_network_from_arrays(arrays: Mapping[str, NDArray[Any]], about: Mapping[str, Any]) -> RecurrentNetwork:
    """What ``to_arrays`` gave; anything else is a ``BadFile``, for it may come from anywhere."""
    try:
        stacks = [_read_stack(arrays, name, int(about[name])) for name in ("encoder", "cells", "decoder")]
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise BadFile(f"The network is not whole: {error}", _HINT) from error
    encoder, cells, decoder = stacks
    units = len(cells[0][1]) // 4
    widths = [len(encoder[0][0]), *(len(biases) for _, biases in encoder)]
    after = [units, *(len(biases) for _, biases in decoder)]
    fits = [w.shape == pair for (w, _), pair in zip(encoder, itertools.pairwise(widths), strict=True)]
    fits += [w.shape == (2 * units, 4 * units) and len(b) == 4 * units for w, b in cells]
    fits += [w.shape == pair for (w, _), pair in zip(decoder, itertools.pairwise(after), strict=True)]
    if not all(fits) or widths[-1] != units:
        raise BadFile("The network's layers do not fit together", _HINT)
    return RecurrentNetwork(encoder, cells, decoder)


def _read_stack(arrays: Mapping[str, NDArray[Any]], name: str, count: int) -> tuple[Layer, ...]:
    if not 1 <= count <= _MOST_LAYERS:
        raise ValueError(f"it has {count} layers called '{name}'")
    return tuple(
        (_checked(arrays[f"{name}_weights{number}"], 2), _checked(arrays[f"{name}_biases{number}"], 1))
        for number in range(count)
    )


def _checked(array: NDArray[Any], dimensions: int) -> Floats32:
    if array.ndim != dimensions or array.dtype != np.float32 or not array.size:
        raise ValueError(f"an array of {array.dtype} has the shape {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError("an array holds what is no number")
    return np.ascontiguousarray(array)


def layer_shapes(inputs: int, outputs: int, units: int, layers: int) -> Sequence[tuple[int, int]]:
    """(in, out) of each layer's weights: two of the encoder, so many cells, two of the decoder."""
    cells = [(2 * units, 4 * units)] * layers
    return [(inputs, units), (units, units), *cells, (units, units), (units, outputs)]
