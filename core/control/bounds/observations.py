# SPDX-License-Identifier: GPL-3.0-or-later
"""Kinematics of N copies relative to the reference: deviations for the bounds, observations for the policy.

Everything is in the reference's own frame, which for each copy may lie anywhere on the floor (``ReferencePlacement``);
observations are in a frame that also has the copy's heading. So nothing learned depends on place or direction
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
from .reference_trajectory import Indices, ReferenceTrajectory

Flags = NDArray[np.bool_]

# Scales, so that all numbers of an observation are of about the same size before statistics are known.
_PLACE_M, _SPEED_M_S, _ROTATION, _ANGULAR_RATE = 0.1, 0.5, 0.2, 2.0
_MAX_OBSERVATION = 10.0  # a copy whose physics diverged must not enter the statistics with its numbers


@dataclass(frozen=True, eq=False)
class ReferencePlacement:
    """Which frame of the reference each of N copies is at, and where the reference lies in the world for it.

    at: (N,) frames. heading: (N,) radians about Z, place: (N, 2) metres: reference to world is p -> turned(p) + place.
    """

    at: Indices
    heading: Array
    place: Array

    def advance(self, reference: ReferenceTrajectory) -> "ReferencePlacement":
        """One control step later; a cycle repeats from where it ended, and a motion that is over stays at its end."""
        at = self.at + 1
        over = at >= reference.steps
        if not reference.cyclic or not over.any():
            return ReferencePlacement(np.minimum(at, reference.steps), self.heading, self.place)
        heading, place = np.array(self.heading), np.array(self.place)
        place[over] += rotate_about_z(heading[over], np.array([[*reference.cycle_shift, 0.0]]))[..., :2]
        heading[over] += reference.cycle_turn
        at[over] -= reference.steps
        return ReferencePlacement(at, heading, place)


@dataclass(frozen=True, eq=False)
class RelativeKinematics:
    """Kinematic quantities of N copies after a control step, in the reference's frame.

    at: (N,) frames of the reference. qpos: (N, nq), qvel: (N, nv). com: (N, 3), com_velocity: (N, 3). effector_pos:
    (N, E, 3) metres from the root to the end effectors. rows: sensor rows, in the world; None for the reference itself.
    """

    reference: ReferenceTrajectory
    at: Indices
    qpos: Array
    qvel: Array
    com: Array
    com_velocity: Array
    effector_pos: Array
    rows: SensorRows | None

    @cached_property
    def pose_error(self) -> Array:
        """(N, nv) differences from the reference's poses, laid out as velocities are."""
        return self.reference.pose_space.difference(self.reference.qpos[self.at], self.qpos)

    @cached_property
    def velocity_error(self) -> Array:
        """(N, nv) differences from the reference's velocities."""
        return np.asarray(self.qvel - self.reference.qvel[self.at])

    @cached_property
    def heading_error(self) -> Array:
        """(N,) radians about Z from the reference's heading to the copies'."""
        return twist_angle(self.qpos[:, 3:7], self.reference.qpos[self.at, 3:7])

    @cached_property
    def effector_error(self) -> Array:
        """(N, E, 3) metres that end effectors differ by, relative to the root, in a frame with the copies' heading."""
        return rotate_about_z(-self.heading_error, self.effector_pos) - self.reference.effector_pos[self.at]

    @cached_property
    def deviations(self) -> Array:
        """(N, R) distances of bounded quantities from the reference, in ``bound_names``' order; NaN if diverged."""
        reference = self.reference
        com = np.abs(self.com - reference.com[self.at])
        rotations = np.sqrt(np.add.reduceat(self.pose_error**2, reference.rotation_starts, axis=1))
        effectors = np.sqrt(np.einsum("nex,nex->ne", self.effector_error, self.effector_error))
        return np.concatenate([com, rotations, effectors], axis=1)

    def observations(self) -> NDArray[np.float32]:
        """(N, O) observations of float32: the phase, and the copies' differences from the reference.

        In the second stride of a symmetric gait they are mirrored.
        """
        reference = self.reference
        level = rotate_about_z(
            -self.heading_error, np.stack([self.com - reference.com[self.at], self.com_velocity], axis=1)
        )
        level[:, 1] -= reference.com_velocity[self.at]
        upright = multiply(rotation_about_z(-self.heading_error), self.qpos[:, 3:7])
        tilt = to_rotation_vector(multiply(upright, _inverse(reference.qpos[self.at, 3:7])))
        tilt[:, 2] = 0.0  # what is left of the heading is rounding, which differs with the alignment of arrays
        joints = self.pose_error.shape[1] - 6
        effectors = self.effector_error.reshape(len(self.at), -1)
        parts = [
            (level.reshape(len(level), 6), (_PLACE_M,) * 3 + (_SPEED_M_S,) * 3),
            (tilt, (_ROTATION,) * 3),
            (_wrapped(self.heading_error)[:, None], (_ROTATION,)),
            (self.velocity_error[:, 3:6], (_ANGULAR_RATE,) * 3),
            (self.pose_error[:, 6:], (_ROTATION,) * joints),
            (self.velocity_error[:, 6:], (_ANGULAR_RATE,) * joints),
            (effectors, (_PLACE_M,) * effectors.shape[1]),
        ]
        observed = np.concatenate([part for part, _ in parts], axis=1)
        observed /= np.concatenate([ones for _, ones in parts])
        clip_finite(observed, _MAX_OBSERVATION)
        second = reference.is_mirrored(self.at)
        # The mirror wants scipy, which Blender's own Python need not have: a panel asks only for a first stride.
        if second.any() and reference.gait_mirror is not None:
            observed[second] = reference.gait_mirror.mirror_observations(observed[second])
        return np.concatenate([reference.phase_features[self.at], observed], axis=1, dtype=np.float32)


