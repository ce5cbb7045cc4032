# SPDX-License-Identifier: GPL-3.0-or-later
"""A controller that was learned within bounds and is live: it does its motion over and over, whatever is done to it."""

from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...body.poses import link_transforms, pose_of_clip
from ...geometry.quaternions import Array
from ...motion import Clip
from ...motion.falling import character_height, height_error
from ..live_character import (
    HELP_FRAMES,
    LiveCast,
    SensedBody,
    Steering,
    WantedPose,
    fade_help,
    place_learned_cast,
    wanted_of_pose,
)
from ..method import Run
from .controller import Controller
from .environment import compute_servo_targets
from .learned_file import attached_controller
from .observations import ReferencePlacement, RelativeKinematics, relative_kinematics, transform_to_world
from .playback import film_poses, place_at, relocate_reference
from .reference_trajectory import FILM_STEPS

_FELL, _LOST_FRAMES = 0.25, 60  # height error, as a share of the body's height, for so long


def open_controller(clip: Clip, settings: Any, run: Run, opened: ExitStack) -> LiveCast:
    """Everybody with the job's controller, each where its clip begins; what is no cycle begins anew at its end."""
    controller = attached_controller(run)
    stage, clips = place_learned_cast(controller.body, clip, run)
    characters = tuple(ControllerCharacter(controller, one) for one in clips)
    return LiveCast(stage, characters, clips, goes_round=settings.at_end == "again")


@dataclass(frozen=True, eq=False)
class ControllerMoment:
    """Where somebody is on the reference. step: film step of this control step. targets: (FILM_STEPS, nu), and films:
    (FILM_STEPS, nq) the reference's poses in the world. down: frames for which it was too low. help: for which it is
    helped up yet."""

    placement: ReferencePlacement
    step: int
    targets: Array
    films: Array
    down: int = 0
    help: int = 0


class ControllerCharacter:
    """A ``LiveCharacter`` that a controller moves; its reference goes along with who is pushed aside."""

    steered, own_strength = False, 1.0
    styles: tuple[str, ...] = ()

    def __init__(self, controller: Controller, clip: Clip) -> None:
        self.body, self._controller, self._clip = controller.body, controller, clip
        self._reference = controller.reference
        self._begins = place_at(self._reference, pose_of_clip(self.body, clip.frames(0, 1))[0][0])
        self._heights = link_transforms(self.body, self._reference.film_qpos)[0]
        self._tallest = character_height(self._heights)
        self.begin_anew()

    def begin_anew(self) -> None:
        """Be at the beginning."""
        first = np.repeat(self.first_pose()[0][None], FILM_STEPS, axis=0)
        self.moment = ControllerMoment(self._begins, 0, np.zeros((FILM_STEPS, self.body.nu)), first)

    @property
    def is_over(self) -> bool:
        """Whether the motion is, of one that is no cycle."""
        return not self._reference.cyclic and int(self.moment.placement.at[0]) >= self._reference.steps

    @property
    def is_lost(self) -> bool:
        """Whether it has fallen, and lets go."""
        return self.moment.down >= _LOST_FRAMES and not self.moment.help

    @property
    def helped(self) -> float:
        """Whether it is helped up."""
        return fade_help(self.moment.help)

    def first_pose(self) -> tuple[Array, Array]:
        """(nq,) and (nv,) of the reference's first frame, where the character stands."""
        qpos, qvel = transform_to_world(
            self._reference, self._reference.qpos[:1], self._reference.qvel[:1], self._begins
        )
        return qpos[0], qvel[0]

    def steer(self, steering: Steering) -> None:
        """A controller goes where it goes."""

    def come_back(self, sensed: SensedBody) -> None:
        """It has its strength again; who lies is helped up to its motion."""
        self.moment = replace(self.moment, down=0, help=HELP_FRAMES if self.moment.down else 0)

    def choose_targets(self, sensed: SensedBody) -> Array:
        """(nu,) servo targets for the next control step; the policy acts every other one."""
        now = self.moment
        if now.step == 0:
            kinematics = self._measure(sensed, now.placement)
            placement = relocate_reference(self._reference, self._controller.widths, kinematics, now.placement)
            if placement is not now.placement:
                kinematics = self._measure(sensed, placement)
            actions = self._controller.policy(kinematics.observations())
            targets = compute_servo_targets(self._reference, placement.at, actions)[0]
            films = film_poses(self._reference, placement) if not self.is_over else now.films
            now = self.moment = replace(now, placement=placement, targets=targets, films=films)
        return np.asarray(now.targets[now.step])

    def _measure(self, sensed: SensedBody, placement: ReferencePlacement) -> RelativeKinematics:
        return relative_kinematics(self._reference, sensed.qpos[None], sensed.qvel[None], sensed.rows, placement)

    def pass_step(self, sensed: SensedBody) -> None:
        """A control step has led to this."""
        now, step = self.moment, self.moment.step + 1
        film = min(int(now.placement.at[0]) * FILM_STEPS + step, len(self._heights) - 1)
        low = height_error(self._heights[[film]], sensed.link_pos[None], self._tallest)[0] > _FELL
        placement = now.placement.advance(self._reference) if step == FILM_STEPS else now.placement
        down, left = now.down + 1 if low else 0, max(now.help - 1, 0)
        self.moment = replace(now, placement=placement, step=step % FILM_STEPS, down=down, help=left)

    def wanted(self) -> WantedPose:
        """The reference's pose."""
        return wanted_of_pose(self.body, self.moment.films[self.moment.step - 1], self._clip)
