# SPDX-License-Identifier: GPL-3.0-or-later
"""Servo targets with velocity feed-forward."""

import numpy as np

from ...body import BodyModel
from ...body.poses import targets_of_pose
from ...geometry.quaternions import Array


def compute_feedforward_targets(body: BodyModel, qpos: Array, fps: float) -> Array:
    """(T, nu) radians: targets for poses (T, nq) at ``fps``, ahead of them by the servos' lag.

    A PD servo that damps absolute rates lags kd/kp seconds behind a moving target, so the target leads by that much.
    """
    targets = targets_of_pose(body, qpos)
    lead_s = body.per_dof("kd") / np.maximum(body.per_dof("kp"), 1e-9)
    return np.asarray(targets + lead_s * np.gradient(targets, 1.0 / fps, axis=0))
