# SPDX-License-Identifier: GPL-3.0-or-later
"""The key pose of a deed, to be shown before anything is planned: that of its first key moment in a library."""

from dataclasses import dataclass

import numpy as np

from ...geometry.quaternions import Array, multiply
from ...motion import Clip
from ..tracking.facing import rotate_about_z, rotation_about_z, twist_angle, upright_rotation
from ..tracking.library_files import StoredLibrary


@dataclass(frozen=True, eq=False)
class KeyPose:
    """L links of the library's body, by their bones: pos (L, 3) metres, with the root above the origin, facing +X.

    quat_wxyz: (L, 4).
    """

    bones: tuple[str, ...]
    pos: Array
    quat_wxyz: Array


def find_key_pose(stored: StoredLibrary, name: str) -> KeyPose | None:
    """Of a deed's first key moment that somebody marked, or else that is proposed; None for what is no deed."""
    known = [
        (deed.is_proposal, number, deed.key)
        for number, clip in enumerate(stored.clips)
        for deed in clip.deeds or ()
        if deed.name == name
    ]
    if not known:
        return None
    _, number, key = min(known)
    own, body = stored.clips[number], stored.body
    frame = slice(key, key + 1)
    pose = Clip(body.skeleton, 60.0, own.local_pos[frame].astype(float), own.local_quat_wxyz[frame].astype(float), name)
    pos, quat = pose.world()
    links = [body.skeleton.index(link.bone) for link in body.links]
    pos, quat = pos[0, links], quat[0, links]
    turn = -twist_angle(quat[:1], upright_rotation(body))
    pos = rotate_about_z(np.repeat(turn, len(links)), pos - pos[0] * [1.0, 1.0, 0.0])
    return KeyPose(tuple(link.bone for link in body.links), pos, multiply(rotation_about_z(turn), quat))
