# SPDX-License-Identifier: GPL-3.0-or-later
"""Where motion editing (section 6.1) comes in: from a motion that nearly does what its cues ask for to one that does.

A plan puts key moments on their frames, and its root path is bent towards their places as far as that goes without
looking wrong. What is left over is for an editor that deforms the motion in space and time.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ...body import BodyModel
from ...motion import Clip


@dataclass(frozen=True)
class WantedMoment:
    """What a motion is to do: at frame ``at`` of it, have its root at ``place`` (x, y in metres), facing ``heading``.

    key_first, key_last: frames around it whose pose is to stay as it is.
    """

    at: int
    place: tuple[float, float] | None
    heading: float | None
    key_first: int
    key_last: int


def reach_moments(body: BodyModel, clip: Clip, wanted: Sequence[WantedMoment]) -> Clip:
    """The clip with all that is wanted in it, as near as editing comes; without an editor it is as it was."""
    return clip
