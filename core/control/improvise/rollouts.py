# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the data comes from: bodies that the expert moves, and bodies that the learner moves while the expert says what
it would do (on-policy distillation).

The learner either follows what its encoder makes of what the expert sees, or wanders on noise from the prior. Who
wanders is looked up in the library every fifth of a second, and the expert then says how to go on from there: so the
prior learns what brings it back to the library from wherever it gets to by itself. Of moments that are about as near,
those are chosen that lead to ways of moving that were shown too seldom, or it would sink into standing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...body.poses import link_transforms
from ...geometry.quaternions import Array
from ...learn.randomness import generator_state, restore_generator
from ...learn.rollout import arrays_under
from ...sim.engine import Engine, SensorRows, World
from ...sim.stage import Character, Stage
from ..matching.features import find_head
from ..tracking.facing import rotate_about_z, rotate_pose_about_z
from ..tracking_policy.controller import TrackingController
from ..tracking_policy.pushes import PushConfig, RandomPushes
from ..tracking_policy.reference_streams import CONTROL_FPS, ReferenceStreams
from .body_states import BodyState, Floats, StateReader
from .expert import Expert
from .falling import FallHeights, find_fall_heights, has_fallen
from .stream_matching import StreamMatcher

_MATCH_STEPS = 6
_REMEMBERED = 50  # times that all copies are looked up: ten seconds
_NOISE_RATE = 0.1  # rad/s of the velocities in which bodies begin


class Learner(Protocol):
    """What acts where the expert does not."""

    def follow(self, rows: Floats, seen: Floats, rng: np.random.Generator) -> Array:
        """(N, nu) targets for latent vectors from the posterior."""

    def wander(self, rows: Floats, rng: np.random.Generator) -> Array:
        """(N, nu) targets for latent vectors from the prior."""


@dataclass(frozen=True)
class RolloutConfig:
    """expert, follow: shares of the copies that the expert moves, and that follow; the others wander.

    steps: control steps of a rollout. noise_rad: of the expert's actions (section 5.1.1). apart_m: metres between the
    heads at which a body that follows begins anew. pushes: small ones.
    """

    steps: int = 16
    expert: float = 0.25
    follow: float = 0.25
    noise_rad: float = 0.05
    apart_m: float = 0.7
    pushes: PushConfig = field(default_factory=lambda: PushConfig(every_s=3.0, most_n_s=8.0))


@dataclass(frozen=True, eq=False)
class ExpertRows:
    """T steps of N copies. state: (T + 1, N, S). seen: (T, N, E). label, action: (T, N, nu) radians, what the expert
    would have done and what was done. goes_on: (T, N) whether the next state comes of it. experts: how many of the
    copies, the first ones, the expert moved.
    """

    state: Floats
    seen: Floats
    label: Floats
    action: Floats
    goes_on: NDArray[np.bool_]
    experts: int

    @property
    def samples(self) -> int:
        """T * N."""
        return self.goes_on.size


