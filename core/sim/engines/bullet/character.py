# SPDX-License-Identifier: GPL-3.0-or-later
"""One character in many copies: its servos, and conversion to and from Bullet's format, which is lists and xyzw.

What can be done for all copies at once is done in arrays (``to_bullet``, ``compute_orders``, ``store_states``); what is
left to do copy by copy (``reset``, ``send_orders``, ``read_state``) is nothing but calls of Bullet.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import pybullet

from ....geometry.quaternions import Array, multiply
from .scene import ERP
from .servo import Servos
from .state_layout import CharacterColumns

_TO_XYZW, _TO_WXYZ = [1, 2, 3, 0], [3, 0, 1, 2]
# Position, wxyz, velocity, angular velocity, and the same with Bullet's xyzw.
_ROOT_TO_BULLET, _ROOT_FROM_BULLET = [0, 1, 2, 4, 5, 6, 3, *range(7, 13)], [0, 1, 2, 6, 3, 4, 5, *range(7, 13)]
# What Bullet returns of a joint: position, rate, six reaction forces that are not asked for, torque of the motor.
_BALL_NUMBERS, _HINGE_NUMBERS = 4 + 3 + 6 + 3, 1 + 1 + 6 + 1


BulletState = tuple[Sequence[float], Sequence[Any]]  # the root's row, and what Bullet returns of each joint
Nested = list[list[list[float]]]


@dataclass(frozen=True, eq=False)
class MotorOrders:
    """Motor commands of n copies of a character: a nested list for each argument of Bullet's call."""

    ball_aims: Nested
    rates: Nested
    limits: Nested
    ball_torques: Nested
    torques: Nested


class BulletCharacter:
    """A character of the stage, in as many copies as there are rows. Joints are passed to Bullet balls first."""

    def __init__(self, columns: CharacterColumns, dt_s: float) -> None:
        self.columns, self.dt_s = columns, dt_s
        self.servos = Servos(columns.kinematics, dt_s)
        frames = columns.frames
        self._balls, self._hinges = len(frames.balls), len(frames.hinges)
        self._joints = [int(link) - 1 for link in (*frames.balls, *frames.hinges)]
        # A ball's motor takes its rate as a small rotation to come, which Bullet multiplies with a factor of its own;
        # a hinge's takes the rate itself.
        self._position_gains = [1.0 / ERP] * self._balls + [0.0] * self._hinges
        self._velocity_gains = [1.0] * len(self._joints)
        self._no_rates: list[list[float]] = [[0.0] * 3] * self._balls
        self._no_angles: list[list[float]] = [[0.0]] * self._hinges

    def set_targets(self, targets: Array, muscle: Array) -> None:
        """Set servo targets (n, nu of the stage) and the factor on gains and torque limits (n,)."""
        self.servos.set_targets(self.columns.frames.targets_to_native(targets[:, self.columns.u]), muscle)

    def update_inertia(self, states: Array) -> None:
        """Let the servos take the joints' inertia from states (n, S)."""
        self.servos.update_inertia(states[:, self.columns.pose])

    def to_bullet(self, states: Array) -> list[BulletState]:
        """The character in states (n, S), in the format in which Bullet returns it."""
        frames, count = self.columns.frames, len(states)
        pose, velocity = states[:, self.columns.pose], states[:, self.columns.velocity]
        roots = roots_to_bullet(np.concatenate([pose[:, :7], velocity[:, :6]], axis=-1))
        quats, turning = frames.quats(pose)[..., _TO_XYZW].tolist(), frames.of_balls(velocity[:, 6:]).tolist()
        angles, rates = frames.angles(pose)[..., None].tolist(), frames.of_hinges(velocity[:, 6:])[..., None].tolist()
        joints = [
            [*zip(quats[row], turning[row], strict=True), *zip(angles[row], rates[row], strict=True)]
            for row in range(count)
        ]
        return list(zip(roots, joints, strict=True))

    def compute_orders(self, states: Array) -> MotorOrders:
        """Motor commands of the servos in states (n, S)."""
        columns, frames = self.columns, self.columns.frames
        pose = states[:, columns.pose]
        command = self.servos.compute_command(pose, states[:, columns.rates], states[:, columns.load])
        half = 0.5 * self.dt_s * frames.of_balls(command.rates)
        arrays = (
            multiply(frames.quats(pose), _from_euler(np.cos(half), np.sin(half)))[..., _TO_XYZW],
            frames.of_hinges(command.rates)[..., None],
            command.limit[..., None],
            frames.of_balls(command.torque),
            frames.of_hinges(command.torque)[..., None],
        )
        return MotorOrders(*(array.tolist() for array in arrays))

    def reset(self, state: BulletState, body: int, client: int) -> None:
        """Set the pose and velocity of a copy."""
        root, joints = state
        put_root(root, body, client)
        if joints:
            positions, rates = [joint[0] for joint in joints], [joint[1] for joint in joints]
            pybullet.resetJointStatesMultiDof(body, self._joints, positions, rates, physicsClientId=client)

    def send_orders(self, orders: MotorOrders, row: int, body: int, client: int) -> None:
        """Set the motors of a copy."""
        if self._joints:
            control = pybullet.setJointMotorControlMultiDofArray
            control(
                body, self._joints, pybullet.POSITION_CONTROL, orders.ball_aims[row] + self._no_angles,
                self._no_rates + orders.rates[row], orders.limits[row], self._position_gains, self._velocity_gains,
                physicsClientId=client,
            )  # fmt: skip
            torques = orders.ball_torques[row] + orders.torques[row]
            control(body, self._joints, pybullet.TORQUE_CONTROL, forces=torques, physicsClientId=client)

    def read_state(self, body: int, client: int) -> BulletState:
        """The state of a copy after a physics step."""
        root = read_root(body, client)
        return root, pybullet.getJointStatesMultiDof(body, self._joints, client) if self._joints else ()

    def store_states(self, states: Array, copies: Sequence[BulletState]) -> None:
        """Take over into states (n, S) what Bullet returned of every copy, and what follows for the servos' load."""
        columns, frames, count = self.columns, self.columns.frames, len(copies)
        root = roots_from_bullet([root for root, _ in copies])
        # Copies, joints, and the numbers of each joint, unrolled without a loop.
        numbers = np.fromiter(
            chain.from_iterable(chain.from_iterable(chain.from_iterable(j for _, j in copies))), float
        )
        split = self._balls * _BALL_NUMBERS
        numbers = numbers.reshape(count, split + self._hinges * _HINGE_NUMBERS)
        balls = numbers[:, :split].reshape(count, self._balls, _BALL_NUMBERS)
        hinges = numbers[:, split:].reshape(count, self._hinges, _HINGE_NUMBERS)
        rates, motor = np.empty((2, count, frames.body.nu))
        frames.of_balls(rates)[:], frames.of_hinges(rates)[:] = balls[..., 4:7], hinges[..., 1]
        frames.of_balls(motor)[:], frames.of_hinges(motor)[:] = balls[..., 13:], hinges[..., 8]
        states[:, columns.load] = self.servos.load(rates - states[:, columns.rates], motor)
        pose, velocity = states[:, columns.pose], states[:, columns.velocity]
        pose[:, :7], velocity[:, :6], velocity[:, 6:] = root[:, :7], root[:, 7:], rates
        frames.quats(pose)[:], frames.angles(pose)[:] = balls[..., _TO_WXYZ], hinges[..., 0]

    def hold(self, state: BulletState, body: int, client: int) -> None:
        """Let Bullet's own motors hold the pose of a copy, with the servos' torque limits."""
        if self._joints:
            links = self.columns.frames.body.links
            limits = [[min(links[joint + 1].joint.torque_limit, 1e6)] for joint in self._joints]
            pybullet.setJointMotorControlMultiDofArray(
                body, self._joints, pybullet.POSITION_CONTROL, [joint[0] for joint in state[1]],
                self._no_rates + self._no_angles, limits, [1.0 / ERP] * self._balls + [1.0] * self._hinges,
                self._velocity_gains, physicsClientId=client,
            )  # fmt: skip


