# SPDX-License-Identifier: GPL-3.0-or-later
"""Smoothing of poses over time: a zero-phase low-pass filter, as animators ask for it."""

import numpy as np

from ..geometry.quaternions import Array
from .pose_space import PoseSpace

MOST_SMOOTHING_S = 0.1
"""Standard deviation of the filter where it is strongest: half of what swings twice a second is left."""

_REACH = 3.0  # standard deviations


def smooth_poses(space: PoseSpace, qpos: Array, strength: float, fps: float) -> Array:
    """(K, nq) poses (K, nq) at ``fps`` without fast movements: more of them go the stronger it is, from 0 to 1.

    Every pose has as much before it as after it, so that nothing lags and the first and the last stay. From where
    physics blew up, and poses are no numbers, nothing is changed.
    """
    sound = np.isfinite(qpos).all(axis=-1)
    count = len(qpos) if sound.all() else int(np.argmin(sound))
    spread = strength * MOST_SMOOTHING_S * fps
    if spread <= 0.0 or count < 3:
        return qpos
    living, moments = qpos[:count], np.arange(count)
    room = np.minimum(moments, count - 1 - moments)
    total, by = np.ones(count), np.zeros((count, space.nv))
    for step in range(1, int(np.ceil(_REACH * spread)) + 1):
        weight = np.exp(-0.5 * (step / spread) ** 2) * (step <= room)
        for way in (-step, step):
            total += weight
            by += weight[:, None] * space.difference(living, living[np.clip(moments + way, 0, count - 1)])
    return np.concatenate([space.integrate(living, by / total[:, None]), qpos[count:]])
