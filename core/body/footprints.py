# SPDX-License-Identifier: GPL-3.0-or-later
"""Stance feet placed as in another clip of the same motion: what was smoothed keeps its footprints."""

from dataclasses import replace

import numpy as np

from ..geometry.quaternions import Array, conjugate, multiply, slerp
from ..motion import Clip
from .clearance import upper_envelope
from .foot_correction import rotate_foot
from .leg_ik import Leg, find_legs, move_foot
from .model import BodyModel
from .stances import Flags

_FADE_S = 0.05  # before and after it stands, over which a foot blends from one clip's path to the other's


def copy_footprints(body: BodyModel, clip: Clip, other: Clip, stands: Flags, more_fade_s: float = 0.0) -> Clip:
    """The clip with feet placed and turned as in ``other`` wherever their links stand, by (T, L) flags.

    Hips and knees follow by inverse kinematics; frames without stance keep every bit. more_fade_s: seconds by which a
    foot changes from one path to the other more slowly, where they are far apart.
    """
    for leg in find_legs(body, clip.skeleton):
        on = stands[:, list(leg.links)].any(axis=1)
        if not on.any():
            continue
        share = np.minimum(upper_envelope(on.astype(float), clip.fps, _FADE_S + more_fade_s), 1.0)
        (pos, quat), (other_pos, other_quat) = clip.world(), other.world()
        goal = pos[:, leg.foot] + share[:, None] * (other_pos - pos)[:, leg.foot]
        turn = multiply(slerp(quat[:, leg.foot], other_quat[:, leg.foot], share), conjugate(quat[:, leg.foot]))
        clip = rotate_foot(clip, leg, turn, share > 0.0)
        clip = _turn_toes(move_foot(clip, leg, goal), other, _toes_of(body, clip, leg), share)
    return clip


def _toes_of(body: BodyModel, clip: Clip, leg: Leg) -> list[int]:
    """The bones of links that stand with the leg and hang on its foot."""
    bones = [clip.skeleton.index(body.links[link].bone) for link in leg.links]
    return [bone for bone in bones if int(clip.skeleton.parents[bone]) == leg.foot]


def _turn_toes(clip: Clip, other: Clip, toes: list[int], share: Array) -> Clip:
    """The clip with toes bent as in the other one by a share (T,): they stand while the foot rolls off."""
    local, changed = np.array(clip.local_quat_wxyz), share > 0.0
    for toe in toes:
        bent = slerp(local[:, toe], other.local_quat_wxyz[:, toe], share)
        local[:, toe] = np.where(changed[:, None], bent, local[:, toe])
    return replace(clip, local_quat_wxyz=local) if toes else clip
