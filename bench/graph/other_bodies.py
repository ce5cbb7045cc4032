# SPDX-License-Identifier: GPL-3.0-or-later
"""The same motion on bodies of other proportions, to see what carries over from one to the other."""

import numpy as np

from ...core.body import build_body
from ...core.motion import Clip, Skeleton

_LEG = ("thigh", "shin")


def lengthen_legs(clip: Clip, times: float) -> Clip:
    """The clip on a skeleton whose thighs and shins are ``times`` as long: the same angles, steps as much longer."""
    bones, body = clip.skeleton, build_body(clip.skeleton, clip=clip)[0]
    rest_pos, local_pos, lengths = np.array(bones.rest_pos), np.array(clip.local_pos), np.array(bones.lengths)
    for bone in (bones.index(link.bone) for link in body.links if link.role in _LEG):
        lengths[bone] *= times
        below = bones.children(bone)
        rest_pos[below] *= times
        local_pos[:, below] *= times
    root, feet = (
        [bones.index(link.bone) for link in body.links if link.role == role] for role in (body.links[0].role, "foot")
    )
    long = Skeleton(bones.names, bones.parents, rest_pos, bones.rest_quat_wxyz, lengths)
    height = bones.rest_world()[0][root[0], 2]
    lower = float((bones.rest_world()[0] - long.rest_world()[0])[feet, 2].mean())
    size = (height + lower) / height
    top = next(bone for bone in range(len(bones)) if bones.parents[bone] < 0)
    rest_pos[top, 2] += lower
    local_pos[:, top] = local_pos[:1, top] + (local_pos[:, top] - local_pos[:1, top]) * size
    local_pos[:, top, 2] += (size - 1.0) * clip.local_pos[0, top, 2]
    long = Skeleton(bones.names, bones.parents, rest_pos, bones.rest_quat_wxyz, lengths)
    return Clip(long, clip.fps, local_pos, clip.local_quat_wxyz, clip.name, clip.tags)
