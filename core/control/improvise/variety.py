# SPDX-License-Identifier: GPL-3.0-or-later
"""How varied random rollouts are: how much of the library they come near, how far they get apart, what they do most."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...geometry.quaternions import Array
from ...motion.library import Library
from ..tracking_policy.reference_streams import ReferenceStreams
from .body_states import Floats, StateReader
from .stream_matching import describe_stream_frames, match_features, square_distances

_FRAMES = 3000
_REACH = 0.9  # quantile of the distances between clips
_ALONE_M = 0.1  # where there is one clip only, how near is near
_PART = 512


@dataclass(frozen=True, eq=False)
class KnownMotion:
    """Frames of the library to compare with. features: (M, 6 L) as ``match_features`` has them. style: (M,) index into
    ``styles``. reach_m: how near two states are to be alike: nine of ten frames are as near to one of another clip.
    """

    features: Floats
    style: NDArray[np.int64]
    styles: tuple[str, ...]
    reach_m: float

    def nearest(self, rows: Floats) -> tuple[NDArray[np.int64], Array]:
        """(N,) which frame is nearest to states (N, 15 L), and (N,) metres to it."""
        index, distance = [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
        for part in np.array_split(rows, len(rows) // _PART + 1):
            square = square_distances(match_features(part), self.features)
            index.append(square.argmin(axis=1))
            distance.append(np.sqrt(square.min(axis=1)))
        return np.concatenate(index), np.concatenate(distance)

    def covered(self, rows: Floats) -> NDArray[np.bool_]:
        """(M,) which frames some of the states (N, 15 L) come near to."""
        found = np.full(len(self.features), np.inf)
        for part in np.array_split(rows, len(rows) // _PART + 1):
            if len(part):
                np.minimum(found, square_distances(match_features(part), self.features).min(axis=0), out=found)
        near: NDArray[np.bool_] = found <= self.reach_m**2
        return near


def sample_known_motion(
    streams: ReferenceStreams, clips: Sequence[int], library: Library, reader: StateReader
) -> KnownMotion:
    """Frames of the library's clips, evenly. streams: one for each of the clips."""
    frames = np.linspace(0, len(streams) - 1, min(_FRAMES, len(streams))).astype(np.int64)
    stream = np.searchsorted(streams.starts, frames, side="right") - 1
    features = match_features(describe_stream_frames(streams, reader, frames))
    names = [library.names[clip].split("_")[0].lower() for clip in clips]
    styles = tuple(sorted(set(names)))
    style = np.array([styles.index(name) for name in names], dtype=np.int64)[stream]
    return KnownMotion(features, style, styles, _find_reach(features, stream))


def _find_reach(features: Floats, stream: NDArray[np.int64]) -> float:
    nearest = distance_to_others(features, stream)
    nearest = nearest[np.isfinite(nearest)]
    return float(np.quantile(nearest, _REACH)) if len(nearest) else _ALONE_M


def distance_to_others(features: Floats, stream: NDArray[np.int64]) -> Array:
    """(M,) metres from frames to the nearest of another stream; infinite where there is none."""
    found = np.full(len(features), np.inf)
    for rows in np.array_split(np.arange(len(features)), len(features) // _PART + 1):
        square = square_distances(features[rows], features)
        square[stream[rows][:, None] == stream[None, :]] = np.inf
        found[rows] = np.sqrt(square.min(axis=1))
    return found


def measure_variety(known: KnownMotion, rows: Floats) -> dict[str, Any]:
    """Coverage and styles of states (..., 15 L) that were visited; those that are no numbers are left out.

    coverage: share of the library's frames that some state came near to. evenness: of the time in each style, 1 where
    all have the library's share and 0 where there is one style only: what sinks has little of it.
    """
    flat = rows.reshape(-1, rows.shape[-1])
    flat = flat[np.isfinite(flat).all(axis=1)]
    if not len(flat):
        return {"coverage": 0.0, "styles": {}, "evenness": 0.0}
    near, (index, distance) = known.covered(flat), known.nearest(flat)
    spent = np.bincount(known.style[index], minlength=len(known.styles)) / len(flat)
    styles = {
        name: {
            "library": float((known.style == number).mean()),
            "time": float(spent[number]),
            "coverage": float(near[known.style == number].mean()),
        }
        for number, name in enumerate(known.styles)
    }
    return {
        "coverage": float(near.mean()),
        "near_m": known.reach_m,
        "distance_m": float(np.median(distance)),
        "styles": styles,
        "evenness": _entropy(spent) / max(_entropy(np.bincount(known.style) / len(known.style)), 1e-9),
    }


def _entropy(share: Array) -> float:
    some = share[share > 0.0]
    return float(-(some * np.log(some)).sum())


def measure_spread(root: Array) -> float:
    """Metres between two of the bodies at (K, N, 3), on average over all pairs at the last moment of both."""
    last = []
    for body in range(root.shape[1]):
        known = np.flatnonzero(np.isfinite(root[:, body, 0]))
        last.append(root[known[-1], body, :2] if len(known) else np.zeros(2))
    places = np.array(last)
    apart = np.linalg.norm(places[:, None] - places[None], axis=-1)
    pairs = apart[np.triu_indices(len(places), 1)]
    return float(pairs.mean()) if len(pairs) else 0.0
