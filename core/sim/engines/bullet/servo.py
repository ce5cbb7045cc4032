# SPDX-License-Identifier: GPL-3.0-or-later
"""The servos: motors as velocity constraints with a torque limit that mean kp, kd and implicit damping.

A motor of Bullet is a hard constraint: it reaches its velocity with whatever torque that takes, up to a limit. A servo
is soft: within a physics step of h seconds its impulse is p = h kp e - g (v + dv), with g = h kd + h² kp, e the error
and dv the change of velocity that comes of it (implicit Euler). So we predict dv = (M + g)^-1 (h kp e - g v + load),
where M is the mass matrix and the load is what gravity, contacts and all else gave in the step before; give the joint
the torque of that prediction; and let the motor hold v + dv with just the torque by which the prediction could be
wrong, from the servo's torque if the joint moves as predicted to its torque if it is blocked. In the air this is
implicit Euler to the letter; on the ground a blocked foot gets kp e - kd v at once, and nothing overshoots.
"""

from dataclasses import dataclass

import numpy as np

from ....geometry.quaternions import Array, conjugate, from_rotation_vector, multiply, to_rotation_vector
from .frames import BodyFrames
from .kinematics import Kinematics

# What a ball's limit can bear, N·m: more than any servo.
_STOP_NM = 1e4
# Share of a ball's excess over its limit that is taken back in a physics step, Bullet's own for hinges.
_STOP_ERP = 0.2
# Bullet measures small rotations as Euler angles, which turn singular at a quarter turn a step.
_FASTEST_TURN = 1.0
# A limit of infinity would make NaN of zero muscle.
_STRONGEST_NM = 1e9


@dataclass(frozen=True, eq=False)
class Command:
    """What the motors of N copies are told for one physics step; joints are balls, then hinges.

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
        strength = np.minimum(body.per_dof("torque_limit"), _STRONGEST_NM) if body.nu else np.zeros(0)
        self._strength: Array = strength
        # Without torque there is no servo.
        alive = strength > 0.0
        self._kp: Array = np.where(alive, body.per_dof("kp"), 0.0) if body.nu else np.zeros(0)
        kd = np.where(alive, body.per_dof("kd"), 0.0) if body.nu else np.zeros(0)
        self._gain: Array = dt_s * kd + dt_s**2 * self._kp
        angles = np.array([body.links[index].joint.max_angle for index in self._frames.balls])
        self._stops = np.flatnonzero(angles < np.pi)
        self._max_angle: Array = angles[self._stops]

    def aim(self, targets: Array, muscle: Array) -> None:
        """Set the targets (N, nu), in Bullet's frames, and the factor (N,) on gains and torque limits."""
        frames = self._frames
        self._muscle = muscle[:, None]
        self._target_quat = from_rotation_vector(targets[:, frames.ball_u])
        self._target_angle = targets[:, frames.hinge_u]

    def weigh(self, native_q: Array) -> None:
        """Take the mass matrix from poses (N, nq). It holds for a few physics steps."""
        self._mass = self._kinematics.mass_matrix(self._kinematics.parts(native_q))
        damped = self._mass.copy()
        joints = np.arange(6, damped.shape[-1])
        damped[:, joints, joints] += self._muscle * self._gain
        self._answer = np.linalg.inv(damped)

    def command(self, native_q: Array, native_v: Array, load: Array) -> Command:
        """What to tell the motors at poses (N, nq), velocities (N, nv) and loads (N, nv) in N·s and N·m·s."""
        frames, dt_s = self._frames, self._dt_s
        gain, most = self._muscle * self._gain, dt_s * self._muscle * self._strength
        error = np.empty((len(native_q), len(self._gain)))
        quat = native_q[:, frames.ball_q]
        error[:, frames.ball_u] = to_rotation_vector(multiply(conjugate(quat), self._target_quat))
        error[:, frames.hinge_u] = self._target_angle - native_q[:, frames.hinge_q]
        blocked = dt_s * self._muscle * self._kp * error - gain * native_v[:, 6:]
        pushed = load.copy()
        pushed[:, 6:] += blocked
        change = (self._answer @ pushed[..., None])[:, 6:, 0]
        freely = blocked - gain * change
        weak = (np.abs(freely) > most).any(axis=-1, keepdims=True)
        blocked, freely = self._within(blocked, most), self._within(freely, most)
        doubt = np.abs(blocked - freely)
        # Where a torque limit bites, the prediction for all other joints is off as well.
        doubt = np.where(weak, np.maximum(doubt, np.maximum(np.abs(blocked), np.abs(freely))), doubt)
        doubt[:, frames.ball_u] = doubt[:, frames.ball_u].max(axis=-1, keepdims=True)
        low, high = np.maximum(freely - doubt, -most), np.minimum(freely + doubt, most)
        self._impulse = 0.5 * (low + high)
        width = 0.5 * (high - low)
        limit = np.concatenate([width[:, frames.ball_u].max(axis=-1), width[:, frames.hinge_u]], axis=-1) / dt_s
        rates = np.clip(native_v[:, 6:] + change, -_FASTEST_TURN / dt_s, _FASTEST_TURN / dt_s)
        if len(self._stops):
            self._stop(quat, rates, limit)
        return Command(self._impulse / dt_s, rates, limit)

    def load(self, before: Array, after: Array, motor_torque: Array) -> Array:
        """(N, nv) what all else gave in a step, from velocities before and after and the motors' torque (N, nu)."""
        load = (self._mass @ (after - before)[..., None])[..., 0]
        load[:, 6:] -= self._impulse + self._dt_s * motor_torque
        return load

    def _within(self, impulse: Array, most: Array) -> Array:
        """Hold impulses (N, nu) within the limits: a hinge's by size, a ball's by length."""
        balls = impulse[:, self._frames.ball_u]
        held = np.clip(impulse, -most, most)
        length = np.linalg.norm(balls, axis=-1, keepdims=True)
        share = np.minimum(1.0, most[:, self._frames.ball_u] / np.maximum(length, 1e-300))
        held[:, self._frames.ball_u] = share * balls
        return held

    def _stop(self, quat: Array, rates: Array, limit: Array) -> None:
        """Keep balls from turning past their limits, by the motors: changes ``rates`` and ``limit``."""
        dofs = self._frames.ball_u[self._stops]
        turned = to_rotation_vector(quat[:, self._stops])
        angle = np.linalg.norm(turned, axis=-1)
        outward = turned / np.maximum(angle, 1e-9)[..., None]
        room = (self._max_angle - angle) / self._dt_s
        excess = (rates[:, dofs] * outward).sum(axis=-1) - np.where(room > 0.0, room, _STOP_ERP * room)
        over = excess > 0.0
        rates[:, dofs] -= np.where(over, excess, 0.0)[..., None] * outward
        limit[:, self._stops] = np.where(over, _STOP_NM, limit[:, self._stops])
