# SPDX-License-Identifier: GPL-3.0-or-later
"""Styles in which somebody who goes comes to a stand: whoever is told to stop may play them, whatever its style.

A walk that is limited to clips of walking has no step to stop with, and goes metres beyond the end of its path.
"""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ...body import BodyModel
from ...geometry.quaternions import Array
from ..tracking.library_building import PreparedClip
from .database import MatchingDatabase
from .features import FPS
from .getups import place_hips

# Who goes faster than the first, and keeps less than the second of its speed over a second, comes to a stand.
_GOES_M_S, _KEEPS = 0.3, 0.7
_AS_HIGH = 0.05  # of the hips' height that two styles may be apart: who crouches does not stand up to stop


def find_stopping_styles(database: MatchingDatabase, names: tuple[str, ...]) -> tuple[str, ...]:
    """What somebody in these styles may play besides to come to a stand; nothing for who has no style."""
    if not names:
        return ()
    high = _hip_height(database, database.candidates(names).frames)
    found = []
    for style in database.library.tag_names():
        frames = np.flatnonzero(database.library.find_frames(style) & database.usable & ~database.grounded)
        if style in names or not len(frames):
            continue
        speed = np.linalg.norm(database.track.vel, axis=-1)
        later = np.minimum(frames + int(FPS), database.ends[frames])
        alike = abs(_hip_height(database, frames) - high) < _AS_HIGH * high
        if alike and _comes_to_a_stand(speed[frames], speed[later]):
            found.append(style)
    return tuple(found)


def name_stopping_styles(
    body: BodyModel, clips: Sequence[PreparedClip], styles: Sequence[Collection[str]]
) -> frozenset[str]:
    """The styles of clips (K,) in which one comes to a stand; styles: (K,) of each clip. It takes no time."""
    speeds: Mapping[str, list[tuple[Array, Array]]] = {name: [] for names in styles for name in names}
    for clip, names in zip(clips, styles, strict=True):
        speed = FPS * np.linalg.norm(np.diff(place_hips(body, clip)[:, :2], axis=0), axis=-1)
        for name in names:
            speeds[name].append((speed, speed[np.minimum(np.arange(len(speed)) + int(FPS), len(speed) - 1)]))
    joined = {
        name: [np.concatenate(parts) for parts in zip(*pairs, strict=True)] for name, pairs in speeds.items() if pairs
    }
    return frozenset(name for name, (now, later) in joined.items() if _comes_to_a_stand(now, later))


def _comes_to_a_stand(speed: Array, later: Array) -> bool:
    """Of speeds in m/s, and those a second later."""
    goes = float(np.mean(speed)) if len(speed) else 0.0
    return bool(goes > _GOES_M_S and np.mean(later) < _KEEPS * goes)


def _hip_height(database: MatchingDatabase, frames: NDArray[np.int64]) -> float:
    """Metres, the mean in frames of the library."""
    return float(database.root_pos[frames, 0, 2].mean())
