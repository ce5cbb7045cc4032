# SPDX-License-Identifier: GPL-3.0-or-later
"""Sources whose limbs slide along the trunk, made such that a body of rigid links can follow them.

Hand animated animals often have legs on bones that are moved about, and feet on controls of their own. A body's leg
begins where its hip is: it is bent so that the foot stays where the source has it.
"""

from dataclasses import dataclass

import numpy as np

from ..geometry.quaternions import Array
from ..motion import Clip
from .anatomy import UP
from .clearance import upper_envelope
from .four_legs import find_front_feet
from .leg_ik import LIMBS, STRAIGHT, bend_limb
from .model import BodyModel
from .poses import clip_of_pose, link_transforms, pose_of_links

_LEAST_M = 0.01
# A foot as near to its lowest place as this stands, and the body may come down by as much for it, of a leg's length.
_STANDS, _MOST_DROP = 0.04, 0.15
_DROP_S = 0.15


@dataclass(frozen=True)
class RigidLimbsReport:
    """What was done. bone: the one that slides the furthest, by ``slid`` metres. off: metres that feet are now off."""

    bone: str = ""
    slid: float = 0.0
    off: float = 0.0

    @property
    def touched(self) -> bool:
        """Whether anything was changed."""
        return bool(self.bone)

    @property
    def message(self) -> str:
        """In plain words."""
        text = (
            f"'{self.bone}' slides along the body by up to {100 * self.slid:.0f} cm in the source, which no joint does"
        )
        return f"{text}: legs were bent so that feet stay where they were, to {100 * self.off:.0f} cm"


def fix_limbs_to_body(body: BodyModel, clip: Clip) -> tuple[Clip, RigidLimbsReport]:
    """The clip of a four-legged body with every link's bone where the body has it and feet in place, and what was done.

    A clip that a body can follow to a centimetre comes back as it is, and so does a two-legged one.
    """
    if not len(find_front_feet(body)):
        return clip, RigidLimbsReport()
    pos, quat = clip.world()
    bones = [clip.skeleton.index(link.bone) for link in body.links]
    wanted, turned = pos[:, bones], quat[:, bones].copy()
    placed, _ = link_transforms(body, pose_of_links(body, wanted[:, 0], turned))
    away = np.linalg.norm(placed - wanted, axis=-1).max(axis=0)
    if away.max() < _LEAST_M:
        return clip, RigidLimbsReport()
    limbs = [limb for roles in LIMBS for side in ("L", "R") if (limb := _limb(body, roles[:3], side)) is not None]
    drop = upper_envelope(np.max([_too_high(body, wanted, placed, limb) for limb in limbs], axis=0), clip.fps, _DROP_S)
    root, hips = wanted[:, 0] - drop[:, None] * UP, placed - drop[:, None, None] * UP
    for limb in limbs:
        _bend(body, wanted, hips, turned, limb)
    qpos = pose_of_links(body, root, turned)
    there, _ = link_transforms(body, qpos)
    ends = [end for _, _, end in limbs]
    off = float(np.linalg.norm((there - wanted)[:, ends], axis=-1).max(initial=0.0))
    worst = int(np.argmax(away))
    report = RigidLimbsReport(body.links[worst].bone, float(away[worst]), off)
    return clip_of_pose(body, clip, qpos, clip.fps, offsets="body"), report


def _limb(body: BodyModel, roles: tuple[str, ...], side: str) -> tuple[int, int, int] | None:
    """The links of a limb, from the trunk to its end; None for one that is not whole."""
    found = [next((i for i, x in enumerate(body.links) if (x.role, x.side) == (role, side)), -1) for role in roles]
    return (found[0], found[1], found[2]) if min(found) >= 0 else None


def _too_high(body: BodyModel, wanted: Array, placed: Array, limb: tuple[int, int, int]) -> Array:
    """(T,) metres by which a hip is too high for a foot that stands; wanted, placed: (T, L, 3) in the source, on it."""
    upper, lower, end = limb
    length = STRAIGHT * sum(float(np.linalg.norm(body.links[link].joint.pos)) for link in (lower, end))
    away = wanted[:, end] - placed[:, upper]
    deepest = np.sqrt(np.maximum(length**2 - np.sum(away[:, :2] ** 2, axis=-1), 0.0))
    stands = wanted[:, end, 2] < wanted[:, end, 2].min() + _STANDS * length
    return np.where(stands, np.clip(-away[:, 2] - deepest, 0.0, _MOST_DROP * length), 0.0)


def _bend(body: BodyModel, wanted: Array, placed: Array, turned: Array, limb: tuple[int, int, int]) -> None:
    """Turn the two bones of a limb in ``turned`` (T, L, 4) so that its end is where it is wanted, from where it is."""
    upper, lower, end = limb
    vectors, axis = (body.links[lower].joint.pos, body.links[end].joint.pos), body.links[lower].joint.axis
    goal = wanted[:, end] - placed[:, upper]
    turned[:, upper], turned[:, lower] = bend_limb(turned[:, upper], turned[:, lower], vectors, axis, goal)
