# SPDX-License-Identifier: GPL-3.0-or-later
"""In the manner of another motion: the style that its features tell, as a reward (section 3.3, equations 6 to 8)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....body.poses import link_transforms
from ....geometry.quaternions import Array
from ....learn.autoencoder import MotionEncoder, gram_distance, gram_matrix
from ..course import CONTROL_FPS, Course, Indices
from ..observations import Flags, Seen
from .pose_features import Looks
from .quantities import links_seen
from .smoothness import Smoothness
from .terms import NAME, weighed

_LONGEST = CONTROL_FPS  # steps of a window over what is no cycle
_SHARE = 0.6  # of the source's own distance from the manner: the scale of the reward
_FELT = 0.3  # of a cycle: how much the newest step is felt as

Gram = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Manner:
    """What is to be looked like. encoder: tells features. wanted: (U, U) the Gram matrix of the motion in the style."""

    encoder: MotionEncoder
    wanted: Gram

    def distance(self, looks: Array) -> Array:
        """(...) how far motions that look (..., T, F) are from the manner: equation 6 without its scale."""
        return np.asarray(gram_distance(gram_matrix(self.encoder(looks)), self.wanted))


def manner_of(encoder: MotionEncoder, looks: Array, mirrored: Array | None) -> Manner:
    """The manner of a motion that looks (T, F) like this; with its mirror image, if left shall be as right."""
    matrices = [gram_matrix(encoder(one)) for one in (looks, mirrored) if one is not None]
    return Manner(encoder, np.mean(matrices, axis=0))


class MannerStyle:
    """Equation 6 over a sliding window of one cycle, times the regulariser of equation 7.

    The features of a copy are told step by step from what it did last, and its Gram matrix from those of the last
    cycle. Where an episode begins nothing was done yet: the source is taken to have gone before.
    """

    name = NAME

    def __init__(self, course: Course, manner: Manner, strength: float = 1.0) -> None:
        self._manner, self.strength = manner, strength
        self._looks, self._smoothness = Looks(course.body), Smoothness(course)
        self.window = course.steps if course.cyclic else min(course.steps, _LONGEST)
        self._before = _Before(course, self._looks, manner.encoder, self.window)
        self.scale = _SHARE * max(float(gram_distance(self._before.gram, manner.wanted)), 1e-9)
        self._seen = np.zeros((0, manner.encoder.width, self._looks.size))
        self._features = np.zeros((0, self.window, manner.encoder.units), dtype=np.float32)
        self._count = 0

    def worth(self, seen: Seen) -> Array:
        """(N,) from 0 to 1."""
        self._seen = np.roll(self._seen, -1, axis=1)
        self._seen[:, -1] = np.nan_to_num(self._looks(*links_seen(seen)))
        newest = self._manner.encoder(self._seen)[:, 0]
        self._features[:, self._count % self.window] = newest
        self._count += 1
        away = self._away(newest)
        return weighed(np.exp(-away / self.scale) * self._smoothness.worth(seen), self.strength)

    def _away(self, newest: Gram) -> Array:
        """(N,) distances of the last cycle, of which the newest features (N, U) are felt more than their share.

        One step is a fortieth of a cycle, and what is done in it would hardly be felt before the next thirty are done.
        So the distance goes on along its slope, as if the newest step were several. Over a cycle that is no change.
        """
        grams = gram_matrix(self._features)
        apart = self._manner.wanted - grams
        away = np.maximum(np.sqrt(np.einsum("nuv,nuv->n", apart, apart)), 1e-6)
        ahead = np.einsum("nu,nuv,nv->n", newest, apart, newest, optimize=True)
        felt = _FELT * (ahead - np.einsum("nuv,nuv->n", apart, grams)) / away
        return np.asarray(np.maximum(away - felt, 0.0), dtype=float)

    def begin(self, which: Flags, seen: Seen) -> None:
        """Put the source before those that begin anew."""
        if len(self._seen) != len(which):
            self._seen = np.zeros((len(which), *self._seen.shape[1:]))
            self._features = np.zeros((len(which), *self._features.shape[1:]), dtype=np.float32)
        at = seen.at[which]
        self._seen[which] = self._before.looks(at, self._manner.encoder.width)
        places = (self._count - 1 - np.arange(self.window)) % self.window  # the newest first
        self._features[np.flatnonzero(which)[:, None], places] = self._before.features(at)
        self._smoothness.begin(which, seen)

    def state(self) -> dict[str, NDArray[Any]]:
        """What was seen and told last, and the velocities."""
        own: dict[str, NDArray[Any]] = {
            "seen": self._seen,
            "features": self._features,
            "count": np.array([self._count]),
        }
        return own | self._smoothness.state()

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Put back what ``state`` gave."""
        self._seen, self._features = np.array(state["seen"]), np.array(state["features"])
        self._count = int(state["count"].item())
        self._smoothness.restore(state)


class _Before:
    """A course as it looks and what features it has, up to each of its frames; what is no cycle stood still before."""

    def __init__(self, course: Course, looks: Looks, encoder: MotionEncoder, window: int) -> None:
        self._course, self._window = course, window
        self._own = looks(*link_transforms(course.body, course.qpos))
        frames = np.arange(course.steps + 1)
        self._told = encoder(self.looks(frames, encoder.width))[:, 0]
        self.gram = gram_matrix(self._told[: course.steps])

    def _back(self, at: Indices, count: int) -> Indices:
        """(N, count) the frames (N,) and those before them, the newest first."""
        back = at[:, None] - np.arange(count)
        return back % self._course.steps if self._course.cyclic else np.maximum(back, 0)

    def looks(self, at: Indices, count: int) -> Array:
        """(N, count, F) how it looked up to frames (N,), the newest last."""
        return np.asarray(self._own[self._back(at, count)[:, ::-1]])

    def features(self, at: Indices) -> Gram:
        """(N, window, U) what was told up to frames (N,), the newest first."""
        return np.asarray(self._told[self._back(at, self._window)])
