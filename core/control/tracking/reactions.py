# SPDX-License-Identifier: GPL-3.0-or-later
"""What a body makes of a disturbance: it braces, staggers and catches itself, or falls."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from ...body import BodyModel
from ...body.poses import link_transforms
from ...geometry.quaternions import Array, rotate
from ...motion.falling import STRAY, character_height, height_error
from .facing import twist_angle

BRACES, SWAYS, STAGGERS, STRAYS, FALLS = range(5)
"""Reactions by how much they are. To sway is too much for bracing and too little for staggering; who strays stays up
but does not come back to the motion."""
WORDS = ("braces", "sways", "staggers", "strays", "falls")
"""By reaction, what the character does."""

# Shares of the character's height that its centre of mass is led off its way by.
_NOTICED, _BRACED, _STAGGERED, _STRAYED = 0.05, 0.12, 0.2, 1.2
_DOWN = 3  # moments on the floor after which it has fallen
_TURNED = np.radians(60.0)  # away from where the source faces, when it is over


@dataclass(frozen=True)
class Reaction:
    """kind: one of those above. peak_m: how far the centre of mass was led off its way. noticed: whether it shows."""

    kind: int
    peak_m: float
    noticed: bool

    def to_row(self) -> tuple[float, ...]:
        """Plain numbers, for ``from_row``."""
        return float(self.kind), self.peak_m, float(self.noticed)

    @classmethod
    def from_row(cls, row: Array) -> Self:
        """The same again, of (3,)."""
        return cls(int(row[0]), float(row[1]), bool(row[2]))


def classify_reaction(body: BodyModel, wanted_qpos: Array, qpos: Array) -> Reaction:
    """The reaction to what happened after the first moment of poses (T, nq), wanted and seen.

    What was off before it happened counts for nothing.
    """
    (wanted_pos, wanted_quat), (pos, quat) = link_transforms(body, wanted_qpos), link_transforms(body, qpos)
    tallest = character_height(wanted_pos)
    off = (_centres_of_mass(body, pos, quat) - _centres_of_mass(body, wanted_pos, wanted_quat))[:, :2]
    peak_m = float(np.linalg.norm(off - off[0], axis=-1).max())
    turned = float(twist_angle(quat[-1, 0], wanted_quat[-1, 0]))
    if not np.isfinite(peak_m) or (height_error(wanted_pos, pos, tallest) > STRAY).any():
        return Reaction(FALLS, peak_m, True)
    if peak_m > _STRAYED * tallest or abs((turned + np.pi) % (2.0 * np.pi) - np.pi) > _TURNED:
        return Reaction(STRAYS, peak_m, True)
    kind = BRACES if peak_m < _BRACED * tallest else SWAYS if peak_m < _STAGGERED * tallest else STAGGERS
    return Reaction(kind, peak_m, peak_m > _NOTICED * tallest)


def is_down(body: BodyModel, wanted_qpos: Array, qpos: Array) -> bool:
    """Whether the body has been down for the last few of the moments of poses (T, nq), wanted and seen."""
    wanted_pos, pos = (link_transforms(body, poses)[0] for poses in (wanted_qpos, qpos[-_DOWN:]))
    off = height_error(wanted_pos[-_DOWN:], pos, character_height(wanted_pos))
    return len(off) == _DOWN and bool((off > STRAY).all())


def _centres_of_mass(body: BodyModel, pos: Array, quat: Array) -> Array:
    """(T, 3) metres, of links' places (T, L, 3) and rotations (T, L, 4)."""
    mass = np.array([link.mass for link in body.links])
    centres = pos + rotate(quat, np.broadcast_to([link.com for link in body.links], pos.shape))
    return np.asarray(np.einsum("l,tlx->tx", mass / mass.sum(), centres))
