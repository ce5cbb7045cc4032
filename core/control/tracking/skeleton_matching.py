# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether two skeletons are the same, and if not, in which bone."""

import numpy as np

from ...geometry.quaternions import angle_between
from ...motion import Skeleton

# Rest poses that differ by less than this are the same: files round.
_SAME_M, _SAME_RAD = 1e-3, 1e-2


def describe_skeleton_difference(first: Skeleton, second: Skeleton) -> str:
    """The first difference that is found, in words that name the bone; empty where there is none."""
    if first is second:
        return ""
    for one, other, which in ((first, second, "first"), (second, first, "second")):
        odd = [name for name in one.names if name not in other.names]
        if odd:
            return f"only the {which} has the bone '{odd[0]}'"
    for bone, name in enumerate(first.names):
        place = second.names.index(name)
        holders = [
            skeleton.names[skeleton.parents[at]] if skeleton.parents[at] >= 0 else "nothing"
            for skeleton, at in ((first, bone), (second, place))
        ]
        if holders[0] != holders[1]:
            return f"'{name}' hangs on {holders[0]} in the first and on {holders[1]} in the second"
        if bone != place:
            return f"'{name}' is bone {bone + 1} of the first and bone {place + 1} of the second"
    off = np.linalg.norm(first.rest_pos - second.rest_pos, axis=-1) > _SAME_M
    off |= angle_between(first.rest_quat_wxyz, second.rest_quat_wxyz) > _SAME_RAD
    return f"'{first.names[int(np.argmax(off))]}' rests in another place" if off.any() else ""
