# SPDX-License-Identifier: GPL-3.0-or-later
"""What a clip must be before anyone spends time on it."""

from ..errors import BadMotion
from .clip import Clip

SHORTEST_S = 0.1
FEWEST_FRAMES = 4


def require_simulatable(clip: Clip) -> None:
    """Refuse a clip too short to have a motion in it."""
    if len(clip) < FEWEST_FRAMES or clip.duration_s < SHORTEST_S:
        raise BadMotion(
            f"'{clip.name}' is too short to simulate: {len(clip)} frames, {clip.duration_s:.2f} s",
            f"Choose an Action or frame range of at least {FEWEST_FRAMES} frames and {SHORTEST_S} s",
        )
