# SPDX-License-Identifier: GPL-3.0-or-later
"""What is seen of N copies that follow a course: how far they are from it, and what a policy is told of that.

Everything is in the course's own place and heading, which for each copy may lie anywhere on the floor (``Frames``), and
what a policy is told in a frame that besides faces as the copy does. So nothing learned depends on place or direction
(section 4.1).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...geometry.quaternions import Array, multiply, to_rotation_vector
from ...sim.engine import SensorRows, World
from ..tracking.facing import rotate_about_z, rotate_pose_about_z, rotation_about_z, twist_angle
from .course import Course, Indices

Flags = NDArray[np.bool_]

# What counts as one, so that all numbers of an observation are of about the same size before anything is known.
_PLACE_M, _SPEED_M_S, _TURN, _RATE = 0.1, 0.5, 0.2, 2.0
_MOST = 10.0  # a copy that is blown up must not teach what numbers are normal


@dataclass(frozen=True, eq=False)
class Frames:
    """Where each of N copies is on the course, and where the course's own frame lies for it.

    at: (N,) frames. heading: (N,) radians about Z, place: (N, 2) metres: course to world is p -> turned(p) + place.
    """

    at: Indices
    heading: Array
    place: Array

    def advanced(self, course: Course) -> "Frames":
        """One control step later; a cycle begins anew where it ended, and what is over stays at its end."""
        at = self.at + 1
        over = at >= course.steps
        if not course.cyclic or not over.any():
            return Frames(np.minimum(at, course.steps), self.heading, self.place)
        heading, place = np.array(self.heading), np.array(self.place)
        place[over] += rotate_about_z(heading[over], np.array([[*course.shift, 0.0]]))[..., :2]
        heading[over] += course.turn
        at[over] -= course.steps
        return Frames(at, heading, place)


@dataclass(frozen=True, eq=False)
class Seen:
    """N copies in one moment, in the course's frame.

    at: (N,) frames of the course. qpos: (N, nq), qvel: (N, nv). com: (N, 3), com_velocity: (N, 3). tips: (N, E, 3)
    metres from the root to the end effectors. rows: what the sensors saw, in the world; None for the course itself.
    pose_off, rate_off: (N, nv) from the course's pose and velocity. heading_off: (N,) radians about Z from its heading.
    """

    course: Course
    at: Indices
    qpos: Array
    qvel: Array
    com: Array
    com_velocity: Array
    tips: Array
    rows: SensorRows | None

    @cached_property
    def pose_off(self) -> Array:
        """(N, nv) how the poses differ from the course's, laid out as velocities are."""
        return self.course.space.difference(self.course.qpos[self.at], self.qpos)

    @cached_property
    def rate_off(self) -> Array:
        """(N, nv) how the velocities differ."""
        return np.asarray(self.qvel - self.course.rates[self.at])

    @cached_property
    def heading_off(self) -> Array:
        """(N,) radians about Z that the course would have to be turned by to face as the copies do."""
        return twist_angle(self.qpos[:, 3:7], self.course.qpos[self.at, 3:7])

    @cached_property
    def tips_off(self) -> Array:
        """(N, E, 3) how the end effectors are off as seen from the root, in a frame that faces as the copies do."""
        return rotate_about_z(-self.heading_off, self.tips) - self.course.tip_pos[self.at]

    @cached_property
    def deviations(self) -> Array:
        """(N, R) how far each bounded thing is from the course, in the order of ``bound_names``; NaN if blown up."""
        course = self.course
        com = np.abs(self.com - course.com[self.at])
        turns = np.sqrt(np.add.reduceat(self.pose_off**2, course.turn_starts, axis=1))
        tips = np.sqrt(np.einsum("nex,nex->ne", self.tips_off, self.tips_off))
        return np.concatenate([com, turns, tips], axis=1)

    def observed(self) -> NDArray[np.float32]:
        """(N, O) what a policy is told, as float32: the phase, and how the copies differ from the course.

        Of a gait's second stride the mirror image is told.
        """
        course = self.course
        level = rotate_about_z(-self.heading_off, np.stack([self.com - course.com[self.at], self.com_velocity], axis=1))
        level[:, 1] -= course.com_velocity[self.at]
        upright = multiply(rotation_about_z(-self.heading_off), self.qpos[:, 3:7])
        tilt = to_rotation_vector(multiply(upright, _inverse(course.qpos[self.at, 3:7])))
        tilt[:, 2] = 0.0  # what is left of the heading is rounding, which differs with where arrays lie in memory
        turns = self.pose_off.shape[1] - 6
        tips = self.tips_off.reshape(len(self.at), -1)
        parts = [
            (level.reshape(len(level), 6), (_PLACE_M,) * 3 + (_SPEED_M_S,) * 3),
            (tilt, (_TURN,) * 3),
            (_wrapped(self.heading_off)[:, None], (_TURN,)),
            (self.rate_off[:, 3:6], (_RATE,) * 3),
            (self.pose_off[:, 6:], (_TURN,) * turns),
            (self.rate_off[:, 6:], (_RATE,) * turns),
            (tips, (_PLACE_M,) * tips.shape[1]),
        ]
        seen = np.concatenate([part for part, _ in parts], axis=1)
        seen /= np.concatenate([ones for _, ones in parts])
        numbered(seen, _MOST)
        if course.evenness is not None:
            second = course.mirrored(self.at)
            seen[second] = course.evenness.seen(seen[second])
        return np.concatenate([course.phases[self.at], seen], axis=1, dtype=np.float32)


