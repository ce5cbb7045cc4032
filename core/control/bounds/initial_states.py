# SPDX-License-Identifier: GPL-3.0-or-later
"""Adaptation of initial states (section 4.3): importance sampling (equation 11) and evolution of elites (equation 12).

The reference is divided into segments, each with a buffer of states; at first they are the reference's own (reference
state initialisation). Both equations need the return that can be expected from a state; it is estimated from the
rewards that followed it, bootstrapped with the segment's own estimate. Two things are as in the authors' program, not
as printed: equation 12 prefers high returns, and the scale of equation 11 is the whole range of the segments' returns.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...geometry.quaternions import Array
from .observations import Flags, reference_kinematics
from .reference_trajectory import CONTROL_FPS, Indices, ReferenceTrajectory

_SEGMENT_S = 0.13
_MIN_SEGMENTS, _MAX_SEGMENTS = 5, 40
_UNIFORM = 0.2  # the share of episodes whose segment is drawn uniformly
_BUFFER = 64  # states of a segment
_FIRST = 0.2  # the share of episodes that begin in the reference's first state, once buffers hold demonstrated states
_MOMENTUM = 0.7  # of a segment's estimate of the return


@dataclass(frozen=True)
class InitialStateConfig:
    """importance: sample segments by equation 11. evolution: evolve buffers by equation 12. discount: of the returns.

    Evolution is for infeasible references. States of a feasible one are the best to begin in, and early in learning
    most states that were visited are just before a fall.
    """

    importance: bool = True
    evolution: bool = False
    discount: float = 0.95


@dataclass(eq=False)
class InitialStates:
    """n states: frames (n,), poses (n, nq) and velocities (n, nv) in the reference's frame, and observations (n, O)."""

    at: Indices
    qpos: Array
    qvel: Array
    observed: NDArray[np.float32]


