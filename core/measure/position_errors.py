# SPDX-License-Identifier: GPL-3.0-or-later
"""How far a simulated character is from where the source has it: centre of mass, root, joints, ends of the limbs.

Nothing is turned or moved before comparing, except that root-relative errors take the root's place away: which way a
character faces is part of the motion, and an arm that points elsewhere because the trunk turned is not where it was.
"""

import numpy as np
from numpy.typing import NDArray

from ..body import BodyModel
from ..geometry.quaternions import Array, rotate

# What ends a limb, and what does where a side has none of it.
_ENDS = ("head", "hand", "foot", "toe")
_INSTEAD = {"forearm": "hand", "shin": "foot"}


def point_distances(wanted: Array, seen: Array) -> Array:
    """(...) metres between points (..., 3) in the world: the error of a centre of mass, a root, or joints."""
    return np.asarray(np.linalg.norm(seen - wanted, axis=-1))


def root_relative_distances(wanted: Array, seen: Array) -> Array:
    """(K, L - 1) metres between joints (K, L, 3), both seen from their own root (the first), which is left out.

    The mean of it is the mean per-joint position error, root-relative.
    """
    return point_distances(wanted[:, 1:] - wanted[:, :1], seen[:, 1:] - seen[:, :1])


def limb_ends(body: BodyModel) -> NDArray[np.int64]:
    """The links that end a limb: feet and toes (shins where a leg has no foot), hands (or forearms), heads."""
    sides = {(link.role, link.side) for link in body.links}
    return np.array(
        [
            index
            for index, link in enumerate(body.links)
            if link.role in _ENDS or (link.role in _INSTEAD and (_INSTEAD[link.role], link.side) not in sides)
        ],
        dtype=np.int64,
    )


def limb_end_positions(body: BodyModel, pos: Array, quat_wxyz: Array) -> Array:
    """(K, E, 3) metres: the far ends of the bones of the body's tips, from all links' frames (K, L, 3) and (K, L, 4).

    The far end and not the joint: a wrist may be in place while the hand points elsewhere.
    """
    chosen = limb_ends(body)
    lengths = [body.skeleton.lengths[body.skeleton.index(body.links[index].bone)] for index in chosen]
    along = np.array(lengths)[:, None] * np.array([0.0, 1.0, 0.0])
    return pos[:, chosen] + rotate(quat_wxyz[:, chosen], np.broadcast_to(along, (len(pos), len(chosen), 3)))


def mean_and_max(errors: Array) -> tuple[float, float] | tuple[None, None]:
    """Over everything; None twice where there is nothing."""
    return (float(errors.mean()), float(errors.max())) if errors.size else (None, None)