def put_root(row: Sequence[float], body: int, client: int) -> None:
    """Place a body: position, xyzw, velocity and angular velocity (13) in Bullet's frame."""
    pybullet.resetBasePositionAndOrientation(body, row[:3], row[3:7], client)
    pybullet.resetBaseVelocity(body, row[7:10], row[10:], client)


def read_root(body: int, client: int) -> tuple[float, ...]:
    """Where a body is; the inverse of ``put_root``."""
    pos, quat = pybullet.getBasePositionAndOrientation(body, client)
    velocity, spin = pybullet.getBaseVelocity(body, client)
    root: tuple[float, ...] = pos + quat + velocity + spin
    return root


def roots_to_bullet(rows: Array) -> list[Any]:
    """Native rows of bodies (..., 13) as ``put_root`` takes them."""
    converted: list[Any] = rows[..., _ROOT_TO_BULLET].tolist()
    return converted


def roots_from_bullet(rows: Any) -> Array:
    """The inverse of ``roots_to_bullet``."""
    return np.array(rows)[..., _ROOT_FROM_BULLET]


def _from_euler(cosine: Array, sine: Array) -> Array:
    """(..., 4) turns about Z, then the new Y, then the new X, from cosines and sines (..., 3) of half the angles.

    This is how Bullet takes a small rotation apart again, for a ball's motor.
    """
    cx, cy, cz = cosine[..., 0], cosine[..., 1], cosine[..., 2]
    sx, sy, sz = sine[..., 0], sine[..., 1], sine[..., 2]
    return np.stack(
        [
            cx * cy * cz + sx * sy * sz,
            sx * cy * cz - cx * sy * sz,
            cx * sy * cz + sx * cy * sz,
            cx * cy * sz - sx * sy * cz,
        ],
        axis=-1,
    )
