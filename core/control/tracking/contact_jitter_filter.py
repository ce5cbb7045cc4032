# SPDX-License-Identifier: GPL-3.0-or-later
"""A low-pass filter against contact jitter, as captured motion is filtered before it is used."""

import numpy as np

from ...body.pose_space import PoseSpace
from ...geometry.quaternions import Array

# In moments of 1/60 s: of what swings nine times a second half is left, of a step everything.
_WIDTH, _REACH = 1.2, 4


def filter_contact_jitter(space: PoseSpace, qpos: Array) -> Array:
    """(K, nq) poses (K, nq) at the control rate without what is faster than eyes follow.

    Every pose has as much before it as after it to be judged by, so that nothing lags; the first
    and the last stay as they are. From where physics blew up, and poses are no numbers, nothing is changed.
    """
    sound = np.isfinite(qpos).all(axis=-1)
    count = len(qpos) if sound.all() else int(np.argmin(sound))
    if not count:
        return qpos
    steps = np.arange(-_REACH, _REACH + 1)
    moments = np.arange(count)[:, None]
    weights = np.exp(-0.5 * (steps / _WIDTH) ** 2) * (np.abs(steps) <= np.minimum(moments, count - 1 - moments))
    living = qpos[:count]
    near = living[np.clip(moments + steps, 0, count - 1)]
    weights /= weights.sum(axis=1, keepdims=True)
    by = np.einsum("ks,ksv->kv", weights, space.difference(living[:, None], near))
    return np.concatenate([space.integrate(living, by), qpos[count:]])
