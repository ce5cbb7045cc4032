# SPDX-License-Identifier: GPL-3.0-or-later
"""A clip that is live: its plan and linear feedback, played step by step; who lies gets up where it is to."""

from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...body import BodyModel
from ...geometry.quaternions import Array, from_rotation_vector, multiply, rotate
from ...motion import Clip
from ...sim.surface import Surface, build_surface
from ..live_character import LiveCast, SensedBody, Steering, WantedPose, fade_help
from ..method import Run
from ..tracking.reference import CONTROL_FPS
from .live_rising import Rising, RisingPlanner
from .method import SamplingSettings
from .plan_following import FollowerMoment, PlanFollower, prepare_followers

_DOWN = 0.75  # of the height that its root should have: lower, and it has to get up
# Who is to get up lies still before, or waits no longer; with so much of its strength.
_STILL_M_S, _PATIENCE, _SETTLING = 0.4, 60, 0.15
_HELPED = 60  # frames for which it is helped after it is up
_LONG = 240  # frames after which a fall has nothing to do with its having come back


def open_clips(clip: Clip, settings: Any, run: Run, opened: ExitStack) -> LiveCast:
    """Everybody's clip with its plan; settings: those of a live session."""
    plain = SamplingSettings(quality=settings.quality, cycles=settings.cycles, retime=True)
    again = settings.at_end == "again"
    stage, followers = prepare_followers(clip, plain, run, opened, goes_round=again)
    surface = build_surface(stage)
    characters = tuple(TakeCharacter(follower, surface) for follower in followers)
    return LiveCast(stage, characters, tuple(follower.plan.source for follower in followers), again)


@dataclass(frozen=True, eq=False)
class TakeMoment:
    """Where somebody is that does a clip.

    settles: frames for which it has lain and is to get up; 0 for who need not. rising: the way up, at its frame
    ``step``. help: frames for which a hand helps it yet. tries: frames since its strength came back, in which it gets
    up by itself if it falls.
    """

    follower: FollowerMoment
    settles: int = 0
    rising: Rising | None = None
    step: int = 0
    help: int = 0
    tries: int = _LONG


