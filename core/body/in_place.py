# SPDX-License-Identifier: GPL-3.0-or-later
"""Is a clip a cycle on the spot? It is if it ends as it begins, stays where it is, and its feet slide back under it.

What tells is how the feet move while they are low, not what the clip is called: they must slide the same way, at about
the same pace, for most of the time that they carry. Idles, punches and turns stand on still feet; a walk that travels
does too; and a crawl or a get-up does not end where it began.
"""

from dataclasses import dataclass

import numpy as np

from ..errors import SinewError
from ..geometry.quaternions import Array
from ..motion import Clip
from ..motion.loops import close_cycle, is_cyclic
from ..motion.travel import Travel
from .build import build_body
from .model import BodyModel
from .travel_estimation import Slides, estimate_travel, measure_slides, standing_height

_LEAST_STEP = 0.25  # of the height: a cycle that would travel less is shuffling or shifting weight
_MOST_SHIFT = 0.25  # of what it would travel: a root that moves more goes somewhere by itself
_PACE = (0.4, 2.0)  # times the travel's pace: a foot that slides back like this goes with the others
_LEAST_SHARE = 0.5  # of the time that feet carry, in which they must
_LEAST_FOOT_SHARE, _LEAST_FEET = 0.5, 0.5  # the same of a foot, and of how many feet that must be true


@dataclass(frozen=True, eq=False)
class InPlaceFinding:
    """A cycle on the spot, and the travel that its feet ask for."""

    travel: Travel
    message: str
    hint: str


def find_in_place(clip: Clip, body: BodyModel | None = None) -> InPlaceFinding | None:
    """The cycle's travel if it is one on the spot; None where it is none, or nothing is sure.

    body: of the clip's bones; None for one that is made of them alone.
    """
    if len(clip) < 6 or not is_cyclic(clip):
        return None
    if body is None:
        try:
            body = build_body(clip.skeleton, clip=clip)[0]
        except SinewError:
            return None  # no body, no feet
    cycle = close_cycle(clip)
    slides = measure_slides(body, cycle)
    if slides is None:
        return None
    travel = estimate_travel(slides, cycle.duration_s)
    if travel.step_m < _LEAST_STEP * standing_height(body, clip) or not _slides_back(slides, travel):
        return None
    if _root_shift(body, cycle) > _MOST_SHIFT * travel.step_m:
        return None
    return InPlaceFinding(
        travel, f"This cycle is on the spot: {describe_travel(travel)}", "Give it travel (--travel on)"
    )


def describe_travel(travel: Travel) -> str:
    """How fast the feet slide back under the body, in plain words."""
    words = f"its feet slide back at {travel.speed_m_s:.2f} m/s while they carry"
    if travel.yaw_rad_s:
        words += f", and turn by {abs(np.degrees(travel.turn_rad)):.0f}° a cycle"
    return words


def _slides_back(slides: Slides, travel: Travel) -> bool:
    """Whether feet that carry go with the travel, most of the time and most of them."""
    pace = travel.pace_at(slides.phase)[:, None] + travel.yaw_rad_s * _across(slides.place)
    square = np.maximum(np.sum(pace**2, axis=-1), 1e-9)
    along = -np.sum(slides.velocity * pace, axis=-1) / square
    goes = (along > _PACE[0]) & (along < _PACE[1])
    carried = np.maximum(slides.carries.sum(axis=0), 1e-9)
    share = np.sum(slides.carries * goes, axis=0) / carried
    together = float(np.sum(slides.carries * goes) / carried.sum())
    return together > _LEAST_SHARE and float(np.mean(share > _LEAST_FOOT_SHARE)) >= _LEAST_FEET


def _across(place: Array) -> Array:
    """(..., 2) places turned by a right angle: what a turn of one radian a second moves them by."""
    return np.stack([-place[..., 1], place[..., 0]], axis=-1)


def _root_shift(body: BodyModel, clip: Clip) -> float:
    """Metres over the ground from where the body is in the first frame to where it is in the last."""
    pos, _ = clip.world()
    root = clip.skeleton.index(body.links[0].bone)
    return float(np.linalg.norm((pos[-1, root] - pos[0, root])[:2]))
