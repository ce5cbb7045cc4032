# SPDX-License-Identifier: GPL-3.0-or-later
"""What is left of a recorded deed in one that was made (section 7.6, figure 7): the difference after time warping."""

import numpy as np

from ...geometry.quaternions import Array
from ...motion import Clip
from ..matching.features import FPS
from .goals import Goal
from .pose_features import local_joints
from .responding import Responding

_AFTER_S = 0.15  # of a deed that is compared, beyond its key moment


def warped_error(made: Array, recorded: Array) -> float:
    """Metres: root mean square difference of joints (T, J, 3) and (R, J, 3), where all of the second is gone through.

    Both may linger; the first may begin anywhere, so that what came before the deed does not count.
    """
    square = np.square(made[:, None] - recorded[None]).sum(axis=-1).mean(axis=-1)
    total, count = np.empty(square.shape), np.ones(square.shape)
    for t, r in np.ndindex(square.shape):
        before = [(total[a, b], count[a, b]) for a, b in ((t - 1, r - 1), (t - 1, r), (t, r - 1)) if a >= 0 and b >= 0]
        if r == 0:
            before = []  # begins here
        best = min(before, key=lambda one: one[0] / one[1], default=(0.0, 0.0))
        total[t, r], count[t, r] = best[0] + square[t, r], best[1] + 1.0
        if r and not before:
            total[t, r] = np.inf
    mean = total[:, -1] / count[:, -1]
    return float(np.sqrt(mean[np.isfinite(mean)].min()))


def deed_error(responding: Responding, clip: Clip, goal: Goal, done: int) -> float:
    """Metres by which a clip, in which a deed is done at frame ``done``, differs from how that was recorded.

    Of the goal's key moments the one counts whose pose is nearest then; compared from the deed's beginning on.
    """
    library, step = responding.library, max(round(FPS / clip.fps), 1)
    poses = local_joints(responding.body, clip)
    keys = local_joints(responding.body, responding.key_poses(goal.frames.tolist()))
    key = int(goal.frames[int(np.linalg.norm(keys - poses[done], axis=-1).mean(axis=-1).argmin())])
    number = int(np.searchsorted(library.starts, key, side="right")) - 1
    start = int(library.starts[number])
    first = next(one.start for one in library.deeds[number] if one.name == goal.name and start + one.key == key)
    after = round(_AFTER_S * FPS)
    frames = np.arange(start + first, min(key + after, int(responding.planner.ends[key])) + 1, step)
    recorded = local_joints(responding.body, responding.key_poses(frames.tolist()))
    return warped_error(poses[: done + round(after / step) + 1], recorded)
