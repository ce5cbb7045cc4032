# SPDX-License-Identifier: GPL-3.0-or-later
"""What the servos of a body give in a pose, as ``core.sim.engine.World`` defines it."""

import numpy as np

from ..geometry.quaternions import Array, conjugate, from_rotation_vector, multiply, to_rotation_vector
from .model import BodyModel


def servo_torques(body: BodyModel, qpos: Array, qvel: Array, targets: Array, muscle: Array) -> Array:
    """(T, nu) N·m towards targets (T, nu) in poses (T, nq) with velocities (T, nv), of muscle (T,) from 0 to 1."""
    found = np.empty_like(targets)
    at = 0
    for link, start in zip(body.links[1:], body.qpos_starts[1:-1], strict=True):
        joint, dofs = link.joint, link.joint.dofs
        own, wanted = qpos[:, start : start + joint.coordinates], targets[:, at : at + dofs]
        away = to_rotation_vector(multiply(conjugate(own), from_rotation_vector(wanted))) if dofs == 3 else wanted - own
        torque = joint.kp * away - joint.kd * qvel[:, 6 + at : 6 + at + dofs]
        size = np.linalg.norm(torque, axis=-1, keepdims=True)
        held = torque * np.minimum(1.0, joint.torque_limit / np.maximum(size, 1e-9))
        found[:, at : at + dofs] = held * muscle[:, None]
        at += dofs
    return found
