# SPDX-License-Identifier: GPL-3.0-or-later
"""Which hand or foot does a deed, and where it is from the root at the key moment: what a target is hit with."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...body import BodyModel
from ...body.deed_proposals import find_acting_role
from ...errors import BadSettings
from ...geometry.quaternions import Array
from ...motion import Clip
from ..editing.limb_reaching import Limb, find_limb, limb_point
from ..matching.matching import Complex, to_complex
from .goals import Goal
from .response_tables import Roots


@dataclass(frozen=True, eq=False)
class HittingLimbs:
    """limbs: of each key moment of a goal. away: (G,) metres from the root to the limb's point, in the root's frame."""

    limbs: tuple[Limb, ...]
    away: Complex

    @property
    def usual(self) -> complex:
        """Where the limb is, as the median of all key moments has it."""
        return complex(np.median(self.away.real), np.median(self.away.imag))


def find_hitting_limbs(body: BodyModel, goal: Goal, keys: Clip, roots: Roots) -> HittingLimbs:
    """The limb that is furthest out in each key pose, one a frame of ``keys``, as the library has them."""
    if not goal.is_deed:
        raise BadSettings(
            f"'{goal.name}' is a style, and hits nothing", f"Give it a place: {goal.name}@FRAME:X,Y, or ask for a deed"
        )
    limbs = _find_limbs(body, find_acting_role(goal.name))
    points = np.stack([limb_point(keys, limb) for limb in limbs])
    root = keys.world()[0][:, keys.skeleton.index(body.links[0].bone)]
    # A kick goes up as well as out; hands are up anyway.
    up = np.array([1.0 if find_role(body, limb) == "foot" else 0.0 for limb in limbs])
    out = np.linalg.norm(points[..., :2] - root[:, :2], axis=-1) + up[:, None] * points[..., 2]
    chosen = out.argmax(axis=0)
    tips = points[chosen, np.arange(len(chosen)), :2]
    away = np.exp(-1j * roots.heading[goal.frames]) * (to_complex(tips) - roots.pos[goal.frames])
    return HittingLimbs(tuple(limbs[index] for index in chosen), away)


def _find_limbs(body: BodyModel, role: str) -> Sequence[Limb]:
    """Hands and feet, or those of a role, if the body has them."""
    found = []
    for name in (f"{kind}.{side}" for kind in ("foot", "hand") for side in ("L", "R")):
        try:
            found.append(find_limb(body, name))
        except BadSettings:  # a body without it
            continue
    own = [limb for limb in found if find_role(body, limb) == role]
    if not found:
        raise BadSettings("The body has no hand or foot to hit with", "Give bones a role in the Body panel")
    return own or found


def find_role(body: BodyModel, limb: Limb) -> str:
    """'foot' or 'hand': what a limb ends in."""
    upper = next(link.role for link in body.links if body.skeleton.index(link.bone) == limb.upper)
    return "foot" if upper == "thigh" else "hand"


def measure_miss(clip: Clip, limb: Limb, target: Sequence[float]) -> Array:
    """(T,) metres from a limb's point to a target (3,) in each frame of a clip."""
    return np.linalg.norm(limb_point(clip, limb) - np.asarray(target), axis=-1)
