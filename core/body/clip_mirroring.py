# SPDX-License-Identifier: GPL-3.0-or-later
"""The mirror image of a clip, left for right: every bone of the skeleton, simulated or not.

Notation as in ``mirroring``: F_i leads from the frame of bone i's partner m(i) to its own. A local rotation L_i becomes
L'_m(i) = inverse(F_p) L_i F_i, p being the parent; a root's R becomes S R F. Two mirrorings cancel, so that all of it
can be done with rotations alone.
"""

import re
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..errors import RigError
from ..geometry.quaternions import Array, conjugate, from_matrix, multiply, rotate, to_matrix
from ..motion import Clip, Skeleton
from .mirroring import BodyMirror
from .model import BodyModel
from .sagittal_plane import find_sagittal_plane

_NEAR = 0.05  # of the skeleton's size: how far from its image a bone without a name may be to be its partner
# 'LeftHand', 'hand_l', 'Hand.R', 'LHipJoint'; but neither 'LowerBack' nor 'Root'.
_SIDE = re.compile(r"[Ll]eft|[Rr]ight|LEFT|RIGHT|(?<![A-Za-z])[LR](?=[A-Z][a-z])|(?<![A-Za-z])[lrLR](?![A-Za-z])")
_HINT = "Leave mirrored copies out, or make both sides of the armature alike"
_OTHER = {"left": "right", "right": "left", "l": "r", "r": "l"}


class ClipMirror:
    """Mirrors clips of one skeleton. partners: (B,) the bone on the other side of each, -1 where there is none.

    A bone without a partner keeps its own local animation. Bones keep their own offsets: only what a clip moves them
    by is mirrored. A body whose sides do not correspond is refused with a ``RigError`` that says why.
    """

    def __init__(self, body: BodyModel) -> None:
        mirror, plane = BodyMirror(body), find_sagittal_plane(body)
        assert plane is not None
        skeleton = body.skeleton
        inward = np.eye(3) - 2.0 * np.outer(plane.normal, plane.normal)
        world = np.eye(3) - 2.0 * np.outer(mirror.normal, mirror.normal)
        self.partners = _find_partners(body, mirror, plane.point, inward)
        for link in body.links:
            if self.partners[skeleton.index(link.bone)] < 0:
                raise RigError(f"'{link.bone}' hangs on bones that have no counterpart on the other side", _HINT)
        rest = to_matrix(skeleton.rest_world()[1])
        frames = np.swapaxes(rest, -1, -2) @ inward @ rest[self.partners]
        self._frames, self._world = from_matrix(-frames), from_matrix(-world)
        self._reflection = world
        self._skeleton = skeleton

    def mirror(self, clip: Clip) -> Clip:
        """The mirror image of a clip; twice gives back the same."""
        pos, quat = np.array(clip.local_pos), np.array(clip.local_quat_wxyz)
        rest = self._skeleton.rest_pos
        for bone, (partner, parent) in enumerate(zip(self.partners, self._skeleton.parents, strict=True)):
            if partner < 0:
                continue
            turned = multiply(clip.local_quat_wxyz[:, bone], self._frames[bone])
            if parent < 0:
                quat[:, partner] = multiply(self._world, turned)
                pos[:, partner] = clip.local_pos[:, bone] @ self._reflection
            else:
                above = conjugate(self._frames[parent])
                quat[:, partner] = multiply(above, turned)
                # A frame's rotation is minus the reflection, so what it turns is turned round as well.
                moved = -rotate(np.broadcast_to(above, (len(pos), 4)), clip.local_pos[:, bone] - rest[bone])
                pos[:, partner] = rest[partner] + moved
        return replace(clip, local_pos=pos, local_quat_wxyz=quat)


def _find_partners(body: BodyModel, mirror: BodyMirror, point: Array, inward: Array) -> NDArray[np.int64]:
    """(B,) each bone's partner: of links as the body has it, of others by name, then by place under the same parent."""
    skeleton = body.skeleton
    heads = skeleton.rest_world()[0]
    images = point + (heads - point) @ inward
    near = _NEAR * float(np.linalg.norm(np.ptp(heads, axis=0)))
    links = [skeleton.index(link.bone) for link in body.links]
    partners = np.full(len(skeleton), -1, dtype=np.int64)
    partners[links] = [links[other] for other in mirror.links]
    for bone, partner in [(link, int(partners[link])) for link in links]:
        # What leads to two partners are partners, bone by bone.
        here, there = skeleton.parents[bone], skeleton.parents[partner]
        while here >= 0 and there >= 0 and partners[here] < 0 and partners[there] < 0:
            partners[here], partners[there] = there, here
            here, there = skeleton.parents[here], skeleton.parents[there]
    for bone, name in enumerate(skeleton.names):
        if partners[bone] >= 0:
            continue
        parent = skeleton.parents[bone]
        holder = -1 if parent < 0 else int(partners[parent])
        if parent >= 0 and holder < 0:
            continue
        below = [other for other in np.flatnonzero(skeleton.parents == holder) if other not in links]
        named = [other for other in below if skeleton.names[other] == swap_side(name)]
        close = [other for other in below if np.linalg.norm(heads[other] - images[bone]) < near]
        if fitting := named or sorted(close, key=lambda other: float(np.linalg.norm(heads[other] - images[bone]))):
            partners[bone] = fitting[0]
    return _keep_pairs(skeleton, partners)


def _keep_pairs(skeleton: Skeleton, partners: NDArray[np.int64]) -> NDArray[np.int64]:
    """Partners that are each other's, and hang on partners."""
    kept = partners.copy()
    for bone, partner in enumerate(partners):
        parents = skeleton.parents[[bone, partner]]
        hangs = (parents[0] < 0 and parents[1] < 0) or (parents.min() >= 0 and kept[parents[0]] == parents[1])
        if partner >= 0 and (partners[partner] != bone or not hangs):
            kept[bone] = -1
    return np.where((kept >= 0) & (kept[kept] == np.arange(len(kept))), kept, -1)


def swap_side(name: str) -> str:
    """A bone's name with left and right exchanged: 'LeftHand', 'hand.L', 'mixamorig:LeftHand'; others as they are."""
    return _SIDE.sub(lambda match: _in_case(_OTHER[match[0].lower()], match[0]), name)


def _in_case(word: str, like: str) -> str:
    return word.upper() if like.isupper() else word.capitalize() if like[:1].isupper() else word
