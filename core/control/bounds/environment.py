# SPDX-License-Identifier: GPL-3.0-or-later
"""The environment: N copies follow the reference, and an episode terminates when a bound is violated (section 3.2).

A control step is 1/30 s. Servo targets are the reference's, at every film step, plus the policy's correction for the
control step as exponential maps (section 4.2).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import BoundsError
from ...geometry.quaternions import Array
from ...learn.environment import Floats, StepResult
from ...learn.randomness import generator_state, restore_generator
from ...learn.rollout import arrays_under
from ...sim.engine import World
from .bounds import bound_names
from .initial_states import InitialStateConfig, InitialStateDistribution, InitialStates
from .observations import (
    Flags,
    ReferencePlacement,
    RelativeKinematics,
    clip_finite,
    measure_kinematics,
    observation_size,
    place_at_origin,
    transform_to_world,
)
from .reference_trajectory import CONTROL_FPS, FILM_STEPS, Indices, ReferenceTrajectory
from .rewards import RewardTerm

BROKEN, OVER, TIME = "broken", "end of the clip", "time"
"""Why an episode ended, besides a bound: physics diverged, the motion was over, or the time limit was reached."""

_MAX_CORRECTION = 2.0  # radians


@dataclass(frozen=True)
class EpisodeConfig:
    """time_limit_s: seconds after which an episode is truncated. adaptation_interval: control steps between two
    adaptations of the initial states, an epoch of the paper."""

    time_limit_s: float = 20.0
    adaptation_interval: int = 32
    initial_states: InitialStateConfig = field(default_factory=InitialStateConfig)


class BoundsEnvironment:
    """N copies on a reference within widths (T + 1, R); implements ``core.learn.environment.Environment``."""

    def __init__(
        self,
        reference: ReferenceTrajectory,
        widths: Array,
        world: World,
        rng: np.random.Generator,
        *,
        config: EpisodeConfig | None = None,
        terms: Sequence[RewardTerm] = (),
    ) -> None:
        names = bound_names(reference.body)
        if widths.shape != (reference.steps + 1, len(names)):
            raise BoundsError(f"Widths of shape {widths.shape} are not those of {reference.steps + 1} frames")
        self.reference, self.world, self.config, self.terms = reference, world, config or EpisodeConfig(), tuple(terms)
        self.worlds, self.action_size = world.copies, reference.body.nu
        self.observation_size = observation_size(reference)
        self.end_reasons = (*names, BROKEN, OVER, TIME)
        self.substeps = round(1.0 / (CONTROL_FPS * FILM_STEPS * world.dt_s))
        self._inverse_widths = 1.0 / widths  # an infinite width is none
        self._rng = rng
        self.initial_states = InitialStateDistribution(reference, self.config.initial_states, rng)
        self._recent_steps = _StepBuffer(self.config.adaptation_interval, self.worlds, reference, self.observation_size)
        self._time_limit = round(self.config.time_limit_s * CONTROL_FPS)

    def reset(self) -> Floats:
        """(N, O) the first observations of new episodes in all worlds."""
        first = self.initial_states.sample(self.worlds)
        self.placement = place_at_origin(first.at)
        self.states = self.world.state_of(*transform_to_world(self.reference, first.qpos, first.qvel, self.placement))
        # Copies that began together would all be truncated together: the first episodes are of all lengths.
        self.age = self._rng.integers(self._time_limit // 2, size=self.worlds)
        self._current = first
        self._reset_terms(np.ones(self.worlds, dtype=bool))
        return first.observed

    def step(self, actions: Floats) -> StepResult:
        """One control step with corrections (N, A) in radians."""
        states, rows = self.world.rollout(
            self.states,
            compute_servo_targets(self.reference, self.placement.at, actions),
            substeps=self.substeps,
            end_only=True,
        )
        self.states, self.placement = states[:, -1], self.placement.advance(self.reference)
        self.age = self.age + 1
        kinematics = measure_kinematics(self.reference, self.world, self.states, rows, self.placement)
        reasons = self.find_end_reasons(kinematics)
        ended = reasons >= 0
        terminated = ended & (reasons <= self.end_reasons.index(BROKEN))
        truncated = ended & ~terminated
        terms = self._reward_terms(kinematics, ~terminated)
        rewards = np.prod(list(terms.values()), axis=0)
        self._recent_steps.append(self._current, rewards, terminated, truncated, self.placement.at)
        final = kinematics.observations()
        self._current = InitialStates(self.placement.at, kinematics.qpos, kinematics.qvel, final)
        if ended.any():
            self._reset_copies(ended)
        if self._recent_steps.full:
            self.initial_states.adapt(*self._recent_steps.pop())
        return StepResult(self._current.observed, terms, rewards, terminated, truncated, final, reasons)

    def begin_in(self, states: InitialStates) -> None:
        """Begin episodes in these states from now on."""
        self.initial_states.fill_buffers(states)

    def find_end_reasons(self, kinematics: RelativeKinematics) -> Indices:
        """(N,) the reason why an episode ends here: of violated bounds the one most exceeded; -1 where it goes on."""
        over = kinematics.deviations * self._inverse_widths[kinematics.at]
        worst = np.argmax(over, axis=1)  # NaN counts as the largest
        most = over[np.arange(len(over)), worst]
        found = np.where(most > 1.0, worst, -1)
        found = np.where(np.isfinite(most), found, self.end_reasons.index(BROKEN))
        if not self.reference.cyclic:
            found = np.where((found < 0) & (kinematics.at >= self.reference.steps), self.end_reasons.index(OVER), found)
        return np.where((found < 0) & (self.age >= self._time_limit), self.end_reasons.index(TIME), found)

    def _reward_terms(self, kinematics: RelativeKinematics, alive: Flags) -> dict[str, Array]:
        found = {"survival": alive.astype(float)}
        for term in self.terms:
            found[term.name] = np.nan_to_num(term.evaluate(kinematics))
        return found

    def _reset_copies(self, ended: Flags) -> None:
        """Begin new episodes for copies (N,) whose episodes have ended."""
        first = self.initial_states.sample(int(ended.sum()))
        fresh = place_at_origin(first.at)
        self.placement = ReferencePlacement(
            *(_replace_rows(getattr(self.placement, name), ended, getattr(fresh, name)) for name in _PLACEMENT)
        )
        self._current = InitialStates(
            *(_replace_rows(values, ended, getattr(first, name)) for name, values in vars(self._current).items())
        )
        qpos, qvel = transform_to_world(self.reference, first.qpos, first.qvel, fresh)
        self.states[ended] = self.world.state_of(qpos, qvel)
        self.age = np.where(ended, 0, self.age)
        self._reset_terms(ended)

    def _reset_terms(self, which: Flags) -> None:
        if not self.terms:
            return
        rows = self.world.sense(self.states)
        kinematics = measure_kinematics(self.reference, self.world, self.states, rows, self.placement)
        for term in self.terms:
            term.reset(which, kinematics)

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that decides what will happen."""
        found: dict[str, NDArray[Any]] = {"rng": generator_state(self._rng), "states": self.states, "age": self.age}
        found |= {f"frames_{name}": getattr(self.placement, name) for name in _PLACEMENT}
        found |= {f"now_{name}": values for name, values in vars(self._current).items()}
        found |= {f"starts_{name}": values for name, values in self.initial_states.state().items()}
        found |= {f"memory_{name}": values for name, values in self._recent_steps.state().items()}
        for term in self.terms:
            found |= {f"term_{term.name}_{name}": values for name, values in term.state().items()}
        return {name: np.array(values) for name, values in found.items()}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> Floats:
        """Put back what ``state`` gave, and give (N, O) the observations as they were then."""
        restore_generator(self._rng, state["rng"])
        self.states, self.age = np.array(state["states"]), np.array(state["age"])
        self.placement = ReferencePlacement(*(np.array(state[f"frames_{name}"]) for name in _PLACEMENT))
        self._current = InitialStates(*(np.array(state[f"now_{name}"]) for name in ("at", "qpos", "qvel", "observed")))
        self.initial_states.restore(arrays_under("starts_", state))
        self._recent_steps.restore(arrays_under("memory_", state))
        for term in self.terms:
            term.restore(arrays_under(f"term_{term.name}_", state))
        return self._current.observed