class InitialStateDistribution:
    """The distribution ρ0 of initial states, which adapts to the steps that were collected."""

    def __init__(self, reference: ReferenceTrajectory, config: InitialStateConfig, rng: np.random.Generator) -> None:
        self.reference, self.config, self._rng = reference, config, rng
        count = int(np.clip(round(reference.steps / (_SEGMENT_S * CONTROL_FPS)), _MIN_SEGMENTS, _MAX_SEGMENTS))
        self.segments = min(count, reference.steps)
        self.edges = np.linspace(0, reference.steps, self.segments + 1).astype(int)
        self.segment_of = np.searchsorted(self.edges, np.arange(reference.steps + 1), side="right") - 1
        self.segment_of[-1] = 0 if reference.cyclic else self.segments - 1
        at = self._reference_frames()
        self._elites = _reference_states(reference, at.ravel())
        self._first, self.demonstrated = _reference_states(reference, np.zeros(1, dtype=np.int64)), False
        self.returns = np.zeros(self.segments)
        self.epochs = 0
        self.episode_counts = np.zeros(self.segments, dtype=np.int64)
        self.curve: list[dict[str, list[float]]] = []

    def _reference_frames(self) -> Indices:
        """(segments, buffer) frames of the reference that the buffers hold at first."""
        low, high = self.edges[:-1, None], self.edges[1:, None]
        return np.asarray(self._rng.integers(low, high, size=(self.segments, _BUFFER)))

    @property
    def segment_probabilities(self) -> Array:
        """(segments,) probabilities that an episode begins in each: equation 11."""
        uniform = np.full(self.segments, 1.0 / self.segments)
        spread = float(np.ptp(self.returns))
        if not self.config.importance or spread <= 1e-9:
            return uniform
        weights = np.exp(-(self.returns - self.returns.min()) / spread)
        return np.asarray((1.0 - _UNIFORM) * weights / weights.sum() + _UNIFORM * uniform)

    def fill_buffers(self, good: InitialStates) -> None:
        """Fill the buffers with demonstrated states; segments without any keep theirs.

        Some episodes then begin in the reference's first state, which may be among none of these: takes begin there.
        """
        self.demonstrated = True
        segments = self.segment_of[good.at]
        for segment in np.unique(segments):
            self._overwrite(int(segment), good, self._rng.choice(np.flatnonzero(segments == segment), size=_BUFFER))

    def sample(self, count: int) -> InitialStates:
        """Draw so many initial states."""
        segments = self._rng.choice(self.segments, size=count, p=self.segment_probabilities)
        rows = segments * _BUFFER + self._rng.integers(_BUFFER, size=count)
        found = InitialStates(*(values[rows] for values in vars(self._elites).values()))
        if self.demonstrated:
            first = self._rng.random(count) < _FIRST
            for name, values in vars(self._first).items():
                getattr(found, name)[first] = values
        np.add.at(self.episode_counts, self.segment_of[found.at], 1)
        return found

    def adapt(
        self, visited: InitialStates, rewards: Array, terminated: Flags, truncated: Flags, after: Indices
    ) -> None:
        """Adapt to K steps of N copies.

        visited: (K * N) states before each step, in the order of steps. rewards, terminated, truncated: (K, N). after:
        (K, N) frames after it.
        """
        returns, bootstrap = np.empty(rewards.shape), self.returns[self.segment_of[after]]
        following = bootstrap[-1]
        for step in range(len(rewards) - 1, -1, -1):
            following = np.where(truncated[step], bootstrap[step], following)
            following = rewards[step] + self.config.discount * np.where(terminated[step], 0.0, following)
            returns[step] = following
        flat, segments = returns.ravel(), self.segment_of[visited.at]
        number = np.bincount(segments, minlength=self.segments)
        mean = np.bincount(segments, weights=flat, minlength=self.segments) / np.maximum(number, 1)
        kept = _MOMENTUM if self.epochs else 0.0
        self.returns = np.where(number > 0, kept * self.returns + (1.0 - kept) * mean, self.returns)
        self.epochs += 1
        if self.config.evolution:
            for segment in np.flatnonzero(number):
                self._evolve(int(segment), visited, np.flatnonzero(segments == segment), flat)
        self._record()

    def _evolve(self, segment: int, visited: InitialStates, candidates: Indices, returns: Array) -> None:
        """Equation 12: overwrite a segment's buffer with states drawn by their returns."""
        own = returns[candidates]
        spread = float(np.ptp(own))
        weights = np.exp((own - own.max()) / spread) if spread > 1e-9 else np.ones(len(own))
        chosen = self._rng.choice(candidates, size=_BUFFER, p=weights / weights.sum())
        self._overwrite(segment, visited, chosen)

    def _overwrite(self, segment: int, states: InitialStates, chosen: Indices) -> None:
        rows = slice(segment * _BUFFER, (segment + 1) * _BUFFER)
        for name, values in vars(self._elites).items():
            values[rows] = getattr(states, name)[chosen]

    def _record(self) -> None:
        """Append to the curve, for plots as in the paper's figures 11 and 13."""
        difference = self.reference.pose_space.difference(self.reference.qpos[self._elites.at], self._elites.qpos)
        distance = np.linalg.norm(difference[:, 6:], axis=1).reshape(self.segments, _BUFFER).mean(axis=1)
        self.curve.append(
            {
                "returns": np.round(self.returns, 4).tolist(),
                "chances": np.round(self.segment_probabilities, 4).tolist(),
                "begun": self.episode_counts.tolist(),
                "apart": np.round(distance, 4).tolist(),
            }
        )

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that decides what is drawn next, but for the generator."""
        found: dict[str, NDArray[Any]] = {f"elite_{name}": values for name, values in vars(self._elites).items()}
        found |= {"returns": self.returns, "begun": self.episode_counts, "epochs": np.array(self.epochs)}
        found["shown"] = np.array(self.demonstrated)
        for name in ("returns", "chances", "begun", "apart"):
            found[f"curve_{name}"] = np.array([one[name] for one in self.curve]).reshape(-1, self.segments)
        return found

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Put back what ``state`` gave."""
        self._elites = InitialStates(*(np.array(state[f"elite_{name}"]) for name in vars(self._elites)))
        self.returns, self.episode_counts = np.array(state["returns"]), np.array(state["begun"])
        self.epochs, self.demonstrated = int(state["epochs"]), bool(state["shown"])
        kept = {name: state[f"curve_{name}"] for name in ("returns", "chances", "begun", "apart")}
        self.curve = [{name: rows[i].tolist() for name, rows in kept.items()} for i in range(len(kept["begun"]))]


def _reference_states(reference: ReferenceTrajectory, at: Indices) -> InitialStates:
    """The reference's own states in frames (n,)."""
    kinematics = reference_kinematics(reference, at)
    return InitialStates(
        np.array(at), np.array(kinematics.qpos), np.array(kinematics.qvel), kinematics.observations().astype(np.float32)
    )
