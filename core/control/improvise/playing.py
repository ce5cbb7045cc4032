# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters that improvise together on any stage, recorded; where one would fall, time goes back and noise is drawn
anew."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...body.poses import targets_of_pose
from ...geometry.quaternions import Array
from ...sim.engine import SensorRows, World, character_offsets
from ...sim.stage import Stage
from ...sim.surface import terrain_height
from ..matching.features import FPS, find_head
from ..tasks.task import Moment
from ..tasks.tasks_table import get_task
from ..tracking.recording import Recording
from ..tracking_policy.reference_streams import CONTROL_FPS, CONTROL_FRAMES
from .body_states import BodyState, StateReader
from .falling import has_fallen
from .learned_file import Improviser, TaskPolicy
from .task_acting import act_in_latent_space

_BACK_S = (1.0, 1.5, 2.5, 4.0, 1.5, 2.0, 3.0, 1.0, 2.0, 6.0, 1.5, 2.5, 4.0, 1.0, 2.0, 8.0)
"""How far time goes back at each fall that comes at about the same moment."""
_LIMP = 0.03


class ImprovisedPlayer(Protocol):
    """Who decides what a character does."""

    def act(self, state: BodyState, moment: Moment, rng: np.random.Generator) -> Array:
        """(1, nu) servo targets. moment: of all characters."""

    def state(self) -> Mapping[str, NDArray[Any]]:
        """What it keeps from step to step."""

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Put back what ``state`` gave."""


@dataclass(frozen=True, eq=False)
class PlayedTogether:
    """A recording of C characters. fell_at_s: when each fell for good, None for who did not. falls: all that there
    were before trying again."""

    film: Recording
    fell_at_s: tuple[float | None, ...]
    falls: int


@dataclass(frozen=True, eq=False)
class _Step:
    """What a control step left: everything to go on from, and what is recorded of it."""

    state: Array
    states: Array
    targets: Array
    rows: SensorRows
    down: np.ndarray
    kept: tuple[Mapping[str, NDArray[Any]], ...]


class TogetherPlay:
    """C characters of one improviser in a world of one copy."""

    def __init__(
        self,
        improviser: Improviser,
        world: World,
        players: Sequence[ImprovisedPlayer],
        qpos: Array,
        qvel: Array,
        seed: int,
        *,
        try_again: bool = True,
    ) -> None:
        self._improviser, self.world, self._players = improviser, world, players
        self._seed, self._try_again = seed, try_again
        self._where, self._reader = character_offsets(world.stage), StateReader(improviser.body)
        self._head, self._substeps = find_head(improviser.body), round(1.0 / (FPS * world.dt_s))
        self._ground = partial(ground_below, world.stage)
        self._first = world.state_of(qpos.reshape(1, -1), qvel.reshape(1, -1))
        self._first_rows = world.sense(self._first)
        self._began = tuple(player.state() for player in players)
        self.done: list[_Step] = []
        self.falls = 0
        # By character: how often noise was drawn anew, how often for this moment, and the latest step of a fall.
        self._draws, self._tries, self._furthest = (np.zeros(len(players), dtype=np.int64) for _ in range(3))

    def run(self, seconds: float, on_share: Callable[[float], None] = lambda _: None) -> PlayedTogether:
        """Play for so long; a fall that nothing helps against is left as it is, and who fell goes limp."""
        steps = max(1, round(seconds * CONTROL_FPS))
        while len(self.done) < steps:
            self._advance()
            on_share(len(self.done) / steps)
        return self._finish()

    def _advance(self) -> None:
        count, down = len(self._players), self._down()
        state = self.done[-1].state if self.done else self._first
        rows = self.done[-1].rows if self.done else self._first_rows
        qpos, qvel = self.world.pose_of(state)
        bodies, moment = self._read(qpos, qvel, rows)
        targets, muscle = [], np.ones((1, CONTROL_FRAMES, count))
        for number in range(count):
            if down[number]:
                muscle[:, :, number] = _LIMP
                targets.append(targets_of_pose(self._improviser.body, qpos[:, self._part("nq", number)]))
                continue
            rng = np.random.default_rng([self._seed, number, len(self.done), int(self._draws[number])])
            targets.append(self._players[number].act(bodies[number], moment, rng))
        joined = np.repeat(np.nan_to_num(np.concatenate(targets, axis=1))[:, None], CONTROL_FRAMES, axis=1)
        states, after = self.world.rollout(
            state, joined, substeps=self._substeps, muscle=muscle if down.any() else None
        )
        heights = self._improviser.fall_heights
        links = after.link_pos[0, -1].reshape(count, -1, 3)
        fallen = has_fallen(links - self._ground(links[:, 0])[:, None], self._head, heights)
        kept = tuple(player.state() for player in self._players)
        self.done.append(_Step(np.array(states[:, -1]), states, joined, after, down | fallen, kept))
        fresh = np.flatnonzero(fallen & ~down)
        self.falls += len(fresh)
        if len(fresh) and self._try_again:
            self._go_back(fresh)

    def _read(self, qpos: Array, qvel: Array, rows: SensorRows) -> tuple[list[BodyState], Moment]:
        """The bodies, one by one, with heights from the ground below each; and all of them as tasks see them."""
        count = len(self._players)
        links = rows.link_pos[0, -1].reshape(count, -1, 3)
        lowered, quat = links - self._ground(links[:, 0])[:, None], rows.link_quat_wxyz[0, -1].reshape(count, -1, 4)
        poses = qpos.reshape(count, -1), qvel.reshape(count, -1)
        both = (*poses, lowered, quat)
        bodies = [
            self._reader(one, its, (pos, turned))
            for one, its, pos, turned in zip(*(np.split(values, count) for values in both), strict=True)
        ]
        heading = np.concatenate([body.heading for body in bodies])
        props = np.repeat(rows.prop_pos[:, -1], count, axis=0)
        forces = rows.contact_force[0, -1].reshape(count, -1, 3)
        return bodies, Moment(links[:, 0], heading, rows.com[0, -1], rows.com_velocity[0, -1], links, forces, props)

    def _down(self) -> np.ndarray:
        return self.done[-1].down if self.done else np.zeros(len(self._players), dtype=bool)

    def _part(self, name: str, number: int) -> slice:
        values = self._where[name]
        return slice(int(values[number]), int(values[number + 1]))

    def _go_back(self, who: NDArray[np.int64]) -> None:
        """Forget the last seconds, as long as there are tries left for this moment of characters that fall.

        Only their noise is another then: the others do again what they did, unless they are touched.
        """
        now, back_s = len(self.done), 0.0
        for number in who:
            is_later = now > self._furthest[number] + CONTROL_FPS
            self._tries[number] = 1 if is_later else self._tries[number] + 1
            self._furthest[number] = max(self._furthest[number], now)
            if self._tries[number] <= len(_BACK_S):
                self._draws[number] += 1
                back_s = max(back_s, _BACK_S[self._tries[number] - 1])
        if not back_s:
            return
        del self.done[max(0, now - round(back_s * CONTROL_FPS)) :]
        for player, kept in zip(self._players, self.done[-1].kept if self.done else self._began, strict=True):
            player.restore(kept)

    def _finish(self) -> PlayedTogether:
        rows = [self._first_rows, *(step.rows for step in self.done)]
        joined = SensorRows(
            **{name: np.concatenate([getattr(one, name) for one in rows], axis=1) for name in vars(rows[0])}
        )
        states = np.concatenate([self._first[:, None], *(step.states for step in self.done)], axis=1)[0]
        targets = np.concatenate([step.targets[0] for step in self.done])
        qpos, qvel = self.world.pose_of(states)
        film = Recording(self.world.stage, qpos, qvel, np.concatenate([targets[:1], targets]), joined)
        down = np.array([step.down for step in self.done])
        fell = tuple(
            float((down[:, number].argmax() + 1) / CONTROL_FPS) if down[:, number].any() else None
            for number in range(len(self._players))
        )
        return PlayedTogether(film, fell, self.falls)


class RandomPlayer:
    """Latent vectors from the prior. noise: share of its deviation."""

    def __init__(self, improviser: Improviser, noise: float) -> None:
        self._model, self._noise = improviser.model, noise

    def act(self, state: BodyState, moment: Moment, rng: np.random.Generator) -> Array:
        """(1, nu) servo targets."""
        return self._model.decode(state.rows, self._model.sample(state.rows, rng, self._noise))

    def state(self) -> Mapping[str, NDArray[Any]]:
        """Nothing is kept."""
        return {}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Nothing is kept."""


