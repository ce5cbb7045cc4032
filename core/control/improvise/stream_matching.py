# SPDX-License-Identifier: GPL-3.0-or-later
"""Which moment of the library a body is nearest to, so that the expert can go on with it from there."""

import numpy as np

from ...geometry.quaternions import Array
from ..tracking_policy.reference_streams import Indices, ReferenceStreams
from .body_states import NUMBERS, Floats, StateReader

_EVERY = 3  # frames of the streams from one candidate to the next
_REST_FRAMES = 45  # that a stream goes on for, at least, after a candidate
_SPEED_M = 0.12  # metres that a metre a second counts as
_OTHER_STREAMS = 0.35  # how much the streams' distances are shuffled, as a deviation of their logarithms
_BATCH = 20_000


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

    def find(self, rows: Floats, rng: np.random.Generator) -> Indices:
        """(N,) frames near states (N, 15 L): not always the nearest, so that what is near is gone over to."""
        wanted = match_features(rows)
        square = self._squares - 2.0 * (wanted @ self._features.T)
        square += np.einsum("nk,nk->n", wanted, wanted)[:, None]
        streams = int(self._stream[-1]) + 1
        shuffled = np.exp(_OTHER_STREAMS * rng.standard_normal((len(rows), streams), dtype=np.float32))
        return self.frames[np.argmin(np.maximum(square, 1e-6) * shuffled[:, self._stream], axis=1)]

    def distance_m(self, rows: Floats) -> Array:
        """(N,) metres (root of the mean square over links, speeds included) to the nearest frame."""
        wanted = match_features(rows)
        square = self._squares - 2.0 * (wanted @ self._features.T) + np.einsum("nk,nk->n", wanted, wanted)[:, None]
        found: Array = np.sqrt(np.maximum(square.min(axis=1), 0.0))
        return found
