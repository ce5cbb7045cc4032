# SPDX-License-Identifier: GPL-3.0-or-later
"""One character in several copies: its servos, and its words to and from Bullet, which are lists and xyzw."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pybullet

from ....geometry.quaternions import Array, multiply
from .layout import CharacterColumns
from .scene import ERP
from .servo import Servos

_TO_XYZW, _TO_WXYZ = [1, 2, 3, 0], [3, 0, 1, 2]

# A character of a copy: Bullet's number of its body, and the client it lives in.
Place = tuple[int, int]


class Actor:
    """A character of the stage wherever it plays. Joints are given to Bullet balls first, then hinges."""

    def __init__(self, columns: CharacterColumns, dt_s: float) -> None:
        self.columns, self.frames, self.dt_s = columns, columns.frames, dt_s
        self.servos = Servos(columns.kinematics, dt_s)
        self.balls, self.hinges = len(self.frames.balls), len(self.frames.hinges)
        self.joints = [int(link) - 1 for link in (*self.frames.balls, *self.frames.hinges)]
        # A ball's motor takes its rate as a small rotation to come, which Bullet multiplies with a factor of its own;
        # a hinge's takes the rate itself.
        self._position_gains = [1.0 / ERP] * self.balls + [0.0] * self.hinges
        self._velocity_gains = [1.0] * len(self.joints)
        self._no_rates: list[list[float]] = [[0.0] * 3] * self.balls
        self._no_angles: list[list[float]] = [[0.0]] * self.hinges

    def of(self, states: Array) -> tuple[Array, Array, Array]:
        """Native pose, velocity and load in states (n, S)."""
        columns = self.columns
        return states[:, columns.pose], states[:, columns.velocity], states[:, columns.load]

    def put(self, states: Array, places: Sequence[Place]) -> None:
        """Put the character into states (n, S)."""
        pose, velocity, _ = self.of(states)
        frames = self.frames
        pos, quat = pose[:, :3].tolist(), pose[:, 3:7][:, _TO_XYZW].tolist()
        linear, angular = velocity[:, :3].tolist(), velocity[:, 3:6].tolist()
        balls, hinges = pose[:, frames.ball_q][..., _TO_XYZW].tolist(), pose[:, frames.hinge_q, None].tolist()
        ball_rates, rates = velocity[:, frames.ball_v].tolist(), velocity[:, frames.hinge_v, None].tolist()
        for row, (body, client) in enumerate(places):
            pybullet.resetBasePositionAndOrientation(body, pos[row], quat[row], physicsClientId=client)
            pybullet.resetBaseVelocity(body, linear[row], angular[row], physicsClientId=client)
            if self.joints:
                pybullet.resetJointStatesMultiDof(
                    body, self.joints, balls[row] + hinges[row], ball_rates[row] + rates[row], physicsClientId=client
                )

    def command(self, states: Array, places: Sequence[Place]) -> None:
        """Tell the motors what the servos want in states (n, S)."""
        pose, velocity, load = self.of(states)
        frames, want = self.frames, self.servos.command(pose, velocity, load)
        half = 0.5 * self.dt_s * want.rates[:, frames.ball_u]
        aims = multiply(pose[:, frames.ball_q], _from_euler(np.cos(half), np.sin(half)))[..., _TO_XYZW].tolist()
        rates = want.rates[:, frames.hinge_u, None].tolist()
        ball_limits = np.repeat(want.limit[:, : self.balls, None], 3, axis=-1).tolist()
        limits = want.limit[:, self.balls :, None].tolist()
        ball_torques, torques = want.torque[:, frames.ball_u].tolist(), want.torque[:, frames.hinge_u, None].tolist()
        for row, (body, client) in enumerate(places):
            pybullet.setJointMotorControlMultiDofArray(
                body, self.joints, pybullet.POSITION_CONTROL, aims[row] + self._no_angles, self._no_rates + rates[row],
                ball_limits[row] + limits[row], self._position_gains, self._velocity_gains, physicsClientId=client,
            )  # fmt: skip
            pybullet.setJointMotorControlMultiDofArray(
                body, self.joints, pybullet.TORQUE_CONTROL, forces=ball_torques[row] + torques[row],
                physicsClientId=client,
            )  # fmt: skip

    def read(self, states: Array, places: Sequence[Place], with_root: bool) -> None:
        """Take over into states (n, S) what a physics step made of pose (the root's if asked), velocity and load."""
        columns, frames = self.columns, self.frames
        before = states[:, columns.velocity].copy()
        after = np.empty_like(before)
        pose = states[:, columns.pose]
        after[:, :6] = [
            linear + angular
            for linear, angular in (pybullet.getBaseVelocity(body, physicsClientId=client) for body, client in places)
        ]
        if with_root:
            roots = (pybullet.getBasePositionAndOrientation(body, physicsClientId=client) for body, client in places)
            root = np.array([pos + quat for pos, quat in roots])
            pose[:, :3], pose[:, 3:7] = root[:, :3], root[:, 3:][:, _TO_WXYZ]
        motor = np.zeros((len(places), frames.body.nu))
        if self.joints:
            told = [
                [q + v + torque for q, v, _, torque in pybullet.getJointStatesMultiDof(body, self.joints, client)]
                for body, client in places
            ]
            balls = np.array([row[: self.balls] for row in told]).reshape(len(places), self.balls, 10)
            hinges = np.array([row[self.balls :] for row in told]).reshape(len(places), self.hinges, 3)
            pose[:, frames.ball_q], pose[:, frames.hinge_q] = balls[..., _TO_WXYZ], hinges[..., 0]
            after[:, frames.ball_v], after[:, frames.hinge_v] = balls[..., 4:7], hinges[..., 1]
            motor[:, frames.ball_u], motor[:, frames.hinge_u] = balls[..., 7:], hinges[..., 2]
        states[:, columns.load] = self.servos.load(before, after, motor)
        states[:, columns.velocity] = after

    def hold(self, states: Array, places: Sequence[Place]) -> None:
        """Let Bullet's own motors hold the poses of states (n, S), with the servos' torque limits."""
        frames, pose = self.frames, states[:, self.columns.pose]
        limits: list[Any] = [[self._limit(link)] * 3 for link in frames.balls]
        limits += [[self._limit(link)] for link in frames.hinges]
        balls, hinges = pose[:, frames.ball_q][..., _TO_XYZW].tolist(), pose[:, frames.hinge_q, None].tolist()
        gains = [1.0 / ERP] * self.balls + [1.0] * self.hinges
        for row, (body, client) in enumerate(places):
            if self.joints:
                pybullet.setJointMotorControlMultiDofArray(
                    body, self.joints, pybullet.POSITION_CONTROL, balls[row] + hinges[row],
                    self._no_rates + self._no_angles, limits, gains, self._velocity_gains, physicsClientId=client,
                )  # fmt: skip

    def _limit(self, link: int) -> float:
        return min(self.frames.body.links[link].joint.torque_limit, 1e6)


def _from_euler(cosine: Array, sine: Array) -> Array:
    """(..., 4) turns about X, then the new Y, then the new Z, from cosines and sines (..., 3) of half the angles."""
    cx, cy, cz = np.moveaxis(cosine, -1, 0)
    sx, sy, sz = np.moveaxis(sine, -1, 0)
    return np.stack(
        [
            cx * cy * cz - sx * sy * sz,
            sx * cy * cz + cx * sy * sz,
            cx * sy * cz - sx * cy * sz,
            cx * cy * sz + sx * sy * cz,
        ],
        axis=-1,
    )
