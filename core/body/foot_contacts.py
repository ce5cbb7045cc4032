# SPDX-License-Identifier: GPL-3.0-or-later
"""When each foot of a clip is on the ground, foot by foot."""

import numpy as np

from ..motion import Clip
from .four_legs import find_front_feet
from .leg_ik import Leg, find_legs
from .model import BodyModel
from .stances import Flags, Sole, find_stances


def name_feet(body: BodyModel) -> tuple[str, ...]:
    """The feet that a body stands on, as role and side: 'foot.L', 'foot.R', and hands of four-legged bodies."""
    return tuple(legs_by_foot(body))


def find_foot_contacts(body: BodyModel, clip: Clip) -> Flags:
    """(T, N) whether each of the feet of ``name_feet`` stands; the clip must be on the ground, a flat floor at 0."""
    flags = np.zeros((len(clip), len(legs_by_foot(body))), dtype=bool)
    for column, leg in enumerate(legs_by_foot(body).values()):
        for first, last in find_stances(Sole.of(body, clip, leg, None), clip.fps)[0]:
            flags[first : last + 1, column] = True
    return flags


def legs_by_foot(body: BodyModel) -> dict[str, Leg]:
    """The legs that a body stands on, by the names of their feet."""
    front = {int(link) for link in find_front_feet(body)}
    found = {}
    for leg in find_legs(body, body.skeleton):
        standing = [link for link in leg.links if body.links[link].role == "foot" or link in front]
        if standing:
            link = body.links[standing[0]]
            found[f"{link.role}.{link.side}"] = leg
    return dict(sorted(found.items()))
