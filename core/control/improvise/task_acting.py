# SPDX-License-Identifier: GPL-3.0-or-later
"""How a task's policy acts: through the prior and the frozen motor decoder, with the helper's offsets (equation 2)."""

import numpy as np

from ...geometry.quaternions import Array
from .body_states import Floats
from .latent_model import MOST_DEVIATIONS, LatentModel


def count_actions(model: LatentModel, joints: int, sigma_rad: float) -> int:
    """How many numbers a task's policy gives: latent ones, and the helper's where it has a range."""
    return model.latent_size + (joints if sigma_rad > 0.0 else 0)


def act_in_latent_space(model: LatentModel, rows: Floats, actions: Floats, sigma_rad: float) -> Array:
    """(N, nu) servo targets for actions (N, Z or Z + nu) in states (N, S).

    The first Z are in deviations of the prior about its mean: a policy that has learned nothing does what noise does.
    The others are H of equation 2.
    """
    mean, deviation = model.prior_of(rows)
    size = model.latent_size
    latent = mean + deviation * np.clip(actions[:, :size], -MOST_DEVIATIONS, MOST_DEVIATIONS).astype(np.float32)
    targets = model.decode(rows, latent)
    if sigma_rad > 0.0:
        targets = targets + sigma_rad * np.tanh(actions[:, size:])
    return targets
