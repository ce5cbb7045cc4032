# SPDX-License-Identifier: GPL-3.0-or-later
"""A world model: from a state and an action to the next state, by supervised learning (Won et al. 2022, section 3)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from .networks import MLP, Tensor
from .normaliser import RunningStatistics

_LIMIT, _MAX_GRADIENT = 8.0, 1.0
_WIDTHS = (512, 512)
_RATE, _RATE_HALVED = 1e-3, 500_000.0

Rows = NDArray[np.float32]


class WorldModel:
    """How a state changes in a control step. States (B, S) and actions (B, A) are given as they are, not normalised."""

    def __init__(self, state_size: int, action_size: int, rng: np.random.Generator, threads: int = 1) -> None:
        self.network = MLP([state_size + action_size, *_WIDTHS, state_size], "elu", rng, last_gain=0.1)
        self.samples, self._threads = 0, threads
        self._sizes = (state_size + action_size, state_size)
        self.set_statistics(*(RunningStatistics.empty(size) for size in self._sizes))

    def set_statistics(self, inputs: RunningStatistics, changes: RunningStatistics) -> None:
        """Normalise by these: of states beside actions, and of what changes in a step."""
        self.statistics = (inputs, changes)
        self._mean, self._shift = (torch.from_numpy(one.mean.astype(np.float32)) for one in self.statistics)
        self._factor = torch.from_numpy((1.0 / inputs.std).astype(np.float32))
        self._std = torch.from_numpy(changes.std.astype(np.float32))

    def change(self, state: Tensor, action: Tensor) -> Tensor:
        """(B, S) what changes, in standard deviations of the changes that were seen."""
        rows = (torch.cat([state, action], dim=1) - self._mean) * self._factor
        return self.network(torch.clamp(rows, -_LIMIT, _LIMIT))

    def __call__(self, state: Tensor, action: Tensor) -> Tensor:
        """(B, S) the next states."""
        return state + self.change(state, action) * self._std + self._shift

    def distance(self, state: Tensor, other: Tensor) -> Tensor:
        """(B,) squared, in standard deviations of the changes of a step, limited for what is lost anyway."""
        return torch.clamp((state - other) / self._std, -_LIMIT, _LIMIT).square().sum(1)

    def learn(
        self, state: Rows, action: Rows, after: Rows, rng: np.random.Generator, *, epochs: int, minibatch: int
    ) -> float:
        """Least squares; gives the mean squared error, 1 for a model that knows the mean change alone."""
        torch.set_num_threads(self._threads)
        if not self.statistics[0].count:
            joined = np.concatenate([state, action], axis=1)
            self.set_statistics(RunningStatistics.from_rows(joined), RunningStatistics.from_rows(after - state))
        given, moved = torch.from_numpy(state), torch.from_numpy(action)
        targets = (torch.from_numpy(after) - given - self._shift) / self._std
        targets = torch.clamp(targets, -_LIMIT, _LIMIT)
        losses, parts = [], max(1, round(len(state) / minibatch))
        rate = float(_RATE / np.sqrt(1.0 + self.samples / _RATE_HALVED))
        for _ in range(epochs):
            for rows in np.array_split(rng.permutation(len(state)), parts):
                chosen = torch.from_numpy(rows)
                loss = (self.change(given[chosen], moved[chosen]) - targets[chosen]).square().mean()
                self.network.adam_step(loss, rate, _MAX_GRADIENT)
                losses.append(float(loss.detach()))
        self.samples += len(state)
        return float(np.mean(losses))

    def predict(self, state: Rows, actions: Rows) -> Rows:
        """(K, B, S) the states after each of actions (K, B, A), from states (B, S)."""
        found, now = [], torch.from_numpy(state)
        with torch.inference_mode():
            for action in actions:
                now = self(now, torch.from_numpy(np.ascontiguousarray(action)))
                found.append(now.numpy())
        return np.stack(found)

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that decides how learning goes on."""
        arrays: dict[str, NDArray[Any]] = {**self.network.state(), "samples": np.array([self.samples])}
        for name, one in zip(("inputs", "changes"), self.statistics, strict=True):
            arrays |= {f"{name}.count": np.array([one.count]), f"{name}.mean": one.mean, f"{name}.sum": one.deviations}
        return arrays

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Put back what ``state`` gave; what does not fit is a ``ValueError`` or ``KeyError``."""
        self.network.restore({part: arrays[part] for part in ("weights", "fading", "squares", "steps")})
        read = (
            RunningStatistics(
                float(arrays[f"{name}.count"][0]), np.array(arrays[f"{name}.mean"]), np.array(arrays[f"{name}.sum"])
            )
            for name in ("inputs", "changes")
        )
        self.set_statistics(*read)
        self.samples = int(arrays["samples"].item())
