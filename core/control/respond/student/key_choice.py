# SPDX-License-Identifier: GPL-3.0-or-later
"""Which key pose a student is told to come to: that of the shown example that began most like this.

A deed of a recorded library has many key moments, of either hand and of all heights. A network that is told the deed
alone learns their mean, which is none of them. What it is told besides action, time, direction and place is therefore
where the joints are to be.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....geometry.quaternions import Array
from ....learn.recurrent import Floats32

_LEAST_SCALE_M = 0.05
_TIME_S = 0.25  # a difference in time counts as much as one of a standard deviation in all joints
_FLOATS = ("targets", "poses", "centre", "spread", "asked_pose", "asked_left_s")
_NUMBERS = ("asked_word", "asked_key")


@dataclass(frozen=True, eq=False)
class KeyChoice:
    """K numbers say where joints are; what is chosen from are G key poses and M examples.

    targets: (G, P) the poses whole, as a raw state has them: places, K numbers, and rotations. poses: (G, K) the places
    normalised by centre and spread (K,). asked_pose: (M, K), of the frame in which an example was asked for.
    asked_left_s: (M,) the time it had. asked_word, asked_key: (M,) what it was, and the key pose that it came to.
    """

    targets: Floats32
    poses: Floats32
    centre: Floats32
    spread: Floats32
    asked_pose: Floats32
    asked_left_s: Floats32
    asked_word: NDArray[np.int64]
    asked_key: NDArray[np.int64]

    @property
    def size(self) -> int:
        """K; 0 where there are no deeds."""
        return self.poses.shape[1]

    def choose(self, words: NDArray[np.int64], places: Array, left_s: Array) -> NDArray[np.int64]:
        """(N,) key poses for characters with joints at ``places`` (N, K) metres; -1 for words that have none."""
        found = np.full(len(words), -1, dtype=np.int64)
        poses = (places - self.centre) / self.spread
        for word in np.unique(words).tolist():
            examples = np.flatnonzero(self.asked_word == word)
            if not len(examples):
                continue
            own = np.flatnonzero(words == word)
            far = np.square(poses[own][:, None] - self.asked_pose[examples]).mean(axis=-1)
            far += np.square((left_s[own][:, None] - self.asked_left_s[examples]) / _TIME_S)
            found[own] = self.asked_key[examples[far.argmin(axis=1)]]
        return found

    def tell(self, keys: NDArray[np.int64]) -> Floats32:
        """(N, K) what a network is told of key poses; zeros for -1."""
        if not len(self.poses):
            return np.zeros((len(keys), self.size), dtype=np.float32)
        return np.where((keys >= 0)[:, None], self.poses[np.maximum(keys, 0)], np.float32(0.0))

    def add_examples(
        self, places: Array, left_s: Array, words: NDArray[np.int64], keys: NDArray[np.int64]
    ) -> "KeyChoice":
        """A choice that knows examples: where joints were in metres (M, K), the time, the word, the key pose."""
        poses = ((places - self.centre) / self.spread).astype(np.float32)
        return replace(
            self,
            asked_pose=poses,
            asked_left_s=left_s.astype(np.float32),
            asked_word=words.astype(np.int64),
            asked_key=keys.astype(np.int64),
        )

    def to_arrays(self) -> dict[str, np.ndarray]:
        """For a file."""
        return {f"key_{name}": np.asarray(getattr(self, name)) for name in (*_FLOATS, *_NUMBERS)}


def begin_key_choice(targets: Array, count: int) -> KeyChoice:
    """A choice of key poses (G, P), the first ``count`` numbers of which are places; no example is known yet."""
    places = targets[:, :count]
    known = len(places) > 0
    spread = np.maximum(places.std(axis=0), _LEAST_SCALE_M) if known else np.ones(count)
    centre = places.mean(axis=0) if known else np.zeros(count)
    found = (targets, (places - centre) / spread, centre, spread, np.zeros((0, count)), np.zeros(0))
    none = np.zeros(0, dtype=np.int64)
    floats = dict(zip(_FLOATS, (np.asarray(array, dtype=np.float32) for array in found), strict=True))
    return KeyChoice(**floats, asked_word=none, asked_key=none)


def key_choice_from_arrays(arrays: Mapping[str, Any], words: int) -> KeyChoice:
    """What ``to_arrays`` gave; a ``ValueError`` for what does not fit together."""
    own = {name: np.asarray(arrays[f"key_{name}"]) for name in (*_FLOATS, *_NUMBERS)}
    whole = all(own[name].dtype == np.float32 and np.isfinite(own[name]).all() for name in _FLOATS)
    whole = whole and all(own[name].dtype == np.int64 for name in _NUMBERS)
    if not whole or any(own[name].ndim != 2 for name in ("targets", "poses", "asked_pose")):
        raise ValueError("its key poses are no numbers")
    (poses, size), examples = own["poses"].shape, len(own["asked_pose"])
    fits = own["centre"].shape == own["spread"].shape == (size,) and bool((own["spread"] > 0.0).all())
    fits = fits and own["asked_pose"].shape[1] == size and len(own["targets"]) == poses
    fits = fits and all(own[name].shape == (examples,) for name in ("asked_left_s", *_NUMBERS))
    fits = fits and _within(own["asked_word"], words) and _within(own["asked_key"], poses)
    if not fits:
        raise ValueError("its key poses do not fit together")
    return KeyChoice(**own)


def _within(numbers: NDArray[np.int64], stop: int) -> bool:
    return bool(((numbers >= 0) & (numbers < stop)).all())
