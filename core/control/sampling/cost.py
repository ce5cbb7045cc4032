# SPDX-License-Identifier: GPL-3.0-or-later
"""How far a simulated state is from the reference: the eight terms of equation 20 (control graphs, section 5.3)."""

import numpy as np

from ...body import BodyModel
from ...geometry.quaternions import Array, angle_between
from ...sim.engine import SensorRows
from ..tracking.reference import Reference
from ..tracking.tracking_cost import CostTerms, CostWeights


def compute_cost(
    reference: Reference, frame: int, qpos: Array, rows: SensorRows, offsets: Array, drift: Array, weights: CostWeights
) -> CostTerms:
    """Terms (N,) of samples with poses (N, nq), their rows (last moment counts) and offsets (N, nu).

    drift: (N, 2) metres in the plane by which the reference is moved for each sample: a body that has fallen behind
    must not be dragged back, or the pull fights its gait.
    """
    ref = reference.rows
    root = angle_between(qpos[:, 3:7], reference.qpos[frame, 3:7])
    pos, ref_pos = rows.link_pos[:, -1], ref.link_pos[0, frame]
    com, ref_com = rows.com[:, -1, 0], ref.com[0, frame, 0]
    placed = ref_com + np.pad(drift, ((0, 0), (0, 1)))
    height = np.abs(pos[:, reference.tips, 2] - ref_pos[reference.tips, 2]).mean(-1)
    stance = (pos[:, reference.feet, :2] - com[:, None, :2]) - (ref_pos[reference.feet, :2] - ref_com[:2])
    return CostTerms(
        weights.pose * compute_pose_error(reference.body, qpos, reference.qpos[frame]),
        weights.root * root,
        weights.tips * height,
        weights.balance * np.linalg.norm(stance, axis=-1).mean(-1),
        weights.com * np.linalg.norm(com - placed, axis=-1),
        weights.com_velocity * np.linalg.norm(rows.com_velocity[:, -1, 0] - ref.com_velocity[0, frame, 0], axis=-1),
        weights.angular_momentum
        * np.linalg.norm(rows.angular_momentum[:, -1, 0] - ref.angular_momentum[0, frame, 0], axis=-1),
        weights.action * np.linalg.norm(offsets, axis=-1),
    )


def compute_pose_error(body: BodyModel, qpos: Array, ref: Array) -> Array:
    """(N,) mean angle in radians between the joints of poses (N, nq) and of ``ref`` (nq,)."""
    angles = []
    for index, link in enumerate(body.links[1:], start=1):
        place = slice(body.qpos_starts[index], body.qpos_starts[index + 1])
        if link.joint.kind == "ball":
            angles.append(angle_between(qpos[:, place], ref[place]))
        else:
            angles.append(np.abs(qpos[:, place][:, 0] - ref[place][0]))
    return np.mean(angles, axis=0)