def clip_finite(values: NDArray[Any], most: float) -> NDArray[Any]:
    """The same array, changed in place: clipped to ``most`` on either side, and NaN becomes 0."""
    np.clip(values, -most, most, out=values)
    lost = np.isnan(values)
    if lost.any():
        values[lost] = 0.0
    return values


def measure_kinematics(
    reference: ReferenceTrajectory, world: World, states: Array, rows: SensorRows, placement: ReferencePlacement
) -> RelativeKinematics:
    """Kinematics of copies in states (N, state_size), with sensor rows of which the last is of these states."""
    return relative_kinematics(reference, *world.pose_of(states), rows, placement)


def relative_kinematics(
    reference: ReferenceTrajectory, qpos: Array, qvel: Array, rows: SensorRows, placement: ReferencePlacement
) -> RelativeKinematics:
    """The same of poses (N, nq) at velocities (N, nv)."""
    pos, quat = rows.link_pos[:, -1], rows.link_quat_wxyz[:, -1]
    com, velocity = rows.com[:, -1, 0], rows.com_velocity[:, -1, 0]
    effectors = reference.end_effectors.positions(pos, quat) - pos[:, :1]
    qpos = np.array(qpos)
    qpos[:, :2] -= placement.place
    com = np.concatenate([com[:, :2] - placement.place, com[:, 2:]], axis=1)
    if np.any(placement.heading):
        qpos, qvel = rotate_pose_about_z(-placement.heading, qpos, qvel)
        com, velocity, effectors = (
            rotate_about_z(-placement.heading, vectors) for vectors in (com, velocity, effectors)
        )
    return RelativeKinematics(reference, placement.at, qpos, np.asarray(qvel), com, velocity, effectors, rows)


def reference_kinematics(reference: ReferenceTrajectory, at: Indices) -> RelativeKinematics:
    """Kinematics of the reference itself in frames (N,)."""
    return RelativeKinematics(
        reference,
        at,
        reference.qpos[at],
        reference.qvel[at],
        reference.com[at],
        reference.com_velocity[at],
        reference.effector_pos[at],
        None,
    )


def observation_size(reference: ReferenceTrajectory) -> int:
    """O."""
    return int(reference_kinematics(reference, np.zeros(1, dtype=np.int64)).observations().shape[1])


def transform_to_world(
    reference: ReferenceTrajectory, qpos: Array, qvel: Array, placement: ReferencePlacement
) -> tuple[Array, Array]:
    """Poses (N, nq) and velocities (N, nv) from the reference's frame to the world."""
    qpos, qvel = (
        rotate_pose_about_z(placement.heading, qpos, qvel) if np.any(placement.heading) else (np.array(qpos), qvel)
    )
    qpos[:, :2] += placement.place
    return qpos, qvel


def place_at_origin(at: Indices) -> ReferencePlacement:
    """The placement of copies in frames (N,) whose references lie where the clip is."""
    return ReferencePlacement(np.array(at), np.zeros(len(at)), np.zeros((len(at), 2)))


def _inverse(quat_wxyz: Array) -> Array:
    return np.asarray(quat_wxyz * np.array([1.0, -1.0, -1.0, -1.0]))


def _wrapped(angle: Array) -> Array:
    return np.asarray((angle + np.pi) % (2.0 * np.pi) - np.pi)
