# SPDX-License-Identifier: GPL-3.0-or-later
"""The tremble of contacts taken out of a film, as captured motion is filtered before anybody sees it."""

import numpy as np

from ...body.tangent import PoseSpace
from ...geometry.quaternions import Array

# In moments of 1/60 s: of what swings nine times a second half is left, of a step everything.
_WIDTH, _REACH = 1.2, 4


def calmed(space: PoseSpace, qpos: Array) -> Array:
    """(K, nq) poses (K, nq) at the control rate without what is faster than eyes follow; ends are held.

    From where physics blew up, and poses are no numbers, nothing is changed.
    """
    sound = np.isfinite(qpos).all(axis=-1)
    count = len(qpos) if sound.all() else int(np.argmin(sound))
    if not count:
        return qpos
    steps = np.arange(-_REACH, _REACH + 1)
    weights = np.exp(-0.5 * (steps / _WIDTH) ** 2)
    living = qpos[:count]
    near = living[np.clip(np.arange(count)[:, None] + steps, 0, count - 1)]
    by = np.einsum("s,ksv->kv", weights / weights.sum(), space.between(living[:, None], near))
    return np.concatenate([space.moved(living, by), qpos[count:]])
