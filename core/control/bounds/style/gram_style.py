# SPDX-License-Identifier: GPL-3.0-or-later
"""The style of another motion as a reward: distance of Gram matrices of encoded features (equations 6 to 8)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....body.poses import link_transforms
from ....geometry.quaternions import Array
from ....learn.autoencoder import MotionEncoder, gram_distance, gram_matrix
from ..observations import Flags, RelativeKinematics
from ..reference_trajectory import CONTROL_FPS, Indices, ReferenceTrajectory
from .energy_and_volume import NAME, apply_strength
from .pose_features import PoseFeatures
from .quantities import links_of
from .smoothness import SmoothnessRegulariser

_MAX_WINDOW = CONTROL_FPS  # control steps, where there is no cycle
_SCALE = 0.6  # of the reward, of the reference's own distance from the style
_EXTRAPOLATION = 0.3  # of a cycle, that the newest step counts for

Gram = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class GramStyle:
    """A style: encoder of pose features, and target_gram: (U, U) G_s, the Gram matrix of the motion in the style."""

    encoder: MotionEncoder
    target_gram: Gram

    def distance(self, pose_features: Array) -> Array:
        """(...) distances of motions with pose features (..., T, F) from the style: equation 6 without its scale."""
        return np.asarray(gram_distance(gram_matrix(self.encoder(pose_features)), self.target_gram))


def make_gram_style(encoder: MotionEncoder, pose_features: Array, mirrored: Array | None) -> GramStyle:
    """The style of a motion with pose features (T, F); averaged with its mirror image, for a symmetric gait."""
    matrices = [gram_matrix(encoder(one)) for one in (pose_features, mirrored) if one is not None]
    return GramStyle(encoder, np.mean(matrices, axis=0))


class GramStyleReward:
    """Equation 6 over a sliding window of one cycle, times the regulariser of equation 7.

    The features of a copy are encoded step by step from its last poses, and its Gram matrix from those of the last
    cycle. The history of a new episode is that of the reference.
    """

    name = NAME

    def __init__(self, reference: ReferenceTrajectory, style: GramStyle, strength: float = 1.0) -> None:
        self._style, self.strength = style, strength
        self._pose_features, self._smoothness = PoseFeatures(reference.body), SmoothnessRegulariser(reference)
        self.window = reference.steps if reference.cyclic else min(reference.steps, _MAX_WINDOW)
        self._reference_history = _ReferenceHistory(reference, self._pose_features, style.encoder, self.window)
        self.scale = _SCALE * max(float(gram_distance(self._reference_history.gram, style.target_gram)), 1e-9)
        self._history = np.zeros((0, style.encoder.width, self._pose_features.size))
        self._features = np.zeros((0, self.window, style.encoder.units), dtype=np.float32)
        self._count = 0

    def evaluate(self, kinematics: RelativeKinematics) -> Array:
        """(N,) from 0 to 1."""
        self._history = np.roll(self._history, -1, axis=1)
        self._history[:, -1] = np.nan_to_num(self._pose_features(*links_of(kinematics)))
        newest = self._style.encoder(self._history)[:, 0]
        self._features[:, self._count % self.window] = newest
        self._count += 1
        distance = self._extrapolated_distance(newest)
        return apply_strength(np.exp(-distance / self.scale) * self._smoothness.evaluate(kinematics), self.strength)

    def _extrapolated_distance(self, newest: Gram) -> Array:
        """(N,) distances of the last cycle, in which the newest features (N, U) weigh more than their share.

        One step is a fortieth of a cycle, and would hardly change the reward before the next thirty are done. So the
        distance is extrapolated along its gradient, as if the newest step were several. Over a cycle that is no change.
        """
        grams = gram_matrix(self._features)
        difference = self._style.target_gram - grams
        distance = np.maximum(np.sqrt(np.einsum("nuv,nuv->n", difference, difference)), 1e-6)
        newest_product = np.einsum("nu,nuv,nv->n", newest, difference, newest, optimize=True)
        extrapolated = _EXTRAPOLATION * (newest_product - np.einsum("nuv,nuv->n", difference, grams)) / distance
        return np.asarray(np.maximum(distance - extrapolated, 0.0), dtype=float)

    def reset(self, which: Flags, kinematics: RelativeKinematics) -> None:
        """Let the reference be the history of copies (N,) that begin a new episode."""
        if len(self._history) != len(which):
            self._history = np.zeros((len(which), *self._history.shape[1:]))
            self._features = np.zeros((len(which), *self._features.shape[1:]), dtype=np.float32)
        at = kinematics.at[which]
        self._history[which] = self._reference_history.pose_features(at, self._style.encoder.width)
        places = (self._count - 1 - np.arange(self.window)) % self.window  # the newest first
        self._features[np.flatnonzero(which)[:, None], places] = self._reference_history.features(at)
        self._smoothness.reset(which, kinematics)

    def state(self) -> dict[str, NDArray[Any]]:
        """The last pose features and encoded features, and the velocities."""
        own: dict[str, NDArray[Any]] = {
            "seen": self._history,
            "features": self._features,
            "count": np.array([self._count]),
        }
        return own | self._smoothness.state()

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Put back what ``state`` gave."""
        self._history, self._features = np.array(state["seen"]), np.array(state["features"])
        self._count = int(state["count"].item())
        self._smoothness.restore(state)


class _ReferenceHistory:
    """Pose features and encoded features of a reference up to each frame; before a motion that ends it stood still."""

    def __init__(
        self, reference: ReferenceTrajectory, pose_features: PoseFeatures, encoder: MotionEncoder, window: int
    ) -> None:
        self._reference, self._window = reference, window
        self._reference_features = pose_features(*link_transforms(reference.body, reference.qpos))
        frames = np.arange(reference.steps + 1)
        self._encoded = encoder(self.pose_features(frames, encoder.width))[:, 0]
        self.gram = gram_matrix(self._encoded[: reference.steps])

    def _back(self, at: Indices, count: int) -> Indices:
        """(N, count) the frames (N,) and those before them, the newest first."""
        back = at[:, None] - np.arange(count)
        return back % self._reference.steps if self._reference.cyclic else np.maximum(back, 0)

    def pose_features(self, at: Indices, count: int) -> Array:
        """(N, count, F) pose features up to frames (N,), the newest last."""
        return np.asarray(self._reference_features[self._back(at, count)[:, ::-1]])

    def features(self, at: Indices) -> Gram:
        """(N, window, U) encoded features up to frames (N,), the newest first."""
        return np.asarray(self._encoded[self._back(at, self._window)])
