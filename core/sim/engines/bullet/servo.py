# SPDX-License-Identifier: GPL-3.0-or-later
"""The servos: motors as velocity constraints with a torque limit that mean kp, kd and implicit damping.

A motor of Bullet is a hard constraint: it reaches its velocity with whatever torque that takes, up to a limit. A servo
is soft: within a physics step of h seconds its impulse is p = h kp e - g (v + dv), with g = h kd, e the error and dv
the change of velocity that comes of it. So we predict dv = (A + g)^-1 (h kp e - g v + load), where A is the joints'
inertia with the root floating, and the load is what gravity, contacts and all else gave in the step before (A dv - p,
as it turned out); give the joint the torque of that prediction; and let the motor hold v + dv with just the torque by
which the prediction could be wrong: from the servo's torque if the joint moves as predicted to its torque if it is
blocked. In the air this is implicit damping to the letter; on the ground a blocked foot gets kp e - kd v at once, and
nothing overshoots.

Each motor costs Bullet's solver a row for every degree of freedom, in every iteration, so one that could mend next to
nothing is left out.

Springs too stiff for the time step are taken implicitly as well (g = h kd + h² kp for the stiffest), and so is what
joints resist by themselves. Since Bullet takes gyroscopic torques explicitly, a limp arm that spins fast would gather
speed all the same: ``_GUARD`` keeps it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....geometry.quaternions import Array, conjugate, from_rotation_vector, multiply, to_rotation_vector
from ...joint_damping import passive_damping
from .frames import BodyFrames
from .kinematics import Kinematics

# Least damping of a ball in N·m·s/rad: this times the difference of its inertias (across minus along) times by how much
# it turns faster than the second number, in rad/s.
_GUARD, _GUARD_FROM = 0.3, 5.0
# What a ball's limit can bear, N·m: more than any servo.
_STOP_NM = 1e4
# Share of a ball's excess over its limit that is taken back in a physics step, Bullet's own for hinges.
_STOP_ERP = 0.2
# Bullet measures the turn of a step as Euler angles, which are singular at a quarter turn.
_FARTHEST_TURN = 1.0
# A motor is worth its row if it may mend more than what the spring gives at this many radians. A larger number is
# faster, but a standing character has more jitter: joint rates differ from step to step by 0.12 rad/s with all motors,
# by 0.15 with this, by 0.25 with 0.015 (median of eight poses).
_WORTH_RAD = 0.003
# A limit of infinity would make NaN of zero muscle.
_STRONGEST_NM = 1e9


@dataclass(frozen=True, eq=False)
class MotorCommand:
    """Motor commands of N copies for one physics step; joints are balls, then hinges.

    torque: (N, nu) N·m. rates: (N, nu) rad/s to be held with up to limit: (N, joints) N·m.
    """

    torque: Array
    rates: Array
    limit: Array


class Servos:
    """The servos of one character in N copies. Between calls it remembers what it was last asked."""

    def __init__(self, kinematics: Kinematics, dt_s: float) -> None:
        self._kinematics, self._dt_s = kinematics, dt_s
        self._frames: BodyFrames = kinematics.frames
        body = self._frames.body
        kp, kd, strength = (
            body.per_dof(name)[self._frames.dofs] if body.nu else np.zeros(0) for name in ("kp", "kd", "torque_limit")
        )
        # Without torque there is no servo. All three are for a physics step: impulses, not torques.
        self._most: Array = dt_s * np.minimum(strength, _STRONGEST_NM)
        self._spring: Array = dt_s * np.where(strength > 0.0, kp, 0.0)
        self._damping: Array = dt_s * np.where(strength > 0.0, kd, 0.0)
        tissue = [np.full(link.joint.dofs, dt_s * passive_damping(link)) for link in body.links[1:]]
        self._tissue: Array = np.concatenate([np.zeros(0), *tissue])[self._frames.dofs]
        angles = np.array([body.links[index].joint.max_angle for index in self._frames.balls])
        self._stops = np.flatnonzero(angles < np.pi)
        self._max_angle: Array = angles[self._stops]

    def set_targets(self, targets: Array, muscle: Array) -> None:
        """Set the targets (N, nu), in Bullet's frames, and the factor (N,) on gains and torque limits."""
        self._muscle = muscle[:, None]
        self._target_quat = from_rotation_vector(self._frames.of_balls(targets))
        self._target_angle = self._frames.of_hinges(targets)

    def update_inertia(self, native_q: Array) -> None:
        """Take the joints' inertia from poses (N, nq). It holds for a few physics steps."""
        mass = self._kinematics.mass_matrix(self._kinematics.parts(native_q))
        across = mass[:, :6, 6:]
        self._inertia = mass[:, 6:, 6:] - np.swapaxes(across, -1, -2) @ np.linalg.solve(mass[:, :6, :6], across)
        own = self._frames.of_balls(np.diagonal(self._inertia, axis1=-2, axis2=-1))
        self._slender = own.max(axis=-1) - own.min(axis=-1)
        damping, spring = self._muscle * self._damping, self._muscle * self._dt_s * self._spring
        self._answer = np.linalg.inv(_plus(self._inertia, damping + self._tissue))
        # A spring rings in a time step if this passes 4; from 1 on its share that is implicit grows.
        stiffness = (np.abs(self._answer) * spring[:, None]).sum(axis=-1)
        share = np.maximum(0.0, 1.0 - 1.0 / np.maximum(stiffness, 1e-9))
        self._gain = damping + share * spring
        stiff = np.flatnonzero(share.any(axis=-1))
        if len(stiff):
            self._answer[stiff] = np.linalg.inv(_plus(self._inertia[stiff], self._gain[stiff] + self._tissue))

    def compute_command(self, native_q: Array, rates: Array, load: Array) -> MotorCommand:
        """Motor commands at poses (N, nq), joint rates (N, nu) and loads (N, nu) in N·m·s."""
        gain, most = self._gain, self._muscle * self._most
        quat = self._frames.quats(native_q)
        servo = self._muscle * self._spring * self._error(quat, native_q) - gain * rates
        tissue = np.broadcast_to(self._tissue, rates.shape)
        change = (self._answer @ (servo - tissue * rates + load)[..., None])[..., 0]
        held = self._within(servo - gain * change, most)
        weak = held != servo - gain * change
        guard = self._guard(rates)
        odd: NDArray[np.int64] = np.flatnonzero((weak | (guard > gain + tissue)).any(axis=-1))
        if len(odd):
            # What is at its limit gives a torque that no longer answers to its rate, and damps no more.
            servo = np.where(weak, held, servo)
            gain = np.where(weak, 0.0, gain)
            tissue = np.maximum(tissue, guard - gain)
            push = (servo - tissue * rates + load)[odd]
            change[odd] = np.linalg.solve(_plus(self._inertia[odd], (gain + tissue)[odd]), push[..., None])[..., 0]
        blocked = self._within(servo, most) - tissue * rates
        freely = self._within(servo - gain * change, most) - tissue * (rates + change)
        limit = self._share_out(blocked, freely, most + np.abs(tissue * rates), weak)
        turn = _FARTHEST_TURN / self._dt_s
        goal = np.clip(rates + change, -turn, turn)
        if len(self._stops):
            self._stop(quat, goal, limit)
        self._silent = self._per_dof(limit == 0.0)
        return MotorCommand(self._impulse / self._dt_s, goal, limit)

    def load(self, change: Array, motor_torque: Array) -> Array:
        """(N, nu) what all else gave in a step that changed the rates by (N, nu), with the motors' torque (N, nu)."""
        # Of a motor that was left out Bullet tells what it gave when it last had a row.
        motor = np.where(self._silent, 0.0, self._dt_s * motor_torque)
        return (self._inertia @ change[..., None])[..., 0] - self._impulse - motor

    def _error(self, quat: Array, native_q: Array) -> Array:
        """(N, nu) radians from pose to target: a ball's shortest way, in its own frame."""
        error = np.empty((len(quat), len(self._most)))
        self._frames.of_balls(error)[:] = to_rotation_vector(multiply(conjugate(quat), self._target_quat))
        self._frames.of_hinges(error)[:] = self._target_angle - self._frames.angles(native_q)
        return error

    def _guard(self, rates: Array) -> Array:
        """(N, nu) the least damping of balls for a physics step, in N·m·s²."""
        guard = np.zeros_like(rates)
        balls = self._frames.of_balls(rates)
        excess = np.maximum(np.sqrt((balls * balls).sum(axis=-1)) - _GUARD_FROM, 0.0)
        self._frames.of_balls(guard)[:] = (self._dt_s * _GUARD * self._slender * excess)[..., None]
        return guard

    def _within(self, impulse: Array, most: Array) -> Array:
        """Hold impulses (N, nu) within the limits: a hinge's by size, a ball's by length."""
        balls = self._frames.of_balls(impulse)
        held = np.clip(impulse, -most, most)
        length = np.sqrt((balls * balls).sum(axis=-1, keepdims=True))
        share = np.minimum(1.0, self._frames.of_balls(most) / np.maximum(length, 1e-300))
        self._frames.of_balls(held)[:] = share * balls
        return held

    def _share_out(self, blocked: Array, freely: Array, most: Array, weak: NDArray[np.bool_]) -> Array:
        """Split impulses between torque, which is remembered, and motors: returns (N, joints) what these may add."""
        doubt = np.abs(blocked - freely)
        # Where a torque limit bites, the prediction for all other joints is off as well.
        wide = np.maximum(np.abs(blocked), np.abs(freely))
        doubt = np.where(weak.any(axis=-1, keepdims=True), np.maximum(doubt, wide), doubt)
        # A ball's motor has one limit for all three axes.
        balls = self._frames.of_balls(doubt)
        balls[:] = balls.max(axis=-1, keepdims=True)
        doubt = np.minimum(doubt, most)
        spare = _WORTH_RAD * self._muscle * self._spring - doubt
        balls = self._frames.of_balls(spare)
        balls[:] = balls.min(axis=-1, keepdims=True)
        # Without a spring there is nothing to compare with, and the motor stays.
        idle = (spare >= 0.0) & (self._spring > 0.0)
        self._impulse = np.where(idle, freely, np.clip(freely, doubt - most, most - doubt))
        doubt = np.where(idle, 0.0, doubt)
        own = self._frames.of_balls(doubt)[..., 0], self._frames.of_hinges(doubt)
        return np.concatenate(own, axis=-1) / self._dt_s

    def _per_dof(self, of_joints: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """(N, nu) for every degree of freedom what (N, joints) says of its joint."""
        count = len(self._frames.balls)
        return np.concatenate([np.repeat(of_joints[:, :count], 3, axis=-1), of_joints[:, count:]], axis=-1)

    def _stop(self, quat: Array, rates: Array, limit: Array) -> None:
        """Keep balls from turning past their limits, by the motors: changes ``rates`` and ``limit``."""
        balls = self._frames.of_balls(rates)
        turned = to_rotation_vector(quat[:, self._stops])
        angle = np.linalg.norm(turned, axis=-1)
        outward = turned / np.maximum(angle, 1e-9)[..., None]
        room = (self._max_angle - angle) / self._dt_s
        excess = (balls[:, self._stops] * outward).sum(axis=-1) - np.where(room > 0.0, room, _STOP_ERP * room)
        over = excess > 0.0
        balls[:, self._stops] -= np.where(over, excess, 0.0)[..., None] * outward
        limit[:, self._stops] = np.where(over, _STOP_NM, limit[:, self._stops])


def _plus(matrix: Array, diagonal: Array) -> Array:
    """Matrices (N, M, M) with (N, M) added to their diagonals."""
    return matrix + diagonal[..., None] * np.eye(diagonal.shape[-1])
