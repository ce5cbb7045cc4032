# SPDX-License-Identifier: GPL-3.0-or-later
"""Ragdoll controller (6.2): tracks the starting pose of the nearest get-up, limp at first, until that can begin."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....body.poses import targets_of_pose
from ....geometry.quaternions import Array, angle_between, multiply
from ...tracking.facing import rotation_about_z, twist_angle
from ..model.fragments import Indices, Track

# Muscle over seconds since the fall: limp at first, then enough to move arms and legs, then to turn over.
_TIMES_S = (0.0, 0.5, 1.0, 2.5, 4.0)
_MUSCLE = (0.1, 0.1, 0.3, 0.5, 1.0)
_LEAST_S, _MOST_S = 0.8, 5.0
# What is near enough to a get-up's beginning: radians a joint, radians of the root, m/s and rad/s.
_POSE, _LEAN, _SPEED, _SPIN = 0.35, 0.5, 0.25, 1.0


@dataclass(frozen=True, eq=False)
class RagdollControl:
    """Control of N fallen copies.

    targets: (N, nu) radians. muscle: (N,) 0 to 1. rise: (N,) first fragments of their get-ups, and ready: (N,) whether
    these can begin.
    """

    targets: Array
    muscle: Array
    rise: Indices
    ready: NDArray[np.bool_]


class RagdollController:
    """Brings fallen bodies to the start of one of R get-ups, which begin with fragments ``rises`` (R,)."""

    def __init__(self, track: Track, rises: Indices) -> None:
        self.track, self.rises = track, rises
        self._base = track.qpos[rises, 0]
        self._targets = np.concatenate([targets_of_pose(track.body, pose[None]) for pose in self._base])

    def control(self, qpos: Array, qvel: Array, since_s: Array) -> RagdollControl:
        """Control of bodies in poses (N, nq) at rates (N, nv) that have been down for (N,) seconds."""
        root = qpos[:, None, 3:7]
        base = np.broadcast_to(self._base[None, :, 3:7], (len(qpos), len(self._base), 4))
        lean = angle_between(multiply(rotation_about_z(-twist_angle(root, base)), root), base)
        rise = np.argmin(np.nan_to_num(lean, nan=np.inf), axis=1)
        joints = np.abs(self.track.space.difference(self._base[rise], qpos)[:, 6:]).mean(-1)
        still = (np.linalg.norm(qvel[:, :3], axis=-1) < _SPEED) & (np.linalg.norm(qvel[:, 3:6], axis=-1) < _SPIN)
        near = (joints < _POSE) & (lean[np.arange(len(rise)), rise] < _LEAN)
        ready = ((since_s > _LEAST_S) & near & still) | (since_s > _MOST_S)
        return RagdollControl(self._targets[rise], np.interp(since_s, _TIMES_S, _MUSCLE), self.rises[rise], ready)
