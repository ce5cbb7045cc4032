# SPDX-License-Identifier: GPL-3.0-or-later
"""Learning within bounds as an environment: N copies follow a course, and who leaves the bounds begins anew.

A control step is 1/30 s. Servo targets are the course's, at every moment that is seen, plus the policy's correction for
the step as exponential maps (section 4.2).
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
from ...sim.engine import World
from .bounds import bound_names
from .course import CONTROL_FPS, FILM_STEPS, Course, Indices
from .observations import Flags, Frames, Seen, begun, numbered, observation_size, placed, see
from .rewards import Term
from .starts import Start, StartRules, Starts

BROKEN, OVER, TIME = "broken", "end of the clip", "time"
"""Why an episode ended, besides a bound: physics blew up, the motion was over, or it had lasted long enough."""

_FARTHEST = 2.0  # radians, beyond which a correction is cut off


@dataclass(frozen=True)
class EpisodeRules:
    """longest_s: seconds after which an episode is cut. epoch: control steps after which starts learn."""

    longest_s: float = 20.0
    epoch: int = 32
    starts: StartRules = field(default_factory=StartRules)


class BoundsEnvironment:
    """N copies on a course within widths (T + 1, R); implements ``core.learn.environment.Environment``."""

    def __init__(
        self,
        course: Course,
        widths: Array,
        world: World,
        rng: np.random.Generator,
        *,
        rules: EpisodeRules | None = None,
        terms: Sequence[Term] = (),
    ) -> None:
        names = bound_names(course.body)
        if widths.shape != (course.steps + 1, len(names)):
            raise BoundsError(f"Widths of shape {widths.shape} are not those of {course.steps + 1} frames")
        self.course, self.world, self.rules, self.terms = course, world, rules or EpisodeRules(), tuple(terms)
        self.worlds, self.action_size = world.copies, course.body.nu
        self.observation_size = observation_size(course)
        self.end_reasons = (*names, BROKEN, OVER, TIME)
        self.substeps = round(1.0 / (CONTROL_FPS * FILM_STEPS * world.dt_s))
        self._narrowness = 1.0 / widths  # an infinite width is none
        self._rng = rng
        self.starts = Starts(course, self.rules.starts, rng)
        self._memory = _Memory(self.rules.epoch, self.worlds, course, self.observation_size)
        self._longest = round(self.rules.longest_s * CONTROL_FPS)

    def reset(self) -> Floats:
        """(N, O) the first observations of new episodes in all worlds."""
        first = self.starts.drawn(self.worlds)
        self.frames = begun(first.at)
        self.states = self.world.state_of(*placed(self.course, first.qpos, first.qvel, self.frames))
        # Copies that began together would all be cut together: the first episodes are of all lengths.
        self.age = self._rng.integers(self._longest // 2, size=self.worlds)
        self._now = first
        self._tell_terms(np.ones(self.worlds, dtype=bool))
        return first.observed

    def step(self, actions: Floats) -> StepResult:
        """Correct with (N, A) actions for a control step; see ``StepResult``."""
        states, rows = self.world.rollout(
            self.states, targets_of(self.course, self.frames.at, actions), substeps=self.substeps, end_only=True
        )
        self.states, self.frames = states[:, -1], self.frames.advanced(self.course)
        self.age = self.age + 1
        seen = see(self.course, self.world, self.states, rows, self.frames)
        why = self.why(seen)
        terminated = (why >= 0) & (why <= self.end_reasons.index(BROKEN))
        truncated = (why >= 0) & ~terminated
        rewards = self._rewards(seen, ~terminated)
        total = np.prod(list(rewards.values()), axis=0)
        self._memory.keep(self._now, total, terminated, truncated, self.frames.at)
        last = seen.observed()
        self._now = Start(self.frames.at, seen.qpos, seen.qvel, last)
        ended = why >= 0
        if ended.any():
            self._begin_anew(ended)
        if self._memory.full:
            self.starts.learn(*self._memory.taken())
        return StepResult(self._now.observed, rewards, total, terminated, truncated, last, why)

    def why(self, seen: Seen) -> Indices:
        """(N,) the reason why an episode ends here: of the bounds that are violated the one most so; -1 for none."""
        over = seen.deviations * self._narrowness[seen.at]
        worst = np.argmax(over, axis=1)  # what is no number counts as the largest
        most = over[np.arange(len(over)), worst]
        found = np.where(most > 1.0, worst, -1)
        found = np.where(np.isfinite(most), found, self.end_reasons.index(BROKEN))
        if not self.course.cyclic:
            found = np.where((found < 0) & (seen.at >= self.course.steps), self.end_reasons.index(OVER), found)
        return np.where((found < 0) & (self.age >= self._longest), self.end_reasons.index(TIME), found)

    def _rewards(self, seen: Seen, alive: Flags) -> dict[str, Array]:
        found = {"survival": alive.astype(float)}
        for term in self.terms:
            found[term.name] = np.nan_to_num(term.worth(seen))
        return found

    def _begin_anew(self, ended: Flags) -> None:
        """New episodes for copies (N,) that have ended."""
        first = self.starts.drawn(int(ended.sum()))
        fresh = begun(first.at)
        self.frames = Frames(*(_put(getattr(self.frames, name), ended, getattr(fresh, name)) for name in _FRAMES))
        self._now = Start(*(_put(values, ended, getattr(first, name)) for name, values in vars(self._now).items()))
        qpos, qvel = placed(self.course, first.qpos, first.qvel, fresh)
        self.states[ended] = self.world.state_of(qpos, qvel)
        self.age = np.where(ended, 0, self.age)
        self._tell_terms(ended)

    def _tell_terms(self, which: Flags) -> None:
        if not self.terms:
            return
        rows = self.world.sense(self.states)
        seen = see(self.course, self.world, self.states, rows, self.frames)
        for term in self.terms:
            term.begin(which, seen)

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that decides what will happen."""
        found: dict[str, NDArray[Any]] = {"rng": generator_state(self._rng), "states": self.states, "age": self.age}
        found |= {f"frames_{name}": getattr(self.frames, name) for name in _FRAMES}
        found |= {f"now_{name}": values for name, values in vars(self._now).items()}
        found |= {f"starts_{name}": values for name, values in self.starts.state().items()}
        found |= {f"memory_{name}": values for name, values in self._memory.state().items()}
        for term in self.terms:
            found |= {f"term_{term.name}_{name}": values for name, values in term.state().items()}
        return {name: np.array(values) for name, values in found.items()}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> Floats:
        """Put back what ``state`` gave, and give (N, O) the observations as they were then."""
        restore_generator(self._rng, state["rng"])
        self.states, self.age = np.array(state["states"]), np.array(state["age"])
        self.frames = Frames(*(np.array(state[f"frames_{name}"]) for name in _FRAMES))
        self._now = Start(*(np.array(state[f"now_{name}"]) for name in ("at", "qpos", "qvel", "observed")))
        self.starts.restore(_within(state, "starts_"))
        self._memory.restore(_within(state, "memory_"))
        for term in self.terms:
            term.restore(_within(state, f"term_{term.name}_"))
        return self._now.observed


