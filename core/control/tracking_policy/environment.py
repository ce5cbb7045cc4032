# SPDX-License-Identifier: GPL-3.0-or-later
"""The environment: N characters follow streams, each episode from a frame of one until it falls or time is over."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...body import BodyModel
from ...geometry.quaternions import Array
from ...learn.environment import Floats, StepResult
from ...learn.randomness import generator_state, restore_generator
from ...learn.rollout import arrays_under
from ...sim.engine import World
from ..matching.features import find_head
from .drawing import PRACTISED_BACK_M_S, draw_along
from .observations import StreamFeatures, TrackingState, make_blank, read_state
from .pushes import PushConfig, RandomPushes
from .reference_streams import CONTROL_FPS, CONTROL_FRAMES, Indices, ReferenceStreams
from .rewards import RewardWeights, head_distance, tracking_rewards
from .starts import StartDistribution

FELL, BROKEN, OVER, TIME = "fell", "broken", "end of the stream", "time"
END_REASONS = (FELL, BROKEN, OVER, TIME)
_STILL_ROLES = ("hand", "head", "toe")  # joints that the policy leaves to the stream (section 6.4)
_MOST_OFFSET = 1.5  # radians


@dataclass(frozen=True)
class TrackingConfig:
    """smoothing: β of section 6.4, the share of a new action in what the servos get. apart_m: metres between the heads
    at which an episode is over. seconds: how long one lasts at most. all_joints: act on all, not on a subset.
    noise: of the velocities in which episodes begin, rad/s. hard: begin more often where characters fall.
    """

    smoothing: float = 0.4
    apart_m: float = 0.4
    seconds: float = 20.0
    all_joints: bool = False
    noise: float = 0.1
    hard: bool = True
    weights: RewardWeights = field(default_factory=RewardWeights)
    pushes: PushConfig = field(default_factory=PushConfig)


def find_acting(body: BodyModel, all_joints: bool = False) -> Indices:
    """(A,) columns of the servo targets that the policy corrects: legs, trunk and arms, not hands, head and toes."""
    columns = np.concatenate([np.full(link.joint.dofs, index) for index, link in enumerate(body.links)][1:])
    acting = [all_joints or body.links[int(index)].role not in _STILL_ROLES for index in columns]
    return np.flatnonzero(acting)


class TrackingEnvironment:
    """N characters on streams; implements ``core.learn.environment.Environment``."""

    end_reasons: tuple[str, ...] = END_REASONS

    def __init__(
        self,
        streams: ReferenceStreams,
        features: StreamFeatures,
        world: World,
        rng: np.random.Generator,
        config: TrackingConfig,
    ) -> None:
        self.streams, self.features, self.world, self.config = streams, features, world, config
        self.worlds, self.acting, self.head = (
            world.copies,
            find_acting(streams.body, config.all_joints),
            find_head(streams.body),
        )
        self.action_size = len(self.acting)
        self._substeps = round(1.0 / (CONTROL_FPS * CONTROL_FRAMES * world.dt_s))
        self._rng = rng
        self.starts = StartDistribution(streams, rng, hard=config.hard)
        self.pushes = RandomPushes(streams.body, self.worlds, config.pushes, rng)
        self._time_limit = round(config.seconds * CONTROL_FPS)
        self.observation_size = int(self.reset().shape[1])

    def set_pushes(self, config: PushConfig) -> None:
        """Push the copies in another way from now on."""
        self.pushes.config = config

    def reset(self) -> Floats:
        """(N, O) the first observations of new episodes in all worlds."""
        self.states = np.zeros((self.worlds, self.world.state_size))
        self.frame = np.zeros(self.worlds, dtype=np.int64)
        self.offsets = np.zeros((self.worlds, self.action_size))
        self.age = np.zeros(self.worlds, dtype=np.int64)
        self.drawn = np.zeros((self.worlds, 2))
        self._kept = make_blank(self.streams.body, self.worlds)
        self._begin(np.ones(self.worlds, dtype=bool))
        # Copies that began together would all be truncated together: the first episodes are of all lengths.
        self.age = self._rng.integers(self._time_limit // 2, size=self.worlds)
        return self._show()

    def _begin(self, which: NDArray[np.bool_]) -> None:
        """New episodes for some of the copies, in poses of the streams: nothing need be sensed to know them."""
        streams, frame = self.streams, self.starts.sample(int(which.sum()))
        qpos, qvel = (values[frame].astype(float) for values in (streams.qpos, streams.qvel))
        nudge = self.config.noise * self._rng.standard_normal(qvel.shape)
        self.states[which] = self.world.state_of(qpos, qvel + nudge)
        self.frame[which], self.offsets[which], self.age[which], self.drawn[which] = frame, 0.0, 0, 0.0
        velocity = streams.com_velocity[frame] + nudge[:, :3]
        fresh = (frame, qpos, qvel + nudge, streams.link_pos[frame], streams.com[frame], velocity)
        for kept, values in zip(self._kept, fresh, strict=True):
            kept[which] = values

    def _show(self) -> Floats:
        """(N, O) what is seen now."""
        self.now = TrackingState(self.streams, self.features, *(kept.copy() for kept in self._kept))
        self._observed = self.now.observations(self.offsets)
        return self._observed

    def step(self, actions: Floats) -> StepResult:
        """One control step with corrections (N, A) in radians."""
        streams, before = self.streams, self.now
        wished = limit_offsets(self.features.turn_actions(actions, self.frame))
        change = self.config.smoothing * (wished - self.offsets)
        self.offsets = self.offsets + change
        targets = servo_targets(streams, self.frame, self.offsets, self.acting)
        states, rows = self.world.rollout(
            self.states, targets, substeps=self._substeps, forces=self.pushes.step(), end_only=True
        )
        self.states, self.frame, self.age = np.array(states[:, -1]), self.frame + CONTROL_FRAMES, self.age + 1
        now = read_state(streams, self.features, self.world, self.states, rows, self.frame.copy(), self.drawn)
        reasons = self._find_end_reasons(now)
        terms, rewards = tracking_rewards(now, before, change, self.config.weights, self.head)
        ended = reasons >= 0
        terminated = ended & (reasons <= 1)
        # Only now: rewards are for speeds that a stream that is drawn along would make others.
        drawn = draw_along(now, self.drawn, PRACTISED_BACK_M_S)
        self.drawn = self.drawn + drawn
        now.move(-drawn)
        final = now.observations(self.offsets)
        self._kept = now.arrays()
        if ended.any():
            self.starts.note_falls(self.frame[terminated])
            self._begin(ended)
            self._show()
        else:
            self.now, self._observed = now, final
        return StepResult(self._observed, terms, rewards, terminated, ended & ~terminated, final, reasons)

    def _find_end_reasons(self, now: TrackingState) -> Indices:
        apart = head_distance(now, self.head)
        reasons = np.where(apart > self.config.apart_m, 0, -1)
        reasons = np.where(np.isfinite(apart) & np.isfinite(now.qvel).all(axis=1), reasons, 1)
        over = self.frame + CONTROL_FRAMES > self.streams.ends[self.frame]
        reasons = np.where((reasons < 0) & over, 2, reasons)
        return np.where((reasons < 0) & (self.age >= self._time_limit), 3, reasons)

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that decides what will happen."""
        found = {"rng": generator_state(self._rng), "states": self.states, "frame": self.frame}
        found |= {"offsets": self.offsets, "age": self.age, "drawn": self.drawn}
        found |= {f"starts_{name}": values for name, values in self.starts.state().items()}
        found |= {f"pushes_{name}": values for name, values in self.pushes.state().items()}
        found |= {f"kept_{number}": values for number, values in enumerate(self._kept)}
        return {name: np.array(values) for name, values in found.items()}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> Floats:
        """Put back what ``state`` gave, and give (N, O) the observations as they were then."""
        restore_generator(self._rng, state["rng"])
        self.states, self.frame = np.array(state["states"]), np.array(state["frame"])
        self.offsets, self.age = np.array(state["offsets"]), np.array(state["age"])
        self.drawn = np.array(state["drawn"])
        self.starts.restore(arrays_under("starts_", state))
        self.pushes.restore(arrays_under("pushes_", state))
        self._kept = tuple(np.array(state[f"kept_{number}"]) for number in range(len(self._kept)))
        return self._show()


def limit_offsets(actions: Floats) -> Array:
    """(N, A) actions as offsets that no body is harmed by."""
    return np.clip(np.nan_to_num(np.asarray(actions, dtype=float)), -_MOST_OFFSET, _MOST_OFFSET)


def servo_targets(streams: ReferenceStreams, frame: Indices, offsets: Array, acting: Indices) -> Array:
    """(N, CONTROL_FRAMES, nu) targets that lead on from frames (N,), corrected by offsets (N, A)."""
    ahead = np.minimum(frame[:, None] + np.arange(1, CONTROL_FRAMES + 1), streams.ends[frame][:, None])
    targets = streams.targets[ahead].astype(float)
    targets[:, :, acting] += offsets[:, None]
    return targets
