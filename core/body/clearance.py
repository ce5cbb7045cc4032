# SPDX-License-Identifier: GPL-3.0-or-later
"""How high a body's parts are above the ground, and clips put on the ground that they were captured on."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..geometry.flags import find_runs
from ..geometry.quaternions import Array
from ..motion import Clip
from .four_legs import flag_soles, lowest_height
from .hovering import compute_hover_drop
from .model import BodyModel

# Where a lowest point moves slower than this for as long, it is taken to stand on something. At the top of a jump a
# body is as slow for 0.05 s.
_STANDS_M_S, _STANDS_S = 0.25, 0.07
_OFTEN = 0.1  # of the frames
_REACH_S = 0.12
# A foot may sink in by this much before a clip is lifted: contacts are soft, and captured shoes have soles.
SOFT_M = 0.005


@dataclass(frozen=True)
class GroundingReport:
    """What was done to put a clip on the ground: metres. ``shift`` for the whole clip, ``lift`` and ``drop`` at most.

    rise: by how much it goes up and down with ground that is not flat.
    """

    shift: float
    lift: float
    lifted_frames: int
    drop: float = 0.0
    lowered_frames: int = 0
    rise: float = 0.0

    @property
    def message(self) -> str:
        """In plain words."""
        text = f"The floor of the clip was at {-100 * self.shift:.1f} cm and is now at zero"
        if self.lifted_frames:
            text += f"; {self.lifted_frames} frames that cut into it were lifted by up to {100 * self.lift:.1f} cm"
        if self.lowered_frames:
            text += f"; {self.lowered_frames} frames that hovered were lowered by up to {100 * self.drop:.1f} cm"
        if self.rise:
            text += f"; it follows the ground of the stage over {100 * self.rise:.0f} cm of height"
        return text


def link_clearances(body: BodyModel, clip: Clip) -> Array:
    """(T, L) metres from z = 0 up to the lowest point of each link's shapes, the links riding on their bones."""
    pos, quat = clip.world()
    lowest = np.empty((len(clip), len(body.links)))
    for i, link in enumerate(body.links):
        bone = clip.skeleton.index(link.bone)
        heights = [lowest_height(shape, pos[:, bone], quat[:, bone]) for shape in link.shapes]
        lowest[:, i] = np.min(heights, axis=0) if heights else pos[:, bone, 2]
    return lowest


def put_on_floor(body: BodyModel, clip: Clip) -> tuple[Clip, GroundingReport]:
    """The clip standing on z = 0 and no longer cutting into it, and what was done."""
    bottom = link_clearances(body, clip)
    shift = -_floor(body, bottom, clip.fps)
    lift = upper_envelope(np.maximum(-(bottom.min(1) + shift) - SOFT_M, 0.0), clip.fps)
    drop = compute_hover_drop(body, clip, bottom.min(1) + shift + lift)
    moved = np.array(clip.local_pos)
    for root in np.flatnonzero(clip.skeleton.parents < 0):
        moved[:, root, 2] += shift + lift - drop
    lowered = int(np.sum(drop > SOFT_M))
    report = GroundingReport(shift, float(lift.max()), int(np.sum(lift > SOFT_M)), float(drop.max()), lowered)
    return replace(clip, local_pos=moved), report


def floor_height(body: BodyModel, clip: Clip) -> float:
    """Metres: where the floor is that a clip was captured on."""
    return _floor(body, link_clearances(body, clip), clip.fps)


def _floor(body: BodyModel, bottom: Array, fps: float) -> float:
    """Metres: where the lowest parts stand still, as a median over such frames; else where the body is lowest.

    bottom: (T, L) the links' lowest points. Where feet stand often enough, they tell: a body that lies cuts into the
    floor, having no flesh in the capture, and would take the floor down with it.
    """
    soles = flag_soles(body)
    lowest = np.argmin(bottom, axis=1)
    height = bottom.min(1)
    same, slow = lowest[1:] == lowest[:-1], np.abs(np.diff(height)) * fps < _STANDS_M_S
    least = max(round(_STANDS_S * fps), 1)
    standing = keep_long_runs(same & slow, least)
    on_soles = standing & soles[lowest[1:]]
    # Of who stands on both feet now the one and now the other is lower.
    on_both = keep_long_runs(slow & soles[lowest[1:]] & soles[lowest[:-1]], least)
    for stands in (on_soles, on_both):
        if stands.sum() >= max(3.0, _OFTEN * len(height)):
            standing = stands
            break
    if standing.sum() < 3:
        return float(np.percentile(height, 5))
    heights = height[1:][standing]
    # In flight nothing stands; what is much higher than the lowest standing part is a slow moment of a leg.
    return float(np.median(heights[heights < np.percentile(heights, 20) + 0.08]))


def keep_long_runs(now: NDArray[np.bool_], frames: int) -> NDArray[np.bool_]:
    """(T,) where something holds for at least so many frames on end."""
    kept = np.zeros_like(now)
    for start, stop in find_runs(now):
        kept[start:stop] = stop - start >= frames
    return kept


def upper_envelope(need: Array, fps: float, reach_s: float = _REACH_S) -> Array:
    """(T,) a smooth curve that is nowhere below ``need`` (T,) and rises over about ``reach_s``."""
    reach = max(round(reach_s * fps), 1)
    padded = np.pad(need, reach, mode="edge")
    held = np.max([padded[k : k + len(need)] for k in range(2 * reach + 1)], axis=0)
    # A mean over the reach of a maximum over the reach never falls below the value itself.
    window = np.hanning(2 * reach + 3)[1:-1]
    return np.convolve(np.pad(held, reach, mode="edge"), window / window.sum(), mode="valid")