_FRAMES = ("at", "heading", "place")


def targets_of(course: Course, at: Indices, actions: Floats) -> Array:
    """(N, FILM_STEPS, nu) servo targets of the step from frames (N,), corrected by actions (N, nu) in radians."""
    held = mirrored_actions(course, at, numbered(np.array(actions, dtype=float), _FARTHEST))
    return np.asarray(course.targets[np.minimum(at, course.steps - 1)] + held[:, None])


def mirrored_actions(course: Course, at: Indices, actions: Array) -> Array:
    """(N, nu) as the body is corrected for as the policy is asked, or the other way round: the same but in a gait's
    second stride, of which the policy knows the mirror image."""
    if course.evenness is None:
        return actions
    second = course.mirrored(at)
    found = np.array(actions)
    found[second] = course.evenness.actions(found[second])
    return found


def _put(values: NDArray[Any], where: Flags, others: NDArray[Any]) -> NDArray[Any]:
    found = np.array(values)
    found[where] = others
    return found


def _within(state: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    return {name.removeprefix(prefix): values for name, values in state.items() if name.startswith(prefix)}


class _Memory:
    """The last steps of all copies, until starts have learned from them."""

    def __init__(self, steps: int, copies: int, course: Course, observed: int) -> None:
        self._count = 0
        shape, body = (steps, copies), course.body
        self._kept: dict[str, NDArray[Any]] = {
            "at": np.zeros(shape, dtype=np.int64),
            "qpos": np.zeros((*shape, body.nq)),
            "qvel": np.zeros((*shape, body.nv)),
            "observed": np.zeros((*shape, observed), dtype=np.float32),
            "rewards": np.zeros(shape),
            "terminated": np.zeros(shape, dtype=bool),
            "truncated": np.zeros(shape, dtype=bool),
            "after": np.zeros(shape, dtype=np.int64),
        }

    @property
    def full(self) -> bool:
        return self._count == len(self._kept["at"])

    def keep(self, before: Start, rewards: Array, terminated: Flags, truncated: Flags, after: Indices) -> None:
        values = {**vars(before), "rewards": rewards, "terminated": terminated, "truncated": truncated, "after": after}
        for name, own in values.items():
            self._kept[name][self._count] = own
        self._count += 1

    def taken(self) -> tuple[Start, Array, Flags, Flags, Indices]:
        kept = self._kept
        flat = (kept[name].reshape(-1, *kept[name].shape[2:]) for name in ("at", "qpos", "qvel", "observed"))
        self._count = 0
        return Start(*flat), kept["rewards"], kept["terminated"], kept["truncated"], kept["after"]

    def state(self) -> dict[str, NDArray[Any]]:
        return {name: values[: self._count] for name, values in self._kept.items()}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        self._count = len(state["at"])
        for name, values in self._kept.items():
            values[: self._count] = state[name]
