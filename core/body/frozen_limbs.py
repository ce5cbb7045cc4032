# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs whose upper or lower bone never turns, though the same one of the other side and what hangs on it do.

Exporters lose the motion of a bone now and then: a thigh keyed with one value for the whole Action. What is below it
still moves as if it did, so that its foot is where no foot belongs, and no body can stand on it.
"""

from dataclasses import dataclass

import numpy as np

from ..errors import SinewError
from ..geometry.quaternions import angle_between
from ..motion import Clip
from .build import build_body
from .model import BodyModel

_BELOW = {"thigh": "shin", "shin": "foot", "upper_arm": "forearm", "forearm": "hand"}
_FROZEN_RAD, _MOVES_RAD = np.radians(0.2), np.radians(15.0)


@dataclass(frozen=True)
class FrozenLimb:
    """A bone that never turns, and the one of the other side that does."""

    bone: str
    other: str
    below: str

    @property
    def message(self) -> str:
        """In plain words."""
        return (
            f"'{self.bone}' never turns, though '{self.other}' and '{self.below}' do: "
            "the motion of that limb seems to be missing"
        )

    hint = "Export it again; until then its foot or hand is where no body can have it"


def find_frozen_limbs(clip: Clip, body: BodyModel | None = None) -> tuple[FrozenLimb, ...]:
    """The limbs of which that is true. body: of the clip's bones; None for one that is made of them alone."""
    if len(clip) < 3:
        return ()
    if body is None:
        try:
            body = build_body(clip.skeleton, clip=clip)[0]
        except SinewError:
            return ()  # no body, no limbs
    swing = angle_between(clip.local_quat_wxyz, clip.local_quat_wxyz[:1]).max(axis=0)
    bones = {(link.role, link.side): clip.skeleton.index(link.bone) for link in body.links}
    found, names = [], clip.skeleton.names
    for role, below in _BELOW.items():
        for side, mirrored in ("LR", "RL"):
            places = [bones.get(key) for key in ((role, side), (role, mirrored), (below, side))]
            if None in places:
                continue
            own, other, child = (int(place) for place in places if place is not None)
            if swing[own] < _FROZEN_RAD and min(swing[other], swing[child]) > _MOVES_RAD:
                found.append(FrozenLimb(names[own], names[other], names[child]))
    return tuple(found)