class RolloutBodies:
    """N bodies in one world. fall_heights: below which one has fallen."""

    def __init__(
        self,
        expert: Expert,
        reader: StateReader,
        matcher: StreamMatcher,
        world: World,
        seed: Any,
        fall_heights: FallHeights,
    ) -> None:
        self.expert, self.reader, self.matcher, self.world = expert, reader, matcher, world
        self._rng = np.random.default_rng(seed)
        self._fall_heights, self._head = fall_heights, find_head(expert.streams.body)
        self._substeps = round(1.0 / (CONTROL_FPS * world.dt_s))
        count = world.copies
        self._pushes = RandomPushes(expert.streams.body, count, PushConfig(), self._rng)
        self.states = np.zeros((count, world.state_size))
        self.frame = np.zeros(count, dtype=np.int64)
        self.offsets = np.zeros((count, len(expert.acting)))
        self.drawn = np.zeros((count, 2))
        self.shown = self.matcher.wanted.copy()
        self.age = self._rng.integers(_MATCH_STEPS, size=count)
        self._begin(np.ones(count, dtype=bool), world.sense(self.states))

    def _begin(self, which: NDArray[np.bool_], rows: SensorRows) -> SensorRows:
        """Some of the bodies anew, on the library's own frames; gives the rows as they are then."""
        streams, frame = self.expert.streams, self._rng.choice(self.matcher.frames, size=int(which.sum()))
        qpos, qvel = (values[frame].astype(float) for values in (streams.qpos, streams.qvel))
        qvel += _NOISE_RATE * self._rng.standard_normal(qvel.shape)
        self.states[which] = self.world.state_of(qpos, qvel)
        self.frame[which], self.offsets[which], self.drawn[which] = frame, 0.0, 0.0
        pos, quat = link_transforms(streams.body, qpos)
        com, velocity = streams.com[frame, None].astype(float), streams.com_velocity[frame, None].astype(float)
        return _with_rows(rows, which, link_pos=pos, link_quat_wxyz=quat, com=com, com_velocity=velocity)

    def collect(self, learner: Learner | None, config: RolloutConfig) -> ExpertRows:
        """A rollout. learner: None where the expert moves everybody."""
        count = self.world.copies
        experts = count if learner is None else round(config.expert * count)
        follows = np.zeros(count, dtype=bool)
        follows[: experts + (0 if learner is None else round(config.follow * count))] = True
        self._pushes.config = config.pushes
        kept: dict[str, list[Any]] = {name: [] for name in ("state", "seen", "label", "action", "goes_on")}
        rows = self.world.sense(self.states)
        for _ in range(config.steps):
            body = self._read(rows)
            rows = self._match(body, rows, follows)
            tracking = self.expert.read(self.world, self.states, rows, self.frame, self.drawn)
            advice = self.expert.advise(tracking, self.offsets)
            action = self._act(learner, body.rows, advice.seen, advice.targets, experts, follows, config)
            forces = self._pushes.step()
            states, rows = self.world.rollout(
                self.states,
                action[:, None],
                substeps=self._substeps,
                forces=None if forces is None else forces[:, :1],
                end_only=True,
            )
            self.states = np.array(states[:, -1])
            done = advice.targets.copy()
            done[experts:] = action[experts:]
            self.offsets = (done - advice.reference)[:, self.expert.acting]
            self.frame, self.age = self.expert.later(self.frame), self.age + 1
            lost = self._find_lost(rows, follows, advice.apart_m, config)
            for name, values in zip(kept, (body.rows, advice.seen, advice.targets, action, ~lost), strict=True):
                kept[name].append(np.asarray(values, dtype=bool if name == "goes_on" else np.float32))
            if lost.any():
                rows = self._begin(lost, rows)
        kept["state"].append(self._read(rows).rows)
        return ExpertRows(**{name: np.stack(values) for name, values in kept.items()}, experts=experts)

    def _read(self, rows: SensorRows) -> BodyState:
        qpos, qvel = self.world.pose_of(self.states)
        return self.reader(qpos, qvel, (rows.link_pos[:, -1], rows.link_quat_wxyz[:, -1]))

    def _match(self, body: BodyState, rows: SensorRows, follows: NDArray[np.bool_]) -> SensorRows:
        """Bodies whose stream is over, and now and then those that wander, go on with the nearest frame there is.

        A body is put where the frame has it on the ground: to the expert and the learner that makes no difference.
        Gives the rows as they are then.
        """
        which = self.expert.is_over(self.frame) | (~follows & (self.age % _MATCH_STEPS == 0))
        if not which.any():
            return rows
        frame, streams = self.matcher.find(body.rows[which], self._rng, self.shown), self.expert.streams
        self.shown += (self.matcher.shares(frame) - self.shown) * min(1.0, len(frame) / (_REMEMBERED * len(which)))
        turn = streams.heading[frame].astype(float) - body.heading[which]
        level, place = body.root[which] * (1.0, 1.0, 0.0), streams.qpos[frame, :3] * (1.0, 1.0, 0.0)
        qpos, qvel = (values[which] for values in self.world.pose_of(self.states))
        qpos[:, :3] -= level
        qpos, qvel = rotate_pose_about_z(turn, qpos, qvel)
        qpos[:, :3] += place
        states = np.array(self.states)
        states[which] = self.world.replace_pose(self.states[which], qpos, qvel)
        self.states, self.frame[which], self.drawn[which] = states, frame, 0.0
        link_pos, com, velocity = (values[which, -1] for values in (rows.link_pos, rows.com, rows.com_velocity))
        moved = rotate_about_z(turn, link_pos - level[:, None]) + place[:, None]
        com = rotate_about_z(turn, com - level[:, None]) + place[:, None]
        return _with_rows(rows, which, link_pos=moved, com=com, com_velocity=rotate_about_z(turn, velocity))

    def _act(
        self,
        learner: Learner | None,
        rows: Floats,
        seen: Floats,
        targets: Array,
        experts: int,
        follows: NDArray[np.bool_],
        config: RolloutConfig,
    ) -> Array:
        """(N, nu) what is done: by the expert with noise, or by the learner."""
        action = targets.copy()
        action[:experts] += config.noise_rad * self._rng.standard_normal(action[:experts].shape)
        if learner is not None:
            first = int(follows.sum())
            if first > experts:
                action[experts:first] = learner.follow(rows[experts:first], seen[experts:first], self._rng)
            if first < len(action):
                action[first:] = learner.wander(rows[first:], self._rng)
        return np.nan_to_num(action)

    def _find_lost(
        self, rows: SensorRows, follows: NDArray[np.bool_], apart_m: Array, config: RolloutConfig
    ) -> NDArray[np.bool_]:
        fallen = has_fallen(rows.link_pos[:, -1], self._head, self._fall_heights)
        finite = np.isfinite(self.states).all(axis=1)
        lost: NDArray[np.bool_] = fallen | ~finite | (follows & ~(apart_m < config.apart_m))
        return lost

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that decides what will happen."""
        found = {"rng": generator_state(self._rng), "states": self.states, "frame": self.frame}
        found |= {"offsets": self.offsets, "age": self.age, "drawn": self.drawn, "shown": self.shown}
        found |= {f"pushes_{name}": values for name, values in self._pushes.state().items()}
        return {name: np.array(values) for name, values in found.items()}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Put back what ``state`` gave."""
        restore_generator(self._rng, state["rng"])
        for name in ("states", "frame", "offsets", "age", "drawn", "shown"):
            if state[name].shape != getattr(self, name).shape:
                raise ValueError(f"{state[name].shape} {name}")
            setattr(self, name, np.array(state[name]))
        self._pushes.restore(arrays_under("pushes_", state))


