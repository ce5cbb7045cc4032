# SPDX-License-Identifier: GPL-3.0-or-later
"""Jacobians brought up to date by what a search has simulated anyway, at no further trial.

A model that was fitted around the reference is off where a pass has led elsewhere. Every sample of that pass tells
where a start and offsets nearby lead. There are fewer of them than unknowns, and all lie in the directions that
matter: ridge regression of what the model does not explain moves it in these, and leaves it as it is in all others.
"""

import numpy as np

from ...geometry.quaternions import Array
from .tracking_error import OFFSET_SCALE, TrackingError

# How many samples, a typical error off, it takes to believe them as much as the model.
_PRIOR_SAMPLES = 3.0
# Samples further off than so many times the usual are somewhere else altogether.
_FARTHEST = 3.0
_FEWEST = 10


def update_jacobian(
    tracking_error: TrackingError, jacobian: Array, begun: Array, offsets: Array, outcome: Array
) -> Array:
    """(ny, nx + servos), of single precision: a fragment's Jacobian after N samples of it.

    begun: (N, nx) state errors at its start, offsets: (N, nu) radians, outcome: (N, ny) output errors at its end, not
    finite for samples that were abandoned.
    """
    known = np.concatenate([begun, offsets[:, tracking_error.servos]], axis=-1)
    good = np.isfinite(outcome).all(axis=-1) & np.isfinite(known).all(axis=-1)
    reach = np.concatenate([tracking_error.scales, np.full(len(tracking_error.servos), OFFSET_SCALE)])
    inputs, outcome = known[good] / reach, outcome[good]
    if len(inputs) >= _FEWEST:
        away = np.linalg.norm(inputs - np.median(inputs, axis=0), axis=-1)
        near = away <= _FARTHEST * np.median(away)
        inputs, outcome = (part[near] - part[near].mean(axis=0) for part in (inputs, outcome))
        unexplained = outcome - inputs @ (jacobian * reach).T
        shares = np.linalg.solve(inputs @ inputs.T + _PRIOR_SAMPLES * np.eye(len(inputs)), unexplained)
        jacobian = jacobian + (inputs.T @ shares).T / reach
    return jacobian.astype(np.float32)
