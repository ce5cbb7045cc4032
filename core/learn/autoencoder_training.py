# SPDX-License-Identifier: GPL-3.0-or-later
"""Training the motion autoencoder: seconds on an animator's own clips (after Holden, Saito and Komura 2016)."""

from collections.abc import Sequence

import numpy as np
import torch

from ..errors import LearningFailed
from .autoencoder import MotionEncoder
from .devices import run_with_threads
from .environment import Floats
from .networks import Tensor, orthogonal_matrix

_BATCH = 32
_EXCERPT = 48  # frames of a training example
_LEARNING_RATE = 1e-3
_DROPOUT = 0.2  # of the inputs
_SPARSITY = 0.01  # weight of the L1 penalty on features
_LEAST_SPREAD = 0.15  # what varies less must not be amplified to the size of the rest


def train_encoder(
    sequences: Sequence[Floats], rng: np.random.Generator, *, units: int, width: int, steps: int
) -> tuple[MotionEncoder, list[float]]:
    """An encoder for motions like sequences of (T, F) frames, and its reconstruction loss by step.

    One layer of ``units`` rectified convolutions of ``width`` frames, and one that decodes the frames from them.
    """
    long_enough = [np.asarray(frames, dtype=np.float64) for frames in sequences if len(frames) >= width]
    if not long_enough:
        raise LearningFailed(
            f"None of {len(sequences)} motions has {width} frames to learn from", "Choose a longer Action"
        )
    together = np.concatenate(long_enough)
    mean, spread = together.mean(axis=0), np.maximum(together.std(axis=0), _LEAST_SPREAD)
    examples = [((frames - mean) / spread).astype(np.float32) for frames in long_enough]
    return run_with_threads(1, lambda: _train(examples, mean, spread, rng, units, width, steps))


def _train(
    examples: list[Floats],
    mean: Floats,
    spread: Floats,
    rng: np.random.Generator,
    units: int,
    width: int,
    steps: int,
) -> tuple[MotionEncoder, list[float]]:
    size = examples[0].shape[1]
    into = torch.from_numpy(orthogonal_matrix(rng, (units, width * size), 1.0)).reshape(units, width, size)
    encode = into.permute(0, 2, 1).contiguous().requires_grad_()  # (U, F, width), as torch wants it
    decode = encode.detach().permute(1, 0, 2).flip(2).contiguous().requires_grad_()  # (F, U, width)
    biases, output_biases = torch.zeros(units, requires_grad=True), torch.zeros(size, requires_grad=True)
    adam = torch.optim.Adam([encode, decode, biases, output_biases], lr=_LEARNING_RATE)
    losses = []
    for step in range(steps):
        adam.param_groups[0]["lr"] = _LEARNING_RATE * 0.5 * (1.0 + np.cos(np.pi * step / steps))
        targets = torch.from_numpy(_excerpts(examples, width, rng))
        inputs = targets * torch.from_numpy((rng.random(targets.shape) >= _DROPOUT).astype(np.float32))
        features = torch.relu(torch.nn.functional.conv1d(inputs, encode, biases))
        reconstructed = torch.nn.functional.conv1d(features, decode, output_biases, padding=width - 1)
        loss = (reconstructed - targets).square().mean()
        adam.zero_grad()
        (loss + _SPARSITY * features.mean()).backward()
        adam.step()
        losses.append(float(loss.detach()))
    return MotionEncoder(
        np.asarray(mean, dtype=np.float32),
        np.asarray(spread, dtype=np.float32),
        _array(encode.permute(0, 2, 1).reshape(units, -1)),
        _array(biases),
    ), losses


def _excerpts(examples: list[Floats], width: int, rng: np.random.Generator) -> Floats:
    """(B, F, T) pieces of the motions, each motion as often as it has frames, all as long as the shortest allows."""
    lengths = np.array([len(frames) for frames in examples], dtype=float)
    length = int(min(max(_EXCERPT, width), lengths.min()))
    chosen = rng.choice(len(examples), size=_BATCH, p=lengths / lengths.sum())
    firsts = [int(rng.integers(len(examples[one]) - length + 1)) for one in chosen]
    pieces = [examples[one][first : first + length].T for one, first in zip(chosen, firsts, strict=True)]
    return np.ascontiguousarray(np.stack(pieces), dtype=np.float32)


def _array(tensor: Tensor) -> "np.ndarray[tuple[int, ...], np.dtype[np.float32]]":
    return np.ascontiguousarray(tensor.detach().numpy(), dtype=np.float32)
