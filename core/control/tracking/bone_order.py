# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters whose bones come in another order than those of what was learned: there and back again."""

from dataclasses import replace

import numpy as np

from ...body import BodyModel
from ...errors import JobError
from ...motion import Clip, Skeleton, Take
from .skeleton_matching import describe_skeleton_difference


def put_on_body(body: BodyModel, clip: Clip) -> Clip:
    """The clip with its bones in the order of the body's; one with other bones is refused."""
    wanted, own = body.skeleton, clip.skeleton
    over = _holders(own)
    if len(own.names) != len(wanted.names) or over != _holders(wanted):
        why = describe_skeleton_difference(wanted, own)
        raise JobError(
            f"What was learned has another skeleton than '{clip.name}': {why}",
            "Learn it for this armature, or choose a file that was learned for it",
        )
    order = [own.index(name) for name in wanted.names]
    pos, quat = clip.local_pos[:, order], clip.local_quat_wxyz[:, order]
    return Clip(wanted, clip.fps, pos, quat, clip.name, clip.tags)


def take_back(take: Take, skeleton: Skeleton) -> Take:
    """The take with its bones in the order of the character's own."""
    motion = take.motion
    order = [motion.skeleton.index(name) for name in skeleton.names]
    back = Clip(
        skeleton, motion.fps, motion.local_pos[:, order], motion.local_quat_wxyz[:, order], motion.name, motion.tags
    )
    contacts = None if take.contacts is None else np.asarray(take.contacts)[:, order]
    return replace(take, motion=back, contacts=contacts)


def _holders(skeleton: Skeleton) -> dict[str, str]:
    """What each bone hangs on, by name."""
    names = skeleton.names
    return {name: names[parent] if parent >= 0 else "" for name, parent in zip(names, skeleton.parents, strict=True)}
