# SPDX-License-Identifier: GPL-3.0-or-later
"""Motions of few frames a second without the corners that they have at every frame when they are played at more."""

import numpy as np

from ...body.pose_space import PoseSpace
from ...geometry.quaternions import Array

_FEW_FPS = 25.0  # with more frames than this, corners are too small to matter
_WIDTH = 0.5  # of a frame's time: how far around each moment it is averaged, as a standard deviation
_REACH = 3.0  # standard deviations


def rounded(space: PoseSpace, qpos: Array, fps: float, clip_fps: float) -> Array:
    """(K, nq) poses (K, nq) at ``fps`` of a clip that had ``clip_fps``, each averaged with those around it.

    Between two frames nobody knows how a joint moved. To turn steadily and then at once at another speed, as it does
    where frames are joined by straight lines, takes strength that nobody has.
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
