# SPDX-License-Identifier: GPL-3.0-or-later
"""Pushes on the trunk as texts, such as '150@2:left', for what is played rather than followed."""

import math
import re

from ...core.errors import BadSettings
from ...core.sim.trunk_push import TrunkPush

_PUSH = re.compile(r"\s*(?P<force>[\d.]+)\s*@\s*(?P<start>[\d.]+)\s*(?::\s*(?P<side>\w+)\s*)?")
_SIDES = {"front": 0.0, "left": 90.0, "back": 180.0, "right": 270.0}  # degrees from straight ahead that it comes from


def parse_trunk_push(text: str) -> TrunkPush:
    """A push from a text such as '150@2:left'."""
    match = _PUSH.fullmatch(text)
    try:
        if match is None:
            raise ValueError
        force, start_s, side = float(match["force"]), float(match["start"]), (match["side"] or "back").lower()
        return TrunkPush(force, start_s, math.radians(_SIDES[side]))
    except (ValueError, KeyError):
        hint = f"Write newtons@seconds:side, such as 150@2:left, with {', '.join(_SIDES)}"
        raise BadSettings(f"'{text}' is no push", hint) from None
