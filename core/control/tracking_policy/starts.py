# SPDX-License-Identifier: GPL-3.0-or-later
"""Where episodes begin: anywhere on the streams, more often a little before where characters fall."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..matching.features import FPS
from .reference_streams import Indices, ReferenceStreams

_SPAN = FPS  # frames of which falls are counted together
_EARLIER = 20  # frames before a fall that an episode should at least begin
_UNIFORM = 0.6
_MEMORY = 0.995  # of falls a span, for each call
_LEAST_REST = 2 * FPS  # frames that are left of the stream


class StartDistribution:
    """Frames to begin with, and what is known of where characters fall."""

    def __init__(self, streams: ReferenceStreams, rng: np.random.Generator, *, hard: bool = True) -> None:
        self._rng, self._hard = rng, hard
        frames = np.arange(len(streams))
        self._span = frames // int(_SPAN)
        self._usable = streams.ends - frames >= min(_LEAST_REST, int(np.diff(streams.starts).max()) - 1)
        self.falls = np.zeros(int(self._span[-1]) + 1)
        usable = np.bincount(self._span[self._usable], minlength=len(self.falls))
        self._open = usable > 0
        self._uniform = usable / usable.sum()
        self._streams = streams

    def note_falls(self, frame: Indices) -> None:
        """Characters have fallen in frames (K,)."""
        self.falls *= _MEMORY
        earlier = np.maximum(
            frame - _EARLIER, self._streams.starts[np.searchsorted(self._streams.starts, frame, "right") - 1]
        )
        np.add.at(self.falls, self._span[earlier], 1.0)

    def sample(self, count: int) -> Indices:
        """(count,) frames."""
        chance = self._uniform
        weights = self.falls * self._open
        if self._hard and weights.sum() > 0.0:
            chance = _UNIFORM * self._uniform + (1.0 - _UNIFORM) * weights / weights.sum()
        spans = self._rng.choice(len(chance), size=count, p=chance)
        frames = spans * int(_SPAN) + self._rng.integers(int(_SPAN), size=count)
        frames = np.minimum(frames, len(self._usable) - 1)
        found: Indices = np.where(self._usable[frames], frames, np.maximum(frames - int(_SPAN), 0))
        return np.where(self._usable[found], found, self._any(count))

    def _any(self, count: int) -> Indices:
        frames = np.flatnonzero(self._usable)
        return self._rng.choice(frames, size=count)

    def state(self) -> dict[str, NDArray[Any]]:
        """What ``restore`` needs."""
        return {"falls": self.falls.copy()}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Put back what ``state`` gave."""
        self.falls = np.array(state["falls"])