def numbered(values: NDArray[Any], most: float) -> NDArray[Any]:
    """The same array, changed: nothing in it is beyond ``most`` to either side, and what is no number becomes 0."""
    np.clip(values, -most, most, out=values)
    lost = np.isnan(values)
    if lost.any():
        values[lost] = 0.0
    return values


def see(course: Course, world: World, states: Array, rows: SensorRows, frames: Frames) -> Seen:
    """Copies in states (N, state_size) with the rows' last moment, as seen from their courses."""
    qpos, qvel = world.pose_of(states)
    pos, quat = rows.link_pos[:, -1], rows.link_quat_wxyz[:, -1]
    com, velocity = rows.com[:, -1, 0], rows.com_velocity[:, -1, 0]
    tips = course.tips.places(pos, quat) - pos[:, :1]
    qpos = np.array(qpos)
    qpos[:, :2] -= frames.place
    com = np.concatenate([com[:, :2] - frames.place, com[:, 2:]], axis=1)
    if np.any(frames.heading):
        qpos, qvel = rotate_pose_about_z(-frames.heading, qpos, qvel)
        com, velocity, tips = (rotate_about_z(-frames.heading, vectors) for vectors in (com, velocity, tips))
    return Seen(course, frames.at, qpos, np.asarray(qvel), com, velocity, tips, rows)


def course_seen(course: Course, at: Indices) -> Seen:
    """The course itself in frames (N,)."""
    return Seen(
        course,
        at,
        course.qpos[at],
        course.rates[at],
        course.com[at],
        course.com_velocity[at],
        course.tip_pos[at],
        None,
    )


def observation_size(course: Course) -> int:
    """O, how many numbers a policy is told."""
    return int(course_seen(course, np.zeros(1, dtype=np.int64)).observed().shape[1])


def placed(course: Course, qpos: Array, qvel: Array, frames: Frames) -> tuple[Array, Array]:
    """Poses (N, nq) and velocities (N, nv) of the course's frame put into the world."""
    qpos, qvel = rotate_pose_about_z(frames.heading, qpos, qvel) if np.any(frames.heading) else (np.array(qpos), qvel)
    qpos[:, :2] += frames.place
    return qpos, qvel


def begun(at: Indices) -> Frames:
    """Copies in frames (N,) whose courses lie where the clip has them."""
    return Frames(np.array(at), np.zeros(len(at)), np.zeros((len(at), 2)))


def _inverse(quat_wxyz: Array) -> Array:
    return np.asarray(quat_wxyz * np.array([1.0, -1.0, -1.0, -1.0]))


def _wrapped(angle: Array) -> Array:
    return np.asarray((angle + np.pi) % (2.0 * np.pi) - np.pi)
