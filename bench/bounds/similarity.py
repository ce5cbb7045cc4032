# SPDX-License-Identifier: GPL-3.0-or-later
"""How alike two ways of doing the same are: joint angles of policies on one course, moment by moment."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...core.control.bounds.course import CONTROL_FPS, FILM_STEPS, Course, Indices
from ...core.control.bounds.environment import targets_of
from ...core.control.bounds.observations import begun, placed, see
from ...core.control.bounds.playing import Act
from ...core.geometry.quaternions import Array
from ...core.sim.engine import World

_SETTLED_S = 1.0


@dataclass(frozen=True, eq=False)
class Way:
    """What N copies of a policy did in K control steps, each by itself and without noise.

    at: (K, N) frames of the course. qpos: (K, N, nq) in the course's place. within: (K, N) until a copy first left.
    """

    course: Course
    at: Indices
    qpos: Array
    within: NDArray[np.bool_]

    @property
    def settled(self) -> NDArray[np.bool_]:
        """(K, N) the moments that tell of a way: within the bounds, and on a cycle no longer just as it was begun."""
        late = np.arange(len(self.qpos)) >= (round(_SETTLED_S * CONTROL_FPS) if self.course.cyclic else 0)
        return np.asarray(self.within & late[:, None])


def watch(course: Course, widths: Array, act: Act, world: World, seconds: float) -> Way:
    """Let copies begin all over a cycle, or at the beginning of what ends, and see what they do within (T + 1, R)."""
    count = world.copies
    first = np.linspace(0, course.steps if course.cyclic else 0, count, endpoint=False).astype(np.int64)
    frames, inside = begun(first), np.ones(count, dtype=bool)
    states = world.state_of(*placed(course, course.qpos[first], course.rates[first], frames))
    seen = see(course, world, states, world.sense(states), frames)
    substeps = round(1.0 / (CONTROL_FPS * FILM_STEPS * world.dt_s))
    at, qpos, within = [], [], []
    for _ in range(round(seconds * CONTROL_FPS)):
        if not course.cyclic:
            inside = inside & (frames.at < course.steps)
        if not inside.any():
            break
        states[~inside] = np.nan  # who has left costs no more time
        states, rows = world.rollout(states, targets_of(course, frames.at, act(seen.observed())), substeps=substeps)
        states, frames = np.array(states[:, -1]), frames.advanced(course)
        seen = see(course, world, states, rows, frames)
        inside = inside & (np.nan_to_num(seen.deviations / widths[frames.at], nan=np.inf).max(axis=1) <= 1.0)
        at.append(frames.at)
        qpos.append(seen.qpos)
        within.append(inside)
    poses = np.array(qpos).reshape(-1, count, course.body.nq)
    return Way(
        course, np.array(at, dtype=int).reshape(-1, count), poses, np.array(within, dtype=bool).reshape(-1, count)
    )


def from_source(way: Way) -> float | None:
    """Radians a joint that a way is from its course, as a mean over all that tells of it; None if nothing does."""
    return _mean(joint_angles(way.course, way.course.qpos[way.at], way.qpos), way.settled)


def between(one: Way, other: Way) -> float | None:
    """Radians a joint between two ways that were begun alike, at the same moments of the course."""
    count = min(len(one.qpos), len(other.qpos))
    both = one.settled[:count] & other.settled[:count] & (one.at[:count] == other.at[:count])
    return _mean(joint_angles(one.course, one.qpos[:count], other.qpos[:count]), both)


def swing(course: Course) -> float:
    """Radians a joint that the course itself moves to and fro: from each of its poses to all others, as a mean."""
    poses = course.qpos[:-1] if course.cyclic else course.qpos
    return float(joint_angles(course, poses[:, None], poses[None]).mean())


def joint_angles(course: Course, some: Array, others: Array) -> Array:
    """(...) radians between poses (..., nq), as a mean over the joints; the root does not count."""
    off = course.space.difference(some, others)
    return np.asarray(np.sqrt(np.add.reduceat(off**2, course.turn_starts[1:], axis=-1)).mean(axis=-1))


def _mean(values: Array, where: NDArray[np.bool_]) -> float | None:
    return float(values[where].mean()) if where.any() else None
