# SPDX-License-Identifier: GPL-3.0-or-later
"""Small networks whose weights lie in one row: a step of learning is a few operations, a checkpoint three arrays."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

Tensor = Any
"""A torch.Tensor; torch's own types are not read by the type checker."""

_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": torch.relu,
    "elu": torch.nn.functional.elu,
    "tanh": torch.tanh,
}
_GAINS = {"relu": 2.0**0.5, "elu": 2.0**0.5, "tanh": 5.0 / 3.0}
"""What keeps the spread of numbers the same from layer to layer (He et al. 2015 for ReLU)."""

_FADE, _FADE_SQUARES, _SMALLEST = 0.9, 0.999, 1e-8


class Network:
    """Layers of weights, their gradients, and Adam's memory (Kingma and Ba 2015).

    weights: every layer's weights and biases and the extra numbers, in one row; ``layers`` and ``extra`` are views.
    """

    def __init__(
        self,
        sizes: Sequence[int],
        activation: str,
        rng: np.random.Generator,
        *,
        last_gain: float,
        extra: int = 0,
        device: str = "cpu",
    ) -> None:
        self._activation = _ACTIVATIONS[activation]
        shapes = [shape for into, out in itertools.pairwise(sizes) for shape in ((out, into), (out,))]
        parts = [*shapes, (extra,)]
        length = sum(int(np.prod(shape)) for shape in parts)
        self.weights, self.gradient, self.fading, self.squares = (
            torch.zeros(length, dtype=torch.float32, device=device) for _ in range(4)
        )
        self.steps = 0
        views = _views(self.weights, self.gradient, parts)
        self.extra = views.pop()
        self.layers = list(zip(views[::2], views[1::2], strict=True))
        gains = [_GAINS[activation]] * (len(self.layers) - 1) + [last_gain]
        for (weights, _), gain in zip(self.layers, gains, strict=True):
            weights.data.copy_(torch.from_numpy(orthogonal(rng, weights.shape, gain)))

    def __call__(self, rows: Tensor) -> Tensor:
        """(B, out) for rows (B, in)."""
        for weights, biases in self.layers[:-1]:
            rows = self._activation(torch.nn.functional.linear(rows, weights, biases))
        return torch.nn.functional.linear(rows, *self.layers[-1])

    def descend(self, loss: Tensor, rate: float, longest: float) -> None:
        """One step of Adam down the loss, with the gradient shortened to ``longest``."""
        self.gradient.zero_()
        loss.backward()
        with torch.no_grad():
            length = torch.linalg.vector_norm(self.gradient)
            self.gradient.mul_(torch.clamp(longest / (length + 1e-6), max=1.0))
            self.steps += 1
            self.fading.lerp_(self.gradient, 1.0 - _FADE)
            self.squares.mul_(_FADE_SQUARES).addcmul_(self.gradient, self.gradient, value=1.0 - _FADE_SQUARES)
            spread = (self.squares / (1.0 - _FADE_SQUARES**self.steps)).sqrt_().add_(_SMALLEST)
            self.weights.addcdiv_(self.fading, spread, value=-rate / (1.0 - _FADE**self.steps))

    def forget(self) -> None:
        """Begin Adam's memory anew: what comes next is another kind of loss."""
        self.fading.zero_()
        self.squares.zero_()
        self.steps = 0

    def state(self) -> dict[str, NDArray[Any]]:
        """Weights and Adam's memory as plain arrays."""
        arrays = {name: getattr(self, name).cpu().numpy().copy() for name in ("weights", "fading", "squares")}
        return arrays | {"steps": np.array([self.steps])}

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Put back what ``state`` gave; arrays of another size are refused with a ``ValueError``."""
        for name in ("weights", "fading", "squares"):
            target = getattr(self, name)
            if arrays[name].shape != tuple(target.shape):
                raise ValueError(f"{arrays[name].shape} {name} instead of {tuple(target.shape)}")
            target.copy_(torch.from_numpy(np.ascontiguousarray(arrays[name], dtype=np.float32)))
        self.steps = int(arrays["steps"].item())

    def numpy_layers(self) -> list[tuple[NDArray[np.float32], NDArray[np.float32]]]:
        """Copies of each layer's weights (out, in) and biases (out,)."""
        return [tuple(view.detach().cpu().numpy().copy() for view in layer) for layer in self.layers]


def _views(weights: Tensor, gradient: Tensor, shapes: Sequence[tuple[int, ...]]) -> list[Tensor]:
    """The row's parts in their shapes; what flows back to them gathers in the same parts of the gradient's row."""
    views, first = [], 0
    for shape in shapes:
        part = slice(first, first + int(np.prod(shape)))
        view = weights[part].view(shape).detach().requires_grad_()
        view.grad = gradient[part].view(shape)
        views.append(view)
        first = part.stop
    return views


def orthogonal(rng: np.random.Generator, shape: tuple[int, int], gain: float) -> NDArray[np.float32]:
    """A matrix with orthogonal rows or columns, whichever are fewer, of length ``gain`` (Saxe et al. 2014)."""
    rows, columns = shape
    tall = rng.standard_normal((max(shape), min(shape)))
    basis, upper = np.linalg.qr(tall)
    # Without this, QR prefers some directions to others.
    basis *= np.sign(np.diag(upper))
    return (gain * (basis if rows >= columns else basis.T)).astype(np.float32)