class TakeCharacter:
    """A ``LiveCharacter`` that follows the plan of a clip, and gets up where its strength comes back to it."""

    steered = False
    styles: tuple[str, ...] = ()

    def __init__(self, follower: PlanFollower, surface: Surface | None = None) -> None:
        self._follower = follower
        reference = follower.plan.reference
        self.body: BodyModel = reference.body
        self._steady = follower.plan.source.resample(CONTROL_FPS, end="extend")
        self._planner = RisingPlanner(reference, surface, follower.again)
        self._own = TakeMoment(follower.moment)

    @property
    def moment(self) -> TakeMoment:
        """All that it knows."""
        return replace(self._own, follower=self._follower.moment)

    @moment.setter
    def moment(self, moment: TakeMoment) -> None:
        self._own, self._follower.moment = moment, moment.follower

    @property
    def is_over(self) -> bool:
        """Whether the clip is."""
        return self._follower.is_over and self._own.rising is None and not self._own.settles

    @property
    def own_strength(self) -> float:
        """Little of it while it settles."""
        return _SETTLING if self._own.settles else 1.0

    @property
    def helped(self) -> float:
        """All the way up, and less and less afterwards."""
        return 1.0 if self._own.rising is not None else fade_help(self._own.help)

    def begin_anew(self) -> None:
        """Be at the clip's beginning."""
        self._follower.begin_anew()
        self._own = TakeMoment(self._follower.moment)

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
        own, reference = self._own, self._follower.plan.reference
        if own.rising is not None:
            return np.asarray(own.rising.targets[min(own.step + 1, len(own.rising) - 1)])
        if own.settles:
            return np.asarray(reference.targets[min(self._follower.moment.frame, len(reference.targets) - 1)])
        return self._follower.choose_targets(sensed.qpos, sensed.qvel, sensed.strength)

    def pass_step(self, sensed: SensedBody) -> None:
        """A control step has led to this."""
        own = self._own
        if own.settles:
            self._settle(own, sensed)
        elif own.rising is not None:
            self._rise(own, own.rising, sensed)
        else:
            self._follower.pass_step(sensed.qpos, sensed.qvel, sensed.link_pos, sensed.link_quat_wxyz)
            self._own = replace(own, help=max(own.help - 1, 0), tries=min(own.tries + 1, _LONG))
            if self._follower.moment.lost and own.tries < _LONG:
                self._get_up()

    def _settle(self, own: TakeMoment, sensed: SensedBody) -> None:
        """Lie, until it is still and has its strength; then find the way up."""
        own = self._own = replace(own, settles=own.settles + 1)
        still = float(np.linalg.norm(sensed.qvel[:3])) < _STILL_M_S
        if sensed.strength > 0.9 and (still or own.settles > _PATIENCE):
            frame = min(self._follower.moment.frame, self._follower.frames - 1)
            self._own = replace(own, settles=0, rising=self._planner.plan(sensed.qpos, frame), step=0)

    def _rise(self, own: TakeMoment, rising: Rising, sensed: SensedBody) -> None:
        """Be a frame further on the way up; go on with the clip where that ends, lie again without strength."""
        follower = self._follower
        if sensed.strength < 0.5:
            follower.moment = replace(follower.moment, lost=True)
            self._own = replace(own, rising=None, tries=_LONG)
        elif own.step + 2 < len(rising):
            self._own = replace(own, step=own.step + 1)
        else:
            follower.rejoin(rising.rejoins, rising.turn, rising.way)
            self._own = replace(own, rising=None, help=_HELPED, tries=0)

    def come_back(self, sensed: SensedBody) -> None:
        """It has its strength again: go on, or get up from where it lies."""
        if self._own.rising is not None or self._own.settles:
            return
        self._own = replace(self._own, tries=0)
        now, reference = self._follower.moment, self._follower.plan.reference
        height = float(reference.qpos[min(now.frame, len(reference.qpos) - 1), 2])
        if now.lost or float(sensed.qpos[2]) < _DOWN * height:
            self._get_up()

    def _get_up(self) -> None:
        self._follower.moment = replace(self._follower.moment, lost=False, astray=0)
        self._own = replace(self._own, settles=1, help=0)

    def wanted(self) -> WantedPose:
        """The clip's pose, or that of the way up."""
        rising, step = self._own.rising, self._own.step
        if rising is not None:
            local = self._local_pose(rising.rejoins, rising.turn, np.append(rising.way, 0.0))
            return WantedPose(rising.pos[step], rising.quat_wxyz[step], rising.com[step], *local)
        rows = self._follower.plan.reference.rows
        now = self._follower.moment
        frame, way = min(now.frame, rows.link_pos.shape[1] - 1), np.append(now.way, 0.0)
        turn = from_rotation_vector(np.array([0.0, 0.0, now.turn]))
        return WantedPose(
            rotate(turn, rows.link_pos[0, frame]) + way,
            multiply(turn, rows.link_quat_wxyz[0, frame]),
            rotate(turn, rows.com[0, frame, 0]) + way,
            *self._local_pose(frame, now.turn, way),
        )

    def _local_pose(self, frame: int, angle: float, way: Array) -> tuple[Array, Array]:
        """(B, 3) and (B, 4) the clip's pose in a frame, turned about Z and moved."""
        frame, turn = min(frame, len(self._steady) - 1), from_rotation_vector(np.array([0.0, 0.0, angle]))
        pos, quat = np.array(self._steady.local_pos[frame]), np.array(self._steady.local_quat_wxyz[frame])
        roots = self._steady.skeleton.parents < 0
        pos[roots], quat[roots] = rotate(turn, pos[roots]) + way, multiply(turn, quat[roots])
        return pos, quat
