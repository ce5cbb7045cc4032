# SPDX-License-Identifier: GPL-3.0-or-later
"""Feet in a cross-fade: they change from one motion's footprints to the other's while they are in the air."""

from dataclasses import replace

import numpy as np

from ..geometry.flags import find_runs
from ..geometry.quaternions import Array, conjugate, multiply, slerp
from ..motion import Clip
from ..motion.cross_fade import ease_in_and_out
from .foot_correction import rotate_foot
from .leg_ik import find_legs, solve_leg_ik
from .model import BodyModel
from .stances import Flags, smooth_hann

_STEP_S = 0.2  # in which a foot can go over without a jerk
_SOFT_S = 0.05  # over which a swing begins and ends


def step_through_fade(body: BodyModel, faded: Clip, clip: Clip, other: Clip, weights: Array, stands: Flags) -> Clip:
    """The cross-fade ``faded`` of two clips by weights (T,), with feet that do not slide from one to the other.

    A foot that is in the air at some time of a fade goes over then, and stands still before and after; one that stands
    all the time has to slide. Hips and knees follow by inverse kinematics. stands: (T, L) links that carry weight.
    """
    fading = (weights > 0.0) & (weights < 1.0)
    (pos, quat), (other_pos, other_quat) = clip.world(), other.world()
    for leg in find_legs(body, clip.skeleton):
        own = _foot_weights(weights, fading, stands[:, list(leg.links)].any(axis=1), clip.fps)
        goal = pos[:, leg.foot] + own[:, None] * (other_pos - pos)[:, leg.foot]
        turned = slerp(quat[:, leg.foot], other_quat[:, leg.foot], own)
        _, now = faded.world()
        planted = rotate_foot(faded, leg, multiply(turned, conjugate(now[:, leg.foot])), fading)
        local = np.where(fading[:, None, None], solve_leg_ik(planted, leg, goal), faded.local_quat_wxyz)
        faded = replace(faded, local_quat_wxyz=local)
    return faded


def _foot_weights(weights: Array, fading: Flags, stands: Flags, fps: float) -> Array:
    """(T,) the weights of a foot: in a fade they change while it swings, and as it stands only if that is too short."""
    own = np.array(weights)
    for start, stop in find_runs(fading):
        swings = np.where(stands[start:stop], 0.0, smooth_hann(1.0 - stands[start:stop], fps, _SOFT_S))
        missing = _STEP_S * fps - swings.sum()
        pace = swings + max(missing, 0.0) / len(swings)
        before, after = weights[start - 1] if start else weights[start], weights[min(stop, len(weights) - 1)]
        own[start:stop] = before + (after - before) * ease_in_and_out(np.cumsum(pace) / pace.sum())
    return own
