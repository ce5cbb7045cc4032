# SPDX-License-Identifier: GPL-3.0-or-later
"""Where motion editing (section 6.1) comes in: from a motion that nearly does what its cues ask for to one that does.

A plan puts key moments on their frames, and its root path is bent towards their places as far as that goes without
looking wrong. What is left over the editor spreads over the whole motion, least around key moments.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ...body import BodyModel
from ...geometry.quaternions import Array
from ...motion import Clip
from ..editing.constraints import EditConstraint, FrameNumbers, Reach
from ..editing.motion_editing import EditedMotion, edit_motion
from ..tracking.facing import twist_angle, upright_rotation
from .hurrying import bound_paces

Reaim = Callable[[Sequence[Array]], Clip]
"""Makes a motion anew with targets moved by (3,) metres, one for each cue."""


@dataclass(frozen=True)
class WantedMoment:
    """What a motion is to do: at frame ``at`` of it, have its root at ``place`` (x, y in metres), turned by ``turn``.

    time_s: when that is to be, where not at its own time. turn: radians that it faces away from where it was to.
    rigid_s: seconds around it that keep their shape. limb: a hand or foot that is to be at ``hit`` (x, y, z in metres).
    """

    at: int
    time_s: float
    place: tuple[float, float] | None
    turn: float | None
    rigid_s: float
    limb: str = ""
    hit: tuple[float, float, float] | None = None


def reach_moments(
    body: BodyModel, clip: Clip, wanted: Sequence[WantedMoment], numbers: FrameNumbers, hurry: float = 1.0
) -> EditedMotion | None:
    """The clip with all that is wanted in it, each key moment at its time; None where nothing is to be changed.

    numbers: how frames are told in messages, such as of a target that is out of reach. hurry: how many times as fast
    as it is it may be played, where moments are to be sooner.
    """
    moved = any(abs(one.time_s - one.at / clip.fps) > 1e-6 for one in wanted)
    if not moved and not any(one.place is not None or one.turn is not None or one.hit is not None for one in wanted):
        return None
    root = clip.skeleton.index(body.links[0].bone)
    heading = twist_angle(clip.world()[1][:, root], upright_rotation(body))
    constraints = [
        EditConstraint(
            one.at,
            one.time_s,
            one.place,
            None if one.turn is None else float(heading[one.at]) + one.turn,
            one.rigid_s,
        )
        for one in wanted
    ]
    reaches = [Reach(one.at, one.limb, one.hit, one.rigid_s) for one in wanted if one.hit is not None]
    bounds = bound_paces({one.at: one.time_s for one in wanted}, hurry)
    return edit_motion(body, clip, constraints, reaches, bounds=bounds, numbers=numbers)


def make_reaim(
    body: BodyModel, clip: Clip, wanted: Sequence[WantedMoment], numbers: FrameNumbers, hurry: float = 1.0
) -> Reaim:
    """What makes the edited clip anew with places and targets moved by (3,) metres, one for each moment."""

    def reaim(moved: Sequence[Array]) -> Clip:
        shifted = []
        for one, (x, y, z) in zip(wanted, (shift.tolist() for shift in moved), strict=True):
            place = None if one.place is None else (one.place[0] + x, one.place[1] + y)
            hit = None if one.hit is None else (one.hit[0] + x, one.hit[1] + y, one.hit[2] + z)
            shifted.append(replace(one, place=place, hit=hit))
        edited = reach_moments(body, clip, shifted, numbers, hurry)
        return clip if edited is None else edited.clip

    return reaim
