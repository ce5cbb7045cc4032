# SPDX-License-Identifier: GPL-3.0-or-later
"""A clip that is live: its plan and linear feedback, played step by step."""

from dataclasses import replace

import numpy as np

from ...body import BodyModel
from ...geometry.quaternions import Array, from_rotation_vector, multiply, rotate
from ...sim.engine import SensorRows
from ..sampling.plan_following import FollowerMoment, PlanFollower
from ..tracking.reference import CONTROL_FPS
from .commands import BadCommand, Steer
from .session import WantedPose


class TakeCharacter:
    """A ``LiveCharacter`` that follows the plan of a clip."""

    def __init__(self, follower: PlanFollower) -> None:
        self._follower = follower
        reference = follower.plan.reference
        self.body: BodyModel = reference.body
        self._steady = follower.plan.source.resample(CONTROL_FPS, end="extend")

    @property
    def moment(self) -> FollowerMoment:
        """All that it knows."""
        return self._follower.moment

    @moment.setter
    def moment(self, moment: FollowerMoment) -> None:
        self._follower.moment = moment

    @property
    def is_over(self) -> bool:
        """Whether the clip is."""
        return self._follower.is_over

    def begin_anew(self) -> None:
        """Be at the clip's beginning."""
        self._follower.begin_anew()

    def first_pose(self) -> tuple[Array, Array]:
        """(nq,) and (nv,) of the clip's first frame."""
        reference = self._follower.plan.reference
        return reference.qpos[0], reference.rates[0]

    def steer(self, command: Steer) -> None:
        """A clip goes where it goes."""
        raise BadCommand("A clip cannot be steered", "Push or drag it, or steer a directed library")

    @property
    def is_lost(self) -> bool:
        """Whether it has fallen, and lets go."""
        return self._follower.moment.lost

    def choose_targets(self, qpos: Array, qvel: Array, rows: SensorRows | None, strength: float) -> Array:
        """(nu,) servo targets for the next control step."""
        return self._follower.choose_targets(qpos, qvel, strength)

    def pass_step(self, qpos: Array, qvel: Array, link_pos: Array, link_quat_wxyz: Array) -> None:
        """A control step has led to this pose."""
        self._follower.pass_step(qpos, qvel, link_pos, link_quat_wxyz)

    def come_back(self) -> None:
        """It has its strength again: try anew."""
        self._follower.moment = replace(self._follower.moment, lost=False, astray=0)

    def wanted(self) -> WantedPose:
        """The clip's pose."""
        rows = self._follower.plan.reference.rows
        frame = min(self._follower.moment.frame, len(self._steady) - 1, rows.link_pos.shape[1] - 1)
        now = self._follower.moment
        turn = from_rotation_vector(np.array([0.0, 0.0, now.turn]))
        way = np.append(now.way, 0.0)
        local_pos, local_quat = np.array(self._steady.local_pos[frame]), np.array(self._steady.local_quat_wxyz[frame])
        roots = self._steady.skeleton.parents < 0
        local_pos[roots] = rotate(turn, local_pos[roots]) + way
        local_quat[roots] = multiply(turn, local_quat[roots])
        return WantedPose(
            rotate(turn, rows.link_pos[0, frame]) + way,
            multiply(turn, rows.link_quat_wxyz[0, frame]),
            rotate(turn, rows.com[0, frame, 0]) + way,
            local_pos,
            local_quat,
        )
