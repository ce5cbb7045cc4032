# SPDX-License-Identifier: GPL-3.0-or-later
"""A walk on the spot: one stride of the plain walk with its travel taken off, as games have it."""

import numpy as np

from sinew.core.motion import Clip, Skeleton
from sinew.core.motion.plain_walk import SPEED_M_S, STRIDE_S, plain_walk
from sinew.core.motion.travel import Travel, remove_travel


def steady_travel(speed_m_s: float = SPEED_M_S, period_s: float = STRIDE_S, yaw_rad_s: float = 0.0) -> Travel:
    """A travel along -Y at one pace."""
    grid = np.linspace(0.0, period_s, 513)
    pace = np.tile([0.0, -speed_m_s], (513, 1))
    turn = yaw_rad_s * grid
    velocity = speed_m_s * np.stack([np.sin(turn), -np.cos(turn)], axis=-1)
    steps = 0.5 * (velocity[1:] + velocity[:-1]) * np.diff(grid)[:, None]
    return Travel(period_s, yaw_rad_s, np.concatenate([np.zeros((1, 2)), np.cumsum(steps, axis=0)]), pace)


def walk_on_the_spot(fps: float = 60.0, scale: float = 1.0) -> Clip:
    """One stride, its last frame its first again; scale: times the size, at the same pace of limbs."""
    walk = plain_walk(STRIDE_S, fps)
    spot = remove_travel(walk, steady_travel(), np.arange(len(walk)) / fps)
    bones = spot.skeleton
    sized = Skeleton(bones.names, bones.parents, bones.rest_pos * scale, bones.rest_quat_wxyz, bones.lengths * scale)
    return Clip(sized, fps, spot.local_pos * scale, spot.local_quat_wxyz, "Walk")
