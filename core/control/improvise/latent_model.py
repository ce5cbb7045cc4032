# SPDX-License-Identifier: GPL-3.0-or-later
"""What was learned, as it acts: a prior and a motor decoder, on plain arrays."""

from dataclasses import dataclass, replace

import numpy as np

from ...geometry.quaternions import Array
from ...learn.policy import Policy
from .body_states import Floats

_LEAST_LOG, _MOST_LOG = -5.0, 1.0
MOST_DEVIATIONS = 3.0
"""Of the prior, that a latent number may be led away from its mean."""


@dataclass(frozen=True, eq=False)
class LatentModel:
    """prior: from states (N, S) to means and log deviations (N, 2 Z). decoder: from states and latent vectors
    (N, S + Z) to servo targets (N, nu) in radians. steadier: from states to how far the prior's means are moved
    (N, Z), in its deviations, so that a body stays up; None for a prior as the data have it.
    """

    prior: Policy
    decoder: Policy
    steadier: Policy | None = None

    @property
    def latent_size(self) -> int:
        """Z."""
        return self.prior.action_size // 2

    @property
    def state_size(self) -> int:
        """S."""
        return self.prior.observation_size

    def prior_of(self, rows: Floats) -> tuple[Floats, Floats]:
        """(N, Z) means and deviations of the prior in states (N, S)."""
        mean, deviation = split_gaussian(self.prior(rows))
        if self.steadier is not None:
            mean = mean + deviation * np.clip(self.steadier(rows), -MOST_DEVIATIONS, MOST_DEVIATIONS)
        return mean, deviation

    def with_steadier(self, policy: Policy) -> "LatentModel":
        """The same with other steps that keep it up."""
        return replace(self, steadier=policy)

    def sample(self, rows: Floats, rng: np.random.Generator, noise: float = 1.0) -> Floats:
        """(N, Z) latent vectors. noise: share of the prior's deviation."""
        mean, deviation = self.prior_of(rows)
        drawn = rng.standard_normal(mean.shape, dtype=np.float32)
        return mean + np.float32(noise) * deviation * drawn

    def decode(self, rows: Floats, latent: Floats) -> Array:
        """(N, nu) servo targets in radians."""
        return np.asarray(self.decoder(np.concatenate([rows, latent], axis=1)), dtype=float)


def split_gaussian(both: Floats) -> tuple[Floats, Floats]:
    """(N, Z) means and (N, Z) deviations of numbers (N, 2 Z)."""
    mean, log = np.split(both, 2, axis=1)
    return mean, np.exp(np.clip(log, _LEAST_LOG, _MOST_LOG))


class DistilledLearner:
    """Encoder, prior and decoder on plain arrays, for rollouts."""

    def __init__(self, encoder: Policy, model: LatentModel, *, is_variational: bool = True) -> None:
        self._encoder, self._model, self._is_variational = encoder, model, is_variational

    def follow(self, rows: Floats, seen: Floats, rng: np.random.Generator) -> Array:
        """(N, nu) targets for latent vectors from the posterior."""
        mean, deviation = split_gaussian(self._encoder(np.concatenate([rows, seen], axis=1)))
        drawn = rng.standard_normal(mean.shape, dtype=np.float32)
        return self._model.decode(rows, mean + deviation * drawn if self._is_variational else mean)

    def wander(self, rows: Floats, rng: np.random.Generator) -> Array:
        """(N, nu) targets for latent vectors from the prior."""
        return self._model.decode(rows, self._model.sample(rows, rng))
