# SPDX-License-Identifier: GPL-3.0-or-later
"""A clip reduced to few keyframes, with linear interpolation in between."""

from dataclasses import replace

import numpy as np

from ...core.errors import BadMotion
from ...core.motion import Clip


def keep_few_poses(clip: Clip, poses: int) -> Clip:
    """The clip with so many of its poses, evenly spread, besides the last; slerped in between, at its own frame rate.

    It is no longer physically feasible: flights do not fall as things fall, and feet slide.
    """
    if not 2 <= poses < len(clip):
        raise BadMotion(f"'{clip.name}' cannot be told by {poses} poses", f"Keep 2 to {len(clip) - 1}")
    times_s = np.linspace(0.0, clip.duration_s, poses + 1)
    pos, quat = clip.sample(times_s)
    keyed = Clip(clip.skeleton, poses / clip.duration_s, pos, quat, f"{clip.name} in {poses} poses")
    between = keyed.sample(np.linspace(0.0, keyed.duration_s, len(clip)))
    return replace(clip, local_pos=between[0], local_quat_wxyz=between[1], name=keyed.name)
