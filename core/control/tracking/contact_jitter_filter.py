# SPDX-License-Identifier: GPL-3.0-or-later
"""A low-pass filter against contact jitter, as captured motion is filtered before it is used.

Contacts and servos tremble alike whatever a body does, which nobody sees in a kick and everybody in who gets up slowly:
what moves slowly is filtered more.
"""

import numpy as np

from ...body.pose_space import PoseSpace
from ...geometry.quaternions import Array
from .reference import CONTROL_FPS

# In moments of 1/60 s: of what swings nine times a second half is left, of a step everything; of slow movements, half
# of what swings six times a second.
_WIDTH, _CALM_WIDTH = 1.2, 1.8
# Rate of the fastest joint, root mean square from 0.15 s before a moment on, up to which a movement is slow, and from
# which it is fast. Rates are taken over 0.1 s, in which a tremble has gone to and fro.
_SLOW_RAD_S, _FAST_RAD_S, _BEFORE, _AFTER, _ACROSS = 3.0, 10.0, 9, 2, 3
_REACH = 5  # nothing that comes later than this many moments matters: what is about to happen must not show


def filter_contact_jitter(space: PoseSpace, qpos: Array) -> Array:
    """(K, nq) poses (K, nq) at the control rate without what is faster than eyes follow.

    Every pose has as much before it as after it to be judged by, so that nothing lags; the first
    and the last stay as they are. From where physics blew up, and poses are no numbers, nothing is changed.
    """
    sound = np.isfinite(qpos).all(axis=-1)
    count = len(qpos) if sound.all() else int(np.argmin(sound))
    if not count:
        return qpos
    living, moments = qpos[:count], np.arange(count)
    fast = np.clip((_compute_pace(space, living) - _SLOW_RAD_S) / (_FAST_RAD_S - _SLOW_RAD_S), 0.0, 1.0)
    widths = _CALM_WIDTH + (_WIDTH - _CALM_WIDTH) * fast
    room = np.minimum(moments, count - 1 - moments)
    total, by = np.ones(count), np.zeros((count, space.nv))
    for step in range(1, _REACH + 1):
        weight = np.exp(-0.5 * (step / widths) ** 2) * (step <= room)
        for way in (-step, step):
            total += weight
            by += weight[:, None] * space.difference(living, living[np.clip(moments + way, 0, count - 1)])
    return np.concatenate([space.integrate(living, by / total[:, None]), qpos[count:]])


def _compute_pace(space: PoseSpace, qpos: Array) -> Array:
    """(K,) rad/s: how fast the fastest joint is around each moment of poses (K, nq)."""
    moments, last = np.arange(len(qpos)), len(qpos) - 1
    turned = space.difference(qpos[np.maximum(moments - _ACROSS, 0)], qpos[np.minimum(moments + _ACROSS, last)])
    rates = turned[:, 3:] * (CONTROL_FPS / (2 * _ACROSS))
    squares = np.cumsum(np.concatenate([np.zeros((1, rates.shape[1])), rates**2]), axis=0)
    first, stop = np.maximum(moments - _BEFORE, 0), np.minimum(moments + _AFTER, last) + 1
    return np.asarray(np.sqrt(((squares[stop] - squares[first]) / (stop - first)[:, None]).max(axis=-1)))
