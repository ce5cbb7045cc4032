# SPDX-License-Identifier: GPL-3.0-or-later
"""What cannot be simulated is refused at once, before a job is made of it."""

import numpy as np

from ..errors import BadMotion
from .clip import Clip
from .repair import repair_clip

FEWEST_FRAMES = 4
SHORTEST_S = 0.1
# Dropouts at an end have a neighbour on one side only. Shorter ones are held; what is longer would be a statue that
# begins to run.
_LONGEST_END_S = 0.15
_MOVES_M_S = 0.5
_MOSTLY = 0.5  # of all frames


def require_simulatable(clip: Clip) -> None:
    """Refuse a clip too short to have a motion in it, or without a body at its beginning or end."""
    if len(clip) < FEWEST_FRAMES or clip.duration_s < SHORTEST_S:
        raise BadMotion(
            f"'{clip.name}' is too short to simulate: {len(clip)} frames, {clip.duration_s:.2f} s",
            f"Choose an Action or frame range of at least {FEWEST_FRAMES} frames and {SHORTEST_S} s",
        )
    missing = [
        f"its {where} {count} frames"
        for where, count in zip(("first", "last"), _lost_ends(clip), strict=True)
        if count > _LONGEST_END_S * clip.fps
    ]
    if missing:
        raise BadMotion(
            f"The capture of '{clip.name}' has lost the body in {' and '.join(missing)}",
            f"Choose a frame range without {' and '.join(missing)}",
        )


def _lost_ends(clip: Clip) -> tuple[int, int]:
    """How many frames at the beginning and at the end have no body: far from all others, or frozen in full motion."""
    lost = np.zeros(len(clip), dtype=bool)
    lost[list(repair_clip(clip)[1].lost_frames)] = True
    if lost.mean() > _MOSTLY:  # too fast throughout: that is a wrong scale or frame rate, and reported elsewhere
        lost[:] = False
    return _lost_beginning(clip, lost, 1), _lost_beginning(clip, lost, -1)


def _lost_beginning(clip: Clip, lost: np.ndarray, way: int) -> int:
    """The same for one end; ``way`` is 1 for the beginning and -1 for the end, seen from there."""
    far = _leading(lost[::way])
    places = clip.world()[0][::way]
    still = np.all(places[1:] == places[:-1], axis=(1, 2))
    frozen = _leading(still)
    if not frozen or frozen + 2 >= len(clip):
        return far
    # A body at rest may as well be frozen; one in full motion a frame later cannot have been.
    moved = np.linalg.norm(places[frozen + 1] - places[frozen + 2], axis=-1).mean() * clip.fps
    return max(far, frozen + 1 if moved > _MOVES_M_S else 0)


def _leading(flags: np.ndarray) -> int:
    """How many flags are on before the first that is not."""
    return len(flags) if flags.all() else int(np.argmin(flags))
