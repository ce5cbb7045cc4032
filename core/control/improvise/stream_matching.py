# SPDX-License-Identifier: GPL-3.0-or-later
"""Which moment of the library a body is nearest to, so that the expert can go on with it from there."""

import numpy as np
from numpy.typing import NDArray

from ...geometry.quaternions import Array
from ..tracking_policy.reference_streams import Indices, ReferenceStreams
from .body_states import NUMBERS, Floats, StateReader

_EVERY = 3  # frames of the streams from one candidate to the next
_REST_FRAMES = 45  # that a stream goes on for, at least, after a candidate
_SPEED_M = 0.12  # metres that a metre a second counts as
_OTHER_STREAMS = 0.35  # how much the streams' distances are shuffled, as a deviation of their logarithms
_BATCH = 20_000
_WAYS, _ROUNDS, _KNOWN = 32, 20, 3000
_SPEED_TELLS = 2.5  # how much more speed counts where ways are told apart, or standing would be a step
_LED_TO = 0.5  # how much nearer, as a logarithm of squares, what leads to a way of moving that is shown too seldom


def match_features(rows: Floats) -> Floats:
    """(N, 6 L) places and velocities of links, in metres, of states (N, 15 L)."""
    links = rows.reshape(len(rows), -1, NUMBERS)
    found = np.concatenate([links[:, :, :3], _SPEED_M * links[:, :, 9:12]], axis=2)
    return np.ascontiguousarray(found.reshape(len(rows), -1) / np.sqrt(links.shape[1]), dtype=np.float32)


def describe_stream_frames(streams: ReferenceStreams, reader: StateReader, frames: Indices) -> Floats:
    """(F, 15 L) states in frames (F,) of streams, a part at a time."""
    parts = np.array_split(frames, len(frames) // _BATCH + 1)
    return np.concatenate(
        [reader(streams.qpos[one].astype(float), streams.qvel[one].astype(float)).rows for one in parts]
    )


def group_ways(features: Floats) -> NDArray[np.int64]:
    """(M,) numbers from 0 on, without gaps, of ways of moving: groups of features (M, 6 L) that are alike (k-means)."""
    by_link = features.reshape(len(features), -1, 6).copy()
    by_link[:, :, 3:] *= _SPEED_TELLS
    features = by_link.reshape(len(features), -1)
    known = features[np.linspace(0, len(features) - 1, min(_KNOWN, len(features))).astype(np.int64)]
    middles = known[np.linspace(0, len(known) - 1, min(_WAYS, len(known))).astype(np.int64)]
    for _ in range(_ROUNDS):
        group = square_distances(known, middles).argmin(axis=1)
        middles = np.stack([known[group == one].mean(axis=0) for one in np.unique(group)])
    parts = np.array_split(features, len(features) // _BATCH + 1)
    group = np.concatenate([square_distances(part, middles).argmin(axis=1) for part in parts])
    return np.unique(group, return_inverse=True)[1].astype(np.int64)


def lacking_ways(wanted: Array, shown: Array) -> Array:
    """(W,) from -1 to 1: the logarithm of how many times too seldom each way of moving is shown."""
    return np.clip(np.log(wanted / np.maximum(shown, 1e-6)), -1.0, 1.0)


def square_distances(first: Floats, second: Floats) -> Floats:
    """(N, M) squares of the distances between features (N, F) and (M, F)."""
    square = np.einsum("nk,nk->n", first, first)[:, None] + np.einsum("mk,mk->m", second, second)[None]
    square -= 2.0 * (first @ second.T)
    found: Floats = np.maximum(square, 0.0)
    return found


class StreamMatcher:
    """The nearest frames of streams to states."""

    def __init__(self, streams: ReferenceStreams, reader: StateReader) -> None:
        rest = streams.ends - np.arange(len(streams))
        self.frames: Indices = np.flatnonzero(rest >= min(_REST_FRAMES, int(np.diff(streams.starts).max()) // 2))[
            ::_EVERY
        ]
        self._stream = np.searchsorted(streams.starts, self.frames, side="right") - 1
        self._features = match_features(describe_stream_frames(streams, reader, self.frames))
        self._squares = np.einsum("fk,fk->f", self._features, self._features)
        self._way = group_ways(self._features)
        later = np.minimum(self.frames + _REST_FRAMES, streams.ends[self.frames])
        self._leads_to = self._way[np.minimum(np.searchsorted(self.frames, later), len(self.frames) - 1)]
        self.wanted: Array = np.bincount(self._way) / len(self._way)
        """(W,) the library's shares of ways of moving."""

    def find(self, rows: Floats, rng: np.random.Generator, shown: Array | None = None) -> Indices:
        """(N,) frames near states (N, 15 L): not always the nearest, so that what is near is gone over to.

        shown: (W,) shares of ways of moving so far: what leads to those that are lacking counts as nearer.
        """
        wanted = match_features(rows)
        square = self._squares - 2.0 * (wanted @ self._features.T)
        square += np.einsum("nk,nk->n", wanted, wanted)[:, None]
        streams = int(self._stream[-1]) + 1
        shuffled = np.exp(_OTHER_STREAMS * rng.standard_normal((len(rows), streams), dtype=np.float32))
        weighed = np.maximum(square, 1e-6) * shuffled[:, self._stream]
        if shown is not None:
            weighed *= np.exp(-_LED_TO * lacking_ways(self.wanted, shown)[self._leads_to]).astype(np.float32)
        return self.frames[np.argmin(weighed, axis=1)]

    def shares(self, frames: Indices) -> Array:
        """(W,) of ways of moving in frames that were found (N,)."""
        return np.bincount(self._way[np.searchsorted(self.frames, frames)], minlength=len(self.wanted)) / len(frames)

    def distance_m(self, rows: Floats) -> Array:
        """(N,) metres (root of the mean square over links, speeds included) to the nearest frame."""
        wanted = match_features(rows)
        square = self._squares - 2.0 * (wanted @ self._features.T) + np.einsum("nk,nk->n", wanted, wanted)[:, None]
        found: Array = np.sqrt(np.maximum(square.min(axis=1), 0.0))
        return found
