# SPDX-License-Identifier: GPL-3.0-or-later
"""A clip that is live: its plan and linear feedback, played step by step."""

from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np

from ...body import BodyModel
from ...geometry.quaternions import Array, from_rotation_vector, multiply, rotate
from ...motion import Clip
from ..live_character import LiveCast, SensedBody, Steering, WantedPose
from ..method import Run
from ..tracking.reference import CONTROL_FPS
from .method import SamplingSettings
from .plan_following import FollowerMoment, PlanFollower, prepare_followers


def open_clips(clip: Clip, settings: Any, run: Run, opened: ExitStack) -> LiveCast:
    """Everybody's clip with its plan; settings: those of a live session."""
    plain = SamplingSettings(quality=settings.quality, cycles=settings.cycles, retime=True)
    again = settings.at_end == "again"
    stage, followers = prepare_followers(clip, plain, run, opened, goes_round=again)
    characters = tuple(TakeCharacter(follower) for follower in followers)
    return LiveCast(stage, characters, tuple(follower.plan.source for follower in followers), again)


class TakeCharacter:
    """A ``LiveCharacter`` that follows the plan of a clip."""

    steered, own_strength = False, 1.0
    styles: tuple[str, ...] = ()

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

    def steer(self, steering: Steering) -> None:
        """A clip goes where it goes."""

    @property
    def is_lost(self) -> bool:
        """Whether it has fallen, and lets go."""
        return self._follower.moment.lost

    def choose_targets(self, sensed: SensedBody) -> Array:
        """(nu,) servo targets for the next control step."""
        return self._follower.choose_targets(sensed.qpos, sensed.qvel, sensed.strength)

    def pass_step(self, sensed: SensedBody) -> None:
        """A control step has led to this."""
        self._follower.pass_step(sensed.qpos, sensed.qvel, sensed.link_pos, sensed.link_quat_wxyz)

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
