# SPDX-License-Identifier: GPL-3.0-or-later
"""Where episodes begin: more often where they fail (equation 11), and in states that did well (equation 12).

The course is divided into segments, each with a buffer of states. Both equations ask for the return that can be
expected from a state; it is estimated from what came after it, with the segment's own estimate where that is not known
yet. Two things are as in the authors' program, not as printed: equation 12 prefers high returns, and the scale of
equation 11 is the whole range of the segments' returns.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...geometry.quaternions import Array
from .course import CONTROL_FPS, Course, Indices
from .observations import Flags, course_seen

_SEGMENT_S = 0.13
_FEWEST, _MOST = 5, 40
_UNIFORM = 0.2  # the share of starts that is uniform over segments
_BUFFER = 64  # states of a segment
_FIRST = 0.2  # the share of starts where the course begins, once buffers hold what somebody has shown
_FORGET = 0.7  # how much of a segment's old estimate is kept when a new one comes


@dataclass(frozen=True)
class StartRules:
    """Which of the paper's two adaptations are on. discount: of the returns that they go by.

    Evolution is for sources that nobody could follow. A good one is the best state to begin in that there is, and early
    in learning most states that were seen are those of somebody who is about to fall.
    """

    importance: bool = True
    evolution: bool = False
    discount: float = 0.95


@dataclass(eq=False)
class Start:
    """Where n copies begin: frames (n,), poses (n, nq), velocities (n, nv) on the course, what is observed (n, O)."""

    at: Indices
    qpos: Array
    qvel: Array
    observed: NDArray[np.float32]


class Starts:
    """The distribution of initial states, which learns from the steps it is shown."""

    def __init__(self, course: Course, rules: StartRules, rng: np.random.Generator) -> None:
        self.course, self.rules, self._rng = course, rules, rng
        count = int(np.clip(round(course.steps / (_SEGMENT_S * CONTROL_FPS)), _FEWEST, _MOST))
        self.count = min(count, course.steps)
        self.edges = np.linspace(0, course.steps, self.count + 1).astype(int)
        self.segment_of = np.searchsorted(self.edges, np.arange(course.steps + 1), side="right") - 1
        self.segment_of[-1] = 0 if course.cyclic else self.count - 1
        at = self._reference_frames()
        self._elites = _taken(course, at.ravel())
        self._first, self.shown = _taken(course, np.zeros(1, dtype=np.int64)), False
        self.returns = np.zeros(self.count)
        self.epochs = 0
        self.begun = np.zeros(self.count, dtype=np.int64)
        self.curve: list[dict[str, list[float]]] = []

    def _reference_frames(self) -> Indices:
        """(segments, buffer) frames of the course that the buffers hold at first."""
        low, high = self.edges[:-1, None], self.edges[1:, None]
        return np.asarray(self._rng.integers(low, high, size=(self.count, _BUFFER)))

    @property
    def chances(self) -> Array:
        """(segments,) how often episodes begin in each: equation 11."""
        even = np.full(self.count, 1.0 / self.count)
        spread = float(np.ptp(self.returns))
        if not self.rules.importance or spread <= 1e-9:
            return even
        weights = np.exp(-(self.returns - self.returns.min()) / spread)
        return np.asarray((1.0 - _UNIFORM) * weights / weights.sum() + _UNIFORM * even)

    def fill(self, good: Start) -> None:
        """Let segments' buffers hold states that somebody has shown to be good; those without any stay as they are.

        Some episodes then begin in the course's own first state: it may be among none of these, and takes begin there.
        """
        self.shown = True
        segments = self.segment_of[good.at]
        for segment in np.unique(segments):
            self._overwrite(int(segment), good, self._rng.choice(np.flatnonzero(segments == segment), size=_BUFFER))

    def drawn(self, count: int) -> Start:
        """So many initial states."""
        segments = self._rng.choice(self.count, size=count, p=self.chances)
        rows = segments * _BUFFER + self._rng.integers(_BUFFER, size=count)
        found = Start(*(values[rows] for values in vars(self._elites).values()))
        if self.shown:
            first = self._rng.random(count) < _FIRST
            for name, values in vars(self._first).items():
                getattr(found, name)[first] = values
        np.add.at(self.begun, self.segment_of[found.at], 1)
        return found

    def learn(self, seen: Start, rewards: Array, terminated: Flags, truncated: Flags, after: Indices) -> None:
        """Take in K steps of N copies: what they were in before each, what it earned, and how it ended, if it did.

        seen: (K * N) states in the order of steps. rewards, terminated, truncated: (K, N). after: (K, N) frames then.
        """
        returns, guessed = np.empty(rewards.shape), self.returns[self.segment_of[after]]
        following = guessed[-1]
        for step in range(len(rewards) - 1, -1, -1):
            following = np.where(truncated[step], guessed[step], following)
            following = rewards[step] + self.rules.discount * np.where(terminated[step], 0.0, following)
            returns[step] = following
        flat, segments = returns.ravel(), self.segment_of[seen.at]
        number = np.bincount(segments, minlength=self.count)
        mean = np.bincount(segments, weights=flat, minlength=self.count) / np.maximum(number, 1)
        kept = _FORGET if self.epochs else 0.0
        self.returns = np.where(number > 0, kept * self.returns + (1.0 - kept) * mean, self.returns)
        self.epochs += 1
        if self.rules.evolution:
            for segment in np.flatnonzero(number):
                self._evolve(int(segment), seen, np.flatnonzero(segments == segment), flat)
        self._note()

    def _evolve(self, segment: int, seen: Start, candidates: Indices, returns: Array) -> None:
        """Equation 12: overwrite a segment's buffer with states drawn by their returns."""
        own = returns[candidates]
        spread = float(np.ptp(own))
        weights = np.exp((own - own.max()) / spread) if spread > 1e-9 else np.ones(len(own))
        chosen = self._rng.choice(candidates, size=_BUFFER, p=weights / weights.sum())
        self._overwrite(segment, seen, chosen)

    def _overwrite(self, segment: int, states: Start, chosen: Indices) -> None:
        rows = slice(segment * _BUFFER, (segment + 1) * _BUFFER)
        for name, values in vars(self._elites).items():
            values[rows] = getattr(states, name)[chosen]

    def _note(self) -> None:
        """Keep what was done, for plots as in the paper's figures 11 and 13."""
        off = self.course.space.difference(self.course.qpos[self._elites.at], self._elites.qpos)
        apart = np.linalg.norm(off[:, 6:], axis=1).reshape(self.count, _BUFFER).mean(axis=1)
        self.curve.append(
            {
                "returns": np.round(self.returns, 4).tolist(),
                "chances": np.round(self.chances, 4).tolist(),
                "begun": self.begun.tolist(),
                "apart": np.round(apart, 4).tolist(),
            }
        )

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that decides what is drawn next, but for the generator."""
        found: dict[str, NDArray[Any]] = {f"elite_{name}": values for name, values in vars(self._elites).items()}
        found |= {"returns": self.returns, "begun": self.begun, "epochs": np.array(self.epochs)}
        found["shown"] = np.array(self.shown)
        for name in ("returns", "chances", "begun", "apart"):
            found[f"curve_{name}"] = np.array([one[name] for one in self.curve]).reshape(-1, self.count)
        return found

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Put back what ``state`` gave."""
        self._elites = Start(*(np.array(state[f"elite_{name}"]) for name in vars(self._elites)))
        self.returns, self.begun = np.array(state["returns"]), np.array(state["begun"])
        self.epochs, self.shown = int(state["epochs"]), bool(state["shown"])
        kept = {name: state[f"curve_{name}"] for name in ("returns", "chances", "begun", "apart")}
        self.curve = [{name: rows[i].tolist() for name, rows in kept.items()} for i in range(len(kept["begun"]))]


def _taken(course: Course, at: Indices) -> Start:
    """The course's own states in frames (n,)."""
    seen = course_seen(course, at)
    return Start(np.array(at), np.array(seen.qpos), np.array(seen.qvel), seen.observed().astype(np.float32))
