# SPDX-License-Identifier: GPL-3.0-or-later
"""What a motion costs the body: its strength and its energy."""

import numpy as np

from ..body import BodyModel
from ..geometry.quaternions import Array


def torque_shares(body: BodyModel, torque: Array) -> Array:
    """(K, J) how much of its limit each servo gives, of torques (K, nu) in N·m; joints without strength are left out.

    A ball's three torques count as one, by their length, which is what its limit holds.
    """
    limits = [(index, link.joint.torque_limit) for index, link in enumerate(body.links) if index]
    shares = [np.linalg.norm(_of_joint(body, torque, index), axis=-1) / limit for index, limit in limits if limit > 0.0]
    return np.stack(shares, axis=-1) if shares else np.zeros((len(torque), 0))


def mechanical_energy(body: BodyModel, torque: Array, rate: Array, dt_s: float) -> float:
    """J/kg: the sum over joints and moments of |power| * dt, over the body's mass. Braking costs as much as driving.

    torque: (K, nu) N·m, rate: (K, nu) rad/s. A ball's power is the product of its two vectors.
    """
    power = [
        np.abs(np.sum(_of_joint(body, torque, index) * _of_joint(body, rate, index), axis=-1))
        for index in range(1, len(body.links))
    ]
    return float(np.sum(power)) * dt_s / body.mass


def _of_joint(body: BodyModel, values: Array, index: int) -> Array:
    """(K, 1 or 3) a link's own columns of (K, nu)."""
    starts = body.qvel_starts - 6
    return values[:, starts[index] : starts[index + 1]]
