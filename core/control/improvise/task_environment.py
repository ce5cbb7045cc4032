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
from ..tracking.facing import rotate_pose_about_z, twist_angle, upright_rotation
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
        self.worlds, self._sigma_rad = world.copies * task.together, sigma_rad
        self._reader, self._head = StateReader(improviser.body), find_head(improviser.body)
        self._substeps = round(1.0 / (CONTROL_FPS * world.dt_s))
        self._limit = round(task.seconds * CONTROL_FPS)
        self.action_size = count_actions(improviser.model, improviser.body.nu, sigma_rad)
        self.figures: dict[str, Array] = {}
        self.observation_size = int(self.reset().shape[1])

    def reset(self) -> Floats:
        """(N, O) the first observations of new episodes in all worlds."""
        together = self.task.together
        self.states = np.zeros((self.world.copies, self.world.state_size))
        self.age = np.zeros(self.worlds, dtype=np.int64)
        self._begin(np.ones(self.worlds, dtype=bool))
        # Copies that began together would all be truncated together: the first episodes are of all lengths.
        self.age = np.repeat(self._rng.integers(self._limit // 2, size=self.world.copies), together)
        return self._observe()

    def _begin(self, which: NDArray[np.bool_]) -> None:
        """New episodes for some of the characters."""
        together, improviser = self.task.together, self.improviser
        chosen = self._rng.integers(len(improviser.start_qpos), size=int(which.sum()))
        qpos, qvel = improviser.start_qpos[chosen], improviser.start_qvel[chosen]
        if (places := self.task.place(which, self._rng)) is not None:
            qpos, qvel = stand_at(improviser, qpos, qvel, places)
        qpos[:, 2] += self.task.ground(qpos[:, :2])
        if together == 1:
            self.states[which] = self.world.state_of(qpos, qvel)
        else:
            self.states = self._put_among(which, qpos, qvel)
        self.age[which] = 0
        self._read(self.world.sense(self.states))
        self.task.begin(which, self.moment, self._rng)

    def _put_among(self, which: NDArray[np.bool_], qpos: Array, qvel: Array) -> Array:
        """States with other poses for some of the characters of worlds that several share."""
        copies = self.world.copies
        broken = ~np.isfinite(self.states).all(axis=1)
        all_qpos, all_qvel = (
            np.nan_to_num(np.asarray(values)).reshape(self.worlds, -1) for values in self.world.pose_of(self.states)
        )
        all_qpos[which], all_qvel[which] = qpos, qvel
        all_qpos, all_qvel = all_qpos.reshape(copies, -1), all_qvel.reshape(copies, -1)
        found = self.world.replace_pose(np.nan_to_num(self.states), all_qpos, all_qvel)
        fresh = broken | which.reshape(copies, -1).all(axis=1)
        if fresh.any():
            found[fresh] = self.world.state_of(all_qpos[fresh], all_qvel[fresh])
        return np.asarray(found)

    def _read(self, rows: SensorRows) -> None:
        """What is seen of everybody; heights are told of from the ground below the root."""
        count, task = self.worlds, self.task
        qpos, qvel = (np.asarray(values).reshape(count, -1) for values in self.world.pose_of(self.states))
        pos = np.array(rows.link_pos[:, -1]).reshape(count, -1, 3)
        quat, links = rows.link_quat_wxyz[:, -1].reshape(count, -1, 4), pos.copy()
        ground = task.ground(np.nan_to_num(pos[:, 0, :2]))
        pos[:, :, 2] -= ground[:, None]
        self.body: BodyState = self._reader(qpos, qvel, (pos, quat))
        com, velocity = (values[:, -1].reshape(count, 3) for values in (rows.com, rows.com_velocity))
        known = [np.nan_to_num(values) for values in (links[:, 0], self.body.heading, com, velocity)]
        seen: dict[str, Array] = {}
        if task.senses:
            force = rows.contact_force[:, -1].reshape(count, -1, 3)
            props = np.repeat(rows.prop_pos[:, -1], task.together, axis=0)
            seen = {"links": np.nan_to_num(links), "link_forces": np.nan_to_num(force), "props": np.nan_to_num(props)}
        self.moment = Moment(*known, **seen)

    def _observe(self) -> Floats:
        seen = np.nan_to_num(self.task.see(self.moment))
        return np.concatenate([self.body.rows, seen.astype(np.float32)], axis=1)

    def step(self, actions: Floats) -> StepResult:
        """One control step."""
        before = self.moment
        rows = self.body.rows
        targets = act_in_latent_space(self.improviser.model, rows, np.nan_to_num(actions), self._sigma_rad)
        copies, together = self.world.copies, self.task.together
        states, sensed = self.world.rollout(
            self.states,
            np.nan_to_num(targets).reshape(copies, 1, -1),
            substeps=self._substeps,
            end_only=not self.task.senses,
        )
        self.states, self.age = np.array(states[:, -1]), self.age + 1
        self._read(sensed)
        broken = np.repeat(~np.isfinite(self.states).all(axis=1), together)
        fell = has_fallen(self.body.pos, self._head, self.improviser.fall_heights) | broken
        terms = {name: np.where(fell, 0.0, values) for name, values in self.earn(before).items()}
        rewards = np.asarray(sum(terms.values()))
        self.figures = {name: np.nan_to_num(values) for name, values in self.task.figures(self.moment).items()}
        done = self.task.is_done(self.moment)
        self.task.go_on(self.moment, self._rng)
        late = (self.age >= self._limit) | done
        final = self._observe()
        ended = fell | late
        if ended.any():
            age = self.age.copy()
            self._begin(ended)
            if together > 1:  # who only fell stays in step with the others of its world
                self.age = np.where(late, 0, age)
        observed = self._observe() if ended.any() else final
        reasons = np.where(fell, 0, np.where(late, 1, -1))
        return StepResult(observed, terms, rewards, fell, late & ~fell, final, reasons)

    def earn(self, before: Moment) -> dict[str, Array]:
        """(N,) reward terms by name for the step that led here from a moment."""
        return self.task.earn(before, self.moment)

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


def stand_at(improviser: Improviser, qpos: Array, qvel: Array, places: Array) -> tuple[Array, Array]:
    """Poses (N, nq) and velocities (N, nv) turned and put to places (N, 3): metres on the ground, and a heading."""
    turn = places[:, 2] - twist_angle(qpos[:, 3:7], upright_rotation(improviser.body))
    level = np.array(qpos)
    level[:, :2] = 0.0
    turned, turned_vel = rotate_pose_about_z(turn, level, qvel)
    turned[:, :2] = places[:, :2]
    return turned, turned_vel
