# SPDX-License-Identifier: GPL-3.0-or-later
"""What the teacher learns in (sections 5.1 and 5.2): N characters that go from frame to frame until their time is over.

An action is a change of a frame's description; what is gone over to is the frame nearest to that, of those that the
tables do not rule out. As transitions are only every 8 frames, so are decisions.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....errors import BadSettings
from ....geometry.quaternions import Array
from ....learn.environment import Floats, StepResult
from ....learn.randomness import generator_state, restore_generator
from ...matching.features import FEATURES
from ..direction_tables import LEFT_M2
from ..goals import find_goal
from ..responding import Responding
from ..response_tables import STEP, STEPS, TRANSITION_M2
from ..transition_graph import Frames

REWARD_SCALE = 20.0
"""Rewards are costs in m², of which a transition is some hundredths."""
TURN_M2 = LEFT_M2
"""What a squared radian from the wished direction costs at the end (equation 6)."""

_ACTION_SCALE = 5.0  # features have a spread of about one, and neighbours are some of that apart in all 27
_NEAREST_STEPS = 3  # that a character has at least
_SLACK_M2 = 1e-3  # the tables are kept in half precision


class FrameEnvironment:
    """N characters. Observations: (N, O) the frame's features, the goal, the time and the angle that are left.

    prune: only what may still be better than the tables' own path is gone over to (equations 8 and 9).
    """

    end_reasons: tuple[str, ...] = ("done",)

    def __init__(
        self, responding: Responding, names: Sequence[str], worlds: int, seed: int, *, prune: bool = True
    ) -> None:
        self.responding, self.worlds, self.prune = responding, worlds, prune
        goals = [find_goal(responding.library, name) for name in names]
        if not goals:
            raise BadSettings("There is nothing to teach", "Mark key moments, or tag walks")
        tables = [responding.table(goal) for goal in goals]
        self._cost = np.stack([table.cost for table in tables])
        self._jump = np.stack([table.jump for table in tables])
        self._turn = np.stack([table.turn for table in tables])
        self._goals, self._planner = len(goals), responding.planner
        self._features = np.asarray(responding.database.features, dtype=np.float64)
        self.observation_size, self.action_size = FEATURES + len(goals) + 3, FEATURES
        self._rng = np.random.default_rng(seed)
        self._usable = np.flatnonzero(self._planner.ends - np.arange(len(self._planner.ends)) >= STEP)
        self.frame, self.goal, self.left = (np.zeros(worlds, dtype=np.int64) for _ in range(3))
        self.angle = np.zeros(worlds)

    def reset(self) -> Floats:
        """(N, O) the first observations of new episodes."""
        self._begin(np.ones(self.worlds, dtype=bool))
        return self.observe()

    def begin_at(self, frame: Frames, goal: Frames, left: Frames, angle: Array) -> Floats:
        """Episodes that begin in given frames (N,), with so many steps and radians left."""
        self.frame, self.goal, self.left, self.angle = frame.copy(), goal.copy(), left.copy(), angle.copy()
        return self.observe()

    def draw(self, count: int) -> tuple[Frames, Frames, Frames, Array]:
        """(frame, goal, left, angle) of so many tasks that the tables have a way for."""
        frame, goal, left = (np.zeros(count, dtype=np.int64) for _ in range(3))
        lacking = np.ones(count, dtype=bool)
        while lacking.any():
            wanted = int(lacking.sum())
            frame[lacking] = self._rng.choice(self._usable, wanted)
            goal[lacking] = self._rng.integers(self._goals, size=wanted)
            left[lacking] = self._rng.integers(_NEAREST_STEPS, STEPS // 2 + 1, size=wanted)
            lacking = ~np.isfinite(self._cost[goal, left, frame])
        return frame, goal, left, self._rng.uniform(-np.pi, np.pi, count)

    def observe(self) -> Floats:
        """(N, O)."""
        found = np.zeros((self.worlds, self.observation_size), dtype=np.float32)
        found[:, :FEATURES] = self._features[self.frame]
        found[np.arange(self.worlds), FEATURES + self.goal] = 1.0
        found[:, -3], found[:, -2], found[:, -1] = self.left / STEPS, np.cos(self.angle), np.sin(self.angle)
        return found

    def step(self, actions: Floats) -> StepResult:
        """Go over to the frame that is nearest to what is wished, or go on, and play a step."""
        options, price = self._options()
        arrive = np.minimum(options + STEP, self._planner.ends[options])
        after = self._cost[self.goal[:, None], self.left[:, None] - 1, arrive].astype(float)
        fits = np.isfinite(price + after) & (options + STEP <= self._planner.ends[options])
        if self.prune:
            fits &= -price - after >= (self._lower_bound() - _SLACK_M2)[:, None]
        wished = self._features[self.frame] + _ACTION_SCALE * actions
        away = np.square(self._features[options] - wished[:, None]).sum(axis=-1)
        # The tables' own next frame is always there, and always fits.
        chosen = np.where(fits, away, np.inf).argmin(axis=1)
        row = np.arange(self.worlds)
        played, cost = options[row, chosen], price[row, chosen]
        turned = self._planner.roots.play(played, arrive[row, chosen])[1]
        turned = turned + self._planner.roots.drift(self.frame, played)[1]
        self.angle = np.angle(np.exp(1j * (self.angle - turned)))
        self.frame, self.left = arrive[row, chosen], self.left - 1
        over = self.left == 0
        terms = {
            "plausibility": -REWARD_SCALE * cost,
            "task": np.where(over, -REWARD_SCALE * TURN_M2 * self.angle**2, 0.0),
        }
        final = self.observe()
        self._begin(over)
        return StepResult(
            self.observe(),
            terms,
            terms["plausibility"] + terms["task"],
            over,
            np.zeros(self.worlds, dtype=bool),
            final,
            np.where(over, 0, -1),
        )

    def _options(self) -> tuple[Frames, Array]:
        """(N, C) frames that may be played on from, and what going there costs: on, the tables' choice, neighbours."""
        graph, planner = self._planner.graph, self._planner
        best = self._jump[self.goal, self.left, self.frame].astype(np.int64)
        near = np.maximum(graph.targets[self.frame], 0).astype(np.int64)
        far = graph.costs[self.frame].astype(float)
        far = np.where(far <= planner.most_m2, far + TRANSITION_M2, np.inf)
        target = np.where(best < 0, self.frame, best)
        apart = planner.features[self.frame] - planner.features[target]
        own = np.where(best < 0, 0.0, np.einsum("nd,nd->n", apart, apart) + TRANSITION_M2)
        options = np.concatenate([self.frame[:, None], target[:, None], near], axis=1)
        return options, np.concatenate([np.zeros((self.worlds, 1)), own[:, None], far], axis=1)

    def _lower_bound(self) -> Array:
        """(N,) the value of the tables' own path: its cost, and how far it ends from the direction (equation 8)."""
        cost = self._cost[self.goal, self.left, self.frame].astype(float)
        missed = np.angle(np.exp(1j * (self.angle - self._turn[self.goal, self.left, self.frame])))
        return np.asarray(-cost - TURN_M2 * missed**2)

    def _begin(self, where: NDArray[np.bool_]) -> None:
        drawn = self.draw(int(where.sum()))
        self.frame[where], self.goal[where], self.left[where], self.angle[where] = drawn

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that decides what will happen."""
        own = {"frame": self.frame, "goal": self.goal, "left": self.left, "angle": self.angle}
        return {name: array.copy() for name, array in own.items()} | {"rng": generator_state(self._rng)}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> Floats:
        """Put back what ``state`` gave."""
        self.frame, self.goal, self.left, self.angle = (
            np.array(state[name]) for name in ("frame", "goal", "left", "angle")
        )
        restore_generator(self._rng, state["rng"])
        return self.observe()
