# SPDX-License-Identifier: GPL-3.0-or-later
"""The samples of each fragment, the best trajectory traced back through them, and where noise should go next."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...geometry.quaternions import Array
from ..tracking.linear_dynamics import NominalFragments

Indices = NDArray[np.int64]
_OF_FRAGMENTS = ("starts", "offsets", "ends", "anchors", "cost")


@dataclass(frozen=True, eq=False)
class FragmentSamples:
    """A layer of the search: E elites of the N samples of a fragment.

    states: (E, state_size) at its end. offsets: (E, nu) radians. parents: (E,) into the elites of the layer before.
    total: (E,) what they are ranked by. anchors: (E, 2) metres by which the reference is moved for them from here on.
    cost: of the cheapest new sample alone (equation 20); height_error: how far that one is from the wanted heights, and
    no less than counts as astray where it is so otherwise, such as by its lean.
    noise: (N, nu) what was added to the feedback's offsets, in units of the spread; value: (N,) how the samples ranked;
    elites: (E,) which of the N these are. jacobian: (ny, nx + servos) of the fragment's model as all samples have it,
    where it is learned.
    """

    states: Array
    offsets: Array
    parents: Indices
    total: Array
    anchors: Array
    cost: float
    height_error: float
    noise: Array
    value: Array
    elites: Indices
    jacobian: Array | None = None


@dataclass(frozen=True, eq=False)
class Trajectory:
    """One trajectory through F fragments from number ``first`` on.

    starts: (F, state_size), offsets: (F, nu), ends: (F, state_size), anchors: (F, 2) at their starts.
    cost: (F,) of each fragment's cheapest sample, for the curve.
    """

    first: int
    starts: Array
    offsets: Array
    ends: Array
    anchors: Array
    cost: Array

    def __len__(self) -> int:
        return len(self.offsets)

    def within(self, first: int, stop: int) -> "Trajectory | None":
        """Its fragments from number ``first`` up to ``stop``; None where it has not got all of them."""
        some = slice(first - self.first, stop - self.first)
        if some.start < 0 or some.stop > len(self):
            return None
        return Trajectory(first, *(getattr(self, name)[some] for name in _OF_FRAGMENTS))

    def offsets_before(self, first: Array) -> Array:
        """(F, nu) the offsets of the fragment before each; ``first`` (nu,) before the first."""
        return np.concatenate([first[None], self.offsets[:-1]])

    def linearization(self, before: Array) -> NominalFragments:
        """Its fragments as what linear models are fitted around; before: (nu,) the offsets before the first."""
        numbers = np.arange(self.first, self.first + len(self))
        return NominalFragments(numbers, self.starts, self.offsets_before(before), self.offsets, self.anchors)


def trace_trajectory(layers: Sequence[FragmentSamples], first: int, start: Array, anchor: Array) -> Trajectory:
    """The best trajectory through layers from fragment ``first`` on, from a state (state_size,) at an anchor (2,)."""
    index = int(np.argmin(layers[-1].total))
    states, offsets, anchors = [], [], []
    for layer in reversed(layers):
        states.append(layer.states[index])
        offsets.append(layer.offsets[index])
        anchors.append(layer.anchors[index])
        index = int(layer.parents[index])
    ends, moved = np.array(states[::-1]), np.array(anchors[::-1])
    return Trajectory(
        first,
        np.concatenate([start[None], ends[:-1]]),
        np.array(offsets[::-1]),
        ends,
        np.concatenate([anchor[None], moved[:-1]]),
        np.array([layer.cost for layer in layers]),
    )


def count_surviving_fragments(layers: Sequence[FragmentSamples]) -> list[Indices]:
    """For each layer (N,) how many layers further a sample had offspring among the elites; -1 if it was none itself."""
    found: list[Indices] = []
    below: Indices | None = None
    for index in range(len(layers) - 1, -1, -1):
        layer = layers[index]
        mine = np.zeros(len(layer.elites), dtype=np.int64)
        if below is not None:
            np.maximum.at(mine, layers[index + 1].parents, below + 1)
        every = np.full(len(layer.value), -1, dtype=np.int64)
        every[layer.elites] = mine
        found.append(every)
        below = mine
    return found[::-1]


@dataclass(frozen=True, eq=False)
class SamplingDistribution:
    """The normal distribution of a fragment's noise, in units of the spread: mean (nu,) and covariance (nu, nu)."""

    mean: Array
    covariance: Array

    @classmethod
    def isotropic(cls, size: int) -> "SamplingDistribution":
        """The standard normal distribution."""
        return cls(np.zeros(size), np.eye(size))

    def sample(self, count: int, scale: float, rng: np.random.Generator) -> Array:
        """(count, nu) samples, ``scale`` times as far from the mean; the first is the mean itself."""
        noise = rng.normal(size=(count, len(self.mean))) @ np.linalg.cholesky(self.covariance).T
        noise[0] = 0.0
        return self.mean + scale * noise

    def adapt(self, noise: Array, value: Array, depth: Indices) -> "SamplingDistribution":
        """A generation of CMA towards samples (N, nu) whose offspring lasted longest, and of those the cheapest.

        The rank-mu update of mean and covariance from the best quarter with logarithmic weights. It is written out
        here, not left to the cma package, because its strategies keep state that no checkpoint of arrays can hold.
        """
        ranked = np.lexsort((value, -depth))
        best = max(len(noise) // 4, 1)
        weights = np.log(best + 0.5) - np.log(np.arange(1, best + 1))
        weights /= weights.sum()
        steps = noise[ranked[:best]] - self.mean
        effective = 1.0 / np.sum(weights**2)
        size = len(self.mean)
        rate = min(1.0, 2.0 * effective / ((size + 2.0) ** 2 + effective))
        covariance = (1.0 - rate) * self.covariance + rate * (steps.T * weights) @ steps
        # More variance than at first is the retry's business, which widens all samples.
        covariance /= max(1.0, float(np.trace(covariance)) / size)
        return SamplingDistribution(self.mean + weights @ steps, covariance + 1e-9 * np.eye(size))