_PLACEMENT = ("at", "heading", "place")


def compute_servo_targets(reference: ReferenceTrajectory, at: Indices, actions: Floats) -> Array:
    """(N, FILM_STEPS, nu) servo targets of the step from frames (N,), corrected by actions (N, nu) in radians."""
    corrections = mirror_actions(reference, at, clip_finite(np.array(actions, dtype=float), _MAX_CORRECTION))
    return np.asarray(reference.targets[np.minimum(at, reference.steps - 1)] + corrections[:, None])


def mirror_actions(reference: ReferenceTrajectory, at: Indices, actions: Array) -> Array:
    """(N, nu) the policy's actions as the body's corrections, or back: mirrored in a symmetric gait's second stride."""
    if reference.gait_mirror is None:
        return actions
    second = reference.is_mirrored(at)
    found = np.array(actions)
    found[second] = reference.gait_mirror.mirror_actions(found[second])
    return found


def _replace_rows(values: NDArray[Any], where: Flags, others: NDArray[Any]) -> NDArray[Any]:
    found = np.array(values)
    found[where] = others
    return found


class _StepBuffer:
    """The last steps of all copies, until the initial states are adapted to them."""

    def __init__(self, steps: int, copies: int, reference: ReferenceTrajectory, observation_size: int) -> None:
        self._count = 0
        shape, body = (steps, copies), reference.body
        self._kept: dict[str, NDArray[Any]] = {
            "at": np.zeros(shape, dtype=np.int64),
            "qpos": np.zeros((*shape, body.nq)),
            "qvel": np.zeros((*shape, body.nv)),
            "observed": np.zeros((*shape, observation_size), dtype=np.float32),
            "rewards": np.zeros(shape),
            "terminated": np.zeros(shape, dtype=bool),
            "truncated": np.zeros(shape, dtype=bool),
            "after": np.zeros(shape, dtype=np.int64),
        }

    @property
    def full(self) -> bool:
        return self._count == len(self._kept["at"])

    def append(
        self, before: InitialStates, rewards: Array, terminated: Flags, truncated: Flags, after: Indices
    ) -> None:
        values = {**vars(before), "rewards": rewards, "terminated": terminated, "truncated": truncated, "after": after}
        for name, own in values.items():
            self._kept[name][self._count] = own
        self._count += 1

    def pop(self) -> tuple[InitialStates, Array, Flags, Flags, Indices]:
        kept = self._kept
        flat = (kept[name].reshape(-1, *kept[name].shape[2:]) for name in ("at", "qpos", "qvel", "observed"))
        self._count = 0
        return InitialStates(*flat), kept["rewards"], kept["terminated"], kept["truncated"], kept["after"]

    def state(self) -> dict[str, NDArray[Any]]:
        return {name: values[: self._count] for name, values in self._kept.items()}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        self._count = len(state["at"])
        for name, values in self._kept.items():
            values[: self._count] = state[name]
