# SPDX-License-Identifier: GPL-3.0-or-later
"""Training the autoencoder whose features tell a style, in seconds, on the clips that there are."""

from collections.abc import Sequence

import numpy as np
import torch

from ..errors import LearningFailed
from .autoencoder import MotionEncoder
from .devices import on_threads
from .environment import Floats
from .networks import Tensor, orthogonal

_BATCH = 32
_EXCERPT = 48  # frames of what is shown at once
_RATE = 1e-3
_DROPPED = 0.2  # the share of inputs that are hidden, so that no feature just copies one
_SPARSE = 0.01  # what features cost that are not zero: few that matter, rather than many that all do a little
_LEAST_SPREAD = 0.15  # what varies less than this must not be blown up until it drowns the rest


def train_encoder(
    sequences: Sequence[Floats], rng: np.random.Generator, *, units: int, width: int, steps: int
) -> tuple[MotionEncoder, list[float]]:
    """An encoder for motions like sequences of (T, F) frames, and by step how much of their variance it cannot tell.

    One layer of ``units`` rectified convolutions of ``width`` frames, and one that tells the frames again from them.
    """
    long_enough = [np.asarray(frames, dtype=np.float64) for frames in sequences if len(frames) >= width]
    if not long_enough:
        raise LearningFailed(
            f"None of {len(sequences)} motions has {width} frames to learn from", "Choose a longer Action"
        )
    together = np.concatenate(long_enough)
    mean, spread = together.mean(axis=0), np.maximum(together.std(axis=0), _LEAST_SPREAD)
    shown = [((frames - mean) / spread).astype(np.float32) for frames in long_enough]
    return on_threads(1, lambda: _train(shown, mean, spread, rng, units, width, steps))


def _train(
    shown: list[Floats],
    mean: Floats,
    spread: Floats,
    rng: np.random.Generator,
    units: int,
    width: int,
    steps: int,
) -> tuple[MotionEncoder, list[float]]:
    size = shown[0].shape[1]
    into = torch.from_numpy(orthogonal(rng, (units, width * size), 1.0)).reshape(units, width, size)
    encode = into.permute(0, 2, 1).contiguous().requires_grad_()  # (U, F, width), as torch wants it
    decode = encode.detach().permute(1, 0, 2).flip(2).contiguous().requires_grad_()  # (F, U, width)
    biases, floor = torch.zeros(units, requires_grad=True), torch.zeros(size, requires_grad=True)
    adam = torch.optim.Adam([encode, decode, biases, floor], lr=_RATE)
    losses = []
    for step in range(steps):
        adam.param_groups[0]["lr"] = _RATE * 0.5 * (1.0 + np.cos(np.pi * step / steps))
        whole = torch.from_numpy(_excerpts(shown, width, rng))
        seen = whole * torch.from_numpy((rng.random(whole.shape) >= _DROPPED).astype(np.float32))
        features = torch.relu(torch.nn.functional.conv1d(seen, encode, biases))
        again = torch.nn.functional.conv1d(features, decode, floor, padding=width - 1)
        missed = (again - whole).square().mean()
        adam.zero_grad()
        (missed + _SPARSE * features.mean()).backward()
        adam.step()
        losses.append(float(missed.detach()))
    return MotionEncoder(
        np.asarray(mean, dtype=np.float32),
        np.asarray(spread, dtype=np.float32),
        _array(encode.permute(0, 2, 1).reshape(units, -1)),
        _array(biases),
    ), losses


def _excerpts(shown: list[Floats], width: int, rng: np.random.Generator) -> Floats:
    """(B, F, T) pieces of the motions, each motion as often as it has frames, all as long as the shortest allows."""
    lengths = np.array([len(frames) for frames in shown], dtype=float)
    length = int(min(max(_EXCERPT, width), lengths.min()))
    chosen = rng.choice(len(shown), size=_BATCH, p=lengths / lengths.sum())
    firsts = [int(rng.integers(len(shown[one]) - length + 1)) for one in chosen]
    pieces = [shown[one][first : first + length].T for one, first in zip(chosen, firsts, strict=True)]
    return np.ascontiguousarray(np.stack(pieces), dtype=np.float32)


def _array(tensor: Tensor) -> "np.ndarray[tuple[int, ...], np.dtype[np.float32]]":
    return np.ascontiguousarray(tensor.detach().numpy(), dtype=np.float32)
