# SPDX-License-Identifier: GPL-3.0-or-later
"""Multilayer perceptrons with their Adam optimiser; all weights lie in one row, so a checkpoint is three arrays."""

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
"""Gains that keep the variance of activations from layer to layer (He et al. 2015 for ReLU)."""

_BETA1, _BETA2, _EPSILON = 0.9, 0.999, 1e-8


class WeightRow:
    """Weights of a network in one row, their gradient, and Adam's moments (Kingma and Ba 2015).

    weights, gradient, first_moment, second_moment: rows of the same length. parts: views of the first in their shapes.
    """

    def __init__(self, shapes: Sequence[tuple[int, ...]], device: str = "cpu") -> None:
        length = sum(int(np.prod(shape)) for shape in shapes)
        self.weights, self.gradient, self.first_moment, self.second_moment = (
            torch.zeros(length, dtype=torch.float32, device=device) for _ in range(4)
        )
        self.steps = 0
        self.parts = _views(self.weights, self.gradient, shapes)

    def adam_step(self, loss: Tensor, learning_rate: float, max_gradient_norm: float) -> None:
        """One step of Adam down the loss, with the gradient clipped to a norm."""
        self.gradient.zero_()
        loss.backward()
        self.apply_gradient(learning_rate, max_gradient_norm)

    def apply_gradient(self, learning_rate: float, max_gradient_norm: float) -> None:
        """One step of Adam by the gradient that there is: several networks may share a loss."""
        with torch.no_grad():
            norm = torch.linalg.vector_norm(self.gradient)
            self.gradient.mul_(torch.clamp(max_gradient_norm / (norm + 1e-6), max=1.0))
            self.steps += 1
            self.first_moment.lerp_(self.gradient, 1.0 - _BETA1)
            self.second_moment.mul_(_BETA2).addcmul_(self.gradient, self.gradient, value=1.0 - _BETA2)
            denominator = (self.second_moment / (1.0 - _BETA2**self.steps)).sqrt_().add_(_EPSILON)
            self.weights.addcdiv_(self.first_moment, denominator, value=-learning_rate / (1.0 - _BETA1**self.steps))

    def reset_optimiser(self) -> None:
        """Reset Adam's moments, before another kind of loss."""
        self.first_moment.zero_()
        self.second_moment.zero_()
        self.steps = 0

    def state(self) -> dict[str, NDArray[Any]]:
        """Weights and Adam's moments as plain arrays."""
        arrays = {name: row.cpu().numpy().copy() for name, row in self._rows().items()}
        return arrays | {"steps": np.array([self.steps])}

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Put back what ``state`` gave; arrays of another size are refused with a ``ValueError``."""
        for name, target in self._rows().items():
            if arrays[name].shape != tuple(target.shape):
                raise ValueError(f"{arrays[name].shape} {name} instead of {tuple(target.shape)}")
            target.copy_(torch.from_numpy(np.ascontiguousarray(arrays[name], dtype=np.float32)))
        self.steps = int(arrays["steps"].item())

    def _rows(self) -> dict[str, Tensor]:
        """The rows of a checkpoint by the names they have in it."""
        return {"weights": self.weights, "fading": self.first_moment, "squares": self.second_moment}


class MLP(WeightRow):
    """Layers of weights and biases, and extra parameters; ``layers`` and ``extra`` are views of the row."""

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
        super().__init__([*shapes, (extra,)], device)
        views = list(self.parts)
        self.extra = views.pop()
        self.layers = list(zip(views[::2], views[1::2], strict=True))
        gains = [_GAINS[activation]] * (len(self.layers) - 1) + [last_gain]
        for (weights, _), gain in zip(self.layers, gains, strict=True):
            weights.data.copy_(torch.from_numpy(orthogonal_matrix(rng, weights.shape, gain)))

    def __call__(self, rows: Tensor) -> Tensor:
        """(B, out) for rows (B, in)."""
        for weights, biases in self.layers[:-1]:
            rows = self._activation(torch.nn.functional.linear(rows, weights, biases))
        return torch.nn.functional.linear(rows, *self.layers[-1])

    def numpy_layers(self) -> list[tuple[NDArray[np.float32], NDArray[np.float32]]]:
        """Copies of each layer's weights (out, in) and biases (out,)."""
        return [tuple(view.detach().cpu().numpy().copy() for view in layer) for layer in self.layers]


def _views(weights: Tensor, gradient: Tensor, shapes: Sequence[tuple[int, ...]]) -> list[Tensor]:
    """Views of a row of weights in these shapes, whose gradients are views of the gradient's row."""
    views, first = [], 0
    for shape in shapes:
        part = slice(first, first + int(np.prod(shape)))
        view = weights[part].view(shape).detach().requires_grad_()
        view.grad = gradient[part].view(shape)
        views.append(view)
        first = part.stop
    return views


def orthogonal_matrix(rng: np.random.Generator, shape: tuple[int, int], gain: float) -> NDArray[np.float32]:
    """A matrix with orthogonal rows or columns, whichever are fewer, of length ``gain`` (Saxe et al. 2014)."""
    rows, columns = shape
    tall = rng.standard_normal((max(shape), min(shape)))
    basis, upper = np.linalg.qr(tall)
    # Without this, QR does not draw uniformly from the orthogonal matrices.
    basis *= np.sign(np.diag(upper))
    return (gain * (basis if rows >= columns else basis.T)).astype(np.float32)
