# SPDX-License-Identifier: GPL-3.0-or-later
"""Gaussian smoothing of clips with few frames a second, whose interpolation has a corner at every frame."""

import numpy as np

from ...body.pose_space import PoseSpace
from ...geometry.quaternions import Array

_FEW_FPS = 25.0  # with more, corners are too small to matter
_WIDTH = 0.5  # standard deviation, of a frame's time
_REACH = 3.0  # standard deviations


def smooth_low_frame_rate(space: PoseSpace, qpos: Array, fps: float, clip_fps: float) -> Array:
    """(K, nq) poses (K, nq) at ``fps`` of a clip that had ``clip_fps``, smoothed in time if that is low.

    Linear interpolation changes joint velocities at once at every frame, which would take torques that no body has.
    """
    if clip_fps >= _FEW_FPS:
        return qpos
    width = _WIDTH * fps / clip_fps
    reach = int(np.ceil(_REACH * width))
    steps = np.arange(-reach, reach + 1)
    weights = np.exp(-0.5 * (steps / width) ** 2)
    near = np.clip(np.arange(len(qpos))[:, None] + steps, 0, len(qpos) - 1)
    by = np.einsum("s,ksv->kv", weights / weights.sum(), space.difference(qpos[:, None], qpos[near]))
    return space.integrate(qpos, by)
