# SPDX-License-Identifier: GPL-3.0-or-later
"""The environment of a task: N characters act in the latent space, each episode until it falls or time is over."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...geometry.quaternions import Array
from ...learn.environment import Floats, StepResult
from ...learn.randomness import generator_state, restore_generator
from ...learn.rollout import arrays_under
from ...sim.engine import SensorRows, World
from ..matching.features import find_head
from ..tasks.task import Moment, Task
from ..tracking_policy.reference_streams import CONTROL_FPS
from .body_states import BodyState, StateReader
from .falling import has_fallen
from .learned_file import Improviser
from .task_acting import act_in_latent_space, count_actions

FELL, TIME = "fell", "time"


class TaskEnvironment:
    """N characters at a task; implements ``core.learn.environment.Environment``."""

    end_reasons: tuple[str, ...] = (FELL, TIME)

    def __init__(
        self, improviser: Improviser, task: Task, world: World, rng: np.random.Generator, sigma_rad: float
    ) -> None:
        self.improviser, self.task, self.world, self._rng = improviser, task, world, rng
        self.worlds, self._sigma_rad = world.copies, sigma_rad
        self._reader, self._head = StateReader(improviser.body), find_head(improviser.body)
        self._substeps = round(1.0 / (CONTROL_FPS * world.dt_s))
        self._limit = round(task.seconds * CONTROL_FPS)
        self.action_size = count_actions(improviser.model, improviser.body.nu, sigma_rad)
        self.figures: dict[str, Array] = {}
        self.observation_size = int(self.reset().shape[1])

    def reset(self) -> Floats:
        """(N, O) the first observations of new episodes in all worlds."""
        self.states = np.zeros((self.worlds, self.world.state_size))
        self.age = np.zeros(self.worlds, dtype=np.int64)
        self._begin(np.ones(self.worlds, dtype=bool))
        # Copies that began together would all be truncated together: the first episodes are of all lengths.
        self.age = self._rng.integers(self._limit // 2, size=self.worlds)
        return self._observe()

    def _begin(self, which: NDArray[np.bool_]) -> None:
        chosen = self._rng.integers(len(self.improviser.start_qpos), size=int(which.sum()))
        self.states[which] = self.world.state_of(self.improviser.start_qpos[chosen], self.improviser.start_qvel[chosen])
        self.age[which] = 0
        self._read(self.world.sense(self.states))
        self.task.begin(which, self.moment, self._rng)

    def _read(self, rows: SensorRows) -> None:
        qpos, qvel = self.world.pose_of(self.states)
        self.body: BodyState = self._reader(qpos, qvel, (rows.link_pos[:, -1], rows.link_quat_wxyz[:, -1]))
        com, velocity = rows.com[:, -1, 0], rows.com_velocity[:, -1, 0]
        self.moment = Moment(*map(np.nan_to_num, (self.body.root, self.body.heading, com, velocity)))

    def _observe(self) -> Floats:
        seen = np.nan_to_num(self.task.see(self.moment))
        return np.concatenate([self.body.rows, seen.astype(np.float32)], axis=1)

    def step(self, actions: Floats) -> StepResult:
        """One control step."""
        before = self.moment
        rows = self.body.rows
        targets = act_in_latent_space(self.improviser.model, rows, np.nan_to_num(actions), self._sigma_rad)
        states, sensed = self.world.rollout(
            self.states, np.nan_to_num(targets)[:, None], substeps=self._substeps, end_only=True
        )
        self.states, self.age = np.array(states[:, -1]), self.age + 1
        self._read(sensed)
        fell = has_fallen(self.body.pos, self._head, self.improviser.fall_heights) | ~np.isfinite(self.states).all(
            axis=1
        )
        terms = {name: np.where(fell, 0.0, values) for name, values in self.task.earn(before, self.moment).items()}
        rewards = np.asarray(sum(terms.values()))
        self.figures = {name: np.nan_to_num(values) for name, values in self.task.figures(self.moment).items()}
        self.task.go_on(self.moment, self._rng)
        late = self.age >= self._limit
        final = self._observe()
        ended = fell | late
        if ended.any():
            self._begin(ended)
        observed = self._observe() if ended.any() else final
        reasons = np.where(fell, 0, np.where(late, 1, -1))
        return StepResult(observed, terms, rewards, fell, late & ~fell, final, reasons)

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that decides what will happen."""
        found = {"rng": generator_state(self._rng), "states": self.states, "age": self.age}
        found |= {f"task_{name}": values for name, values in self.task.state().items()}
        return {name: np.array(values) for name, values in found.items()}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> Floats:
        """Put back what ``state`` gave, and give (N, O) the observations as they were then."""
        restore_generator(self._rng, state["rng"])
        self.states, self.age = np.array(state["states"]), np.array(state["age"])
        self.task.restore(arrays_under("task_", state))
        self._read(self.world.sense(self.states))
        return self._observe()