def join_rows(parts: Sequence[ExpertRows]) -> ExpertRows:
    """The rows of several worlds as of one: first the copies that the expert moved."""
    if len(parts) == 1:
        return parts[0]

    def join(name: str) -> NDArray[Any]:
        each = [getattr(part, name) for part in parts]
        moved = [rows[:, : part.experts] for rows, part in zip(each, parts, strict=True)]
        return np.concatenate([*moved, *(rows[:, part.experts :] for rows, part in zip(each, parts, strict=True))], 1)

    names = ("state", "seen", "label", "action", "goes_on")
    return ExpertRows(**{name: join(name) for name in names}, experts=sum(part.experts for part in parts))


def make_rollout_bodies(
    controller: TrackingController,
    streams: ReferenceStreams,
    engine: Engine,
    copies: int,
    seed: Sequence[int],
    threads: int,
) -> RolloutBodies:
    """The bodies of a shard, in a world of its own."""
    world = engine.compile(Stage((Character(streams.body),)), copies, threads=threads)
    reader = StateReader(streams.body)
    expert, matcher = Expert(controller, streams), StreamMatcher(streams, reader)
    return RolloutBodies(expert, reader, matcher, world, seed, find_fall_heights(streams))


def _with_rows(rows: SensorRows, which: NDArray[np.bool_], **values: Array) -> SensorRows:
    """The rows (N, K, ...) with other values (n, ...) for some of the copies at the last moment."""
    changed = {name: np.array(getattr(rows, name)) for name in values}
    for name, array in changed.items():
        array[which, -1] = values[name]
    return replace(rows, **changed)