class TaskPlayer:
    """The policy of a task, for one of so many characters. noise: of its latent numbers, in deviations of the prior,
    so that tries differ. Of a task that characters do together, each keeps how far all of them are.
    """

    def __init__(
        self,
        improviser: Improviser,
        task: TaskPolicy,
        points: Array | None,
        noise: float,
        *,
        number: int = 0,
        stage: Stage | None = None,
    ) -> None:
        self._improviser, self._task, self._noise = improviser, task, noise
        kind = get_task(task.name)
        self._is_together = kind.together > 1 and stage is not None
        count = len(stage.characters) if self._is_together and stage is not None else 1
        self.doing, self._number, self._has_begun = kind(count, points, stage), number, False

    def act(self, state: BodyState, moment: Moment, rng: np.random.Generator) -> Array:
        """(1, nu) servo targets."""
        seen_by = moment if self._is_together else moment.of(self._number)
        if not self._has_begun:
            self.doing.begin(np.ones(self.doing.count, dtype=bool), seen_by, rng)
        else:
            self.doing.go_on(seen_by, rng)
        self._has_begun = True
        own = self._number if self._is_together else 0
        seen = np.concatenate([state.rows, self.doing.see(seen_by)[own : own + 1].astype(np.float32)], axis=1)
        actions = np.array(self._task.policy(seen), dtype=float)
        size = self._improviser.model.latent_size
        actions[:, :size] += self._noise * rng.standard_normal((1, size))
        return act_in_latent_space(self._improviser.model, state.rows, actions, self._task.sigma_rad)

    @property
    def done(self) -> Mapping[str, float]:
        """What came of it in the end, of what its task counts."""
        own = self._number if self._is_together else 0
        names = ("reached", "is_there", "visited")
        return {name: float(np.sum(self.doing.kept[name][own])) for name in names if name in self.doing.kept}

    def state(self) -> Mapping[str, NDArray[Any]]:
        """How far the task is."""
        return {**self.doing.state(), "begun": np.array(self._has_begun)}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Put back what ``state`` gave."""
        self._has_begun = bool(state["begun"])
        self.doing.restore({name: array for name, array in state.items() if name != "begun"})


def ground_below(stage: Stage, places: Array) -> Array:
    """(N, 3) with the height of the terrain at places (N, 3), and zeros: to be taken from them."""
    found = np.zeros(places.shape)
    if stage.terrain is not None:
        found[:, 2] = terrain_height(stage.terrain, np.nan_to_num(places[:, :2]))
    return found
