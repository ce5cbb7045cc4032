# SPDX-License-Identifier: GPL-3.0-or-later
"""Blending of gaits in phase: stride by stride, at the blended pace and speed, so that feet do not slide."""

from dataclasses import dataclass

import numpy as np

from ....body import BodyModel
from ....body.pose_space import PoseSpace
from ....geometry.quaternions import Array
from ...tracking.facing import rotate_pose_about_z
from ...tracking.reference import CONTROL_FPS, FRAGMENT_STEPS
from .footskate_cleanup import clear_floor

_CYCLES = 2  # of a blend


@dataclass(frozen=True, eq=False)
class GaitCycle:
    """A gait cycle at the control rate, from one left touchdown to the next.

    qpos: (T + 1, nq), the last of which is the first moved on. It may travel and face any way.
    """

    qpos: Array

    @property
    def seconds(self) -> float:
        """How long a cycle lasts."""
        return (len(self.qpos) - 1) / CONTROL_FPS

    @property
    def speed(self) -> float:
        """Metres a second over the ground."""
        return float(np.linalg.norm((self.qpos[-1] - self.qpos[0])[:2])) / self.seconds

    def in_place(self) -> Array:
        """(T + 1, nq) the cycle without its travel, which is along +X."""
        travel = (self.qpos[-1] - self.qpos[0])[:2]
        heading = float(np.arctan2(travel[1], travel[0]))
        moved = np.array(self.qpos)
        moved[:, :2] -= moved[0, :2] + np.linspace(0.0, 1.0, len(moved))[:, None] * travel
        return rotate_pose_about_z(np.full(len(moved), -heading), moved, np.zeros((len(moved), 3)))[0]


def blend_gaits(body: BodyModel, source: GaitCycle, target: GaitCycle, margin: int) -> tuple[Array, int]:
    """Poses (6 K + 1 + 2 margin, nq) at the control rate in which one gait becomes the other, and how many fragments K.

    They begin with a left step of the source and end with one of the target; ``margin`` poses more at either end are
    the gaits alone.
    """
    space = PoseSpace(body)
    fine = np.linspace(0.0, 1.0, 2001)
    blend = fine**2 * (3.0 - 2.0 * fine)
    pace = (1.0 - blend) / source.seconds + blend / target.seconds  # cycles a second
    times_s = np.concatenate([[0.0], np.cumsum(np.diff(fine) * _CYCLES / (0.5 * (pace[1:] + pace[:-1])))])
    count = max(round(times_s[-1] * CONTROL_FPS / FRAGMENT_STEPS), 1)
    steps = np.arange(-margin, count * FRAGMENT_STEPS + margin + 1)
    at = np.clip(steps / (count * FRAGMENT_STEPS), 0.0, 1.0) * times_s[-1]
    done = np.asarray(np.interp(at, times_s, fine) * _CYCLES, dtype=float)
    beyond_s = (steps - np.clip(steps, 0, count * FRAGMENT_STEPS)) / CONTROL_FPS
    done += beyond_s / np.where(beyond_s < 0.0, source.seconds, target.seconds)
    share = np.interp(at, times_s, blend)[:, None]
    here, there = (_poses_at_phases(space, gait.in_place(), done) for gait in (source, target))
    poses = clear_floor(body, space.integrate(here, share * space.difference(here, there)), there)
    speed = (1.0 - share[:, 0]) * source.speed + share[:, 0] * target.speed
    poses[:, 0] += np.concatenate([[0.0], np.cumsum(0.5 * (speed[1:] + speed[:-1])) / CONTROL_FPS])
    return poses, count


def _poses_at_phases(space: PoseSpace, cycle: Array, phases: Array) -> Array:
    """(N, nq) poses of a cycle (T + 1, nq) on the spot, in phases (N,) of it that go on and on."""
    place = (phases % 1.0) * (len(cycle) - 1)
    low = np.minimum(place.astype(int), len(cycle) - 2)
    return np.asarray(
        space.integrate(cycle[low], (place - low)[:, None] * space.difference(cycle[low], cycle[low + 1]))
    )
