# SPDX-License-Identifier: GPL-3.0-or-later
"""The cost of an executed fragment: equation 20 without place and heading, for a graph leads anywhere."""

import numpy as np

from ....geometry.quaternions import Array, angle_between, multiply
from ....sim.engine import SensorRows
from ...tracking.facing import rotate_about_z, rotation_about_z, twist_angle
from ...tracking.tracking_cost import CostTerms, CostWeights
from ..model.fragments import Indices
from ..playing.fragment_simulator import FragmentSimulator


def fragment_cost(
    simulator: FragmentSimulator, fragments: Indices, qpos: Array, rows: SensorRows, actions: Array
) -> Array:
    """(N,) costs of copies that executed fragments (N,), by end poses (N, nq) and rows; inf where simulation broke."""
    reference, weights, frames = simulator.reference, CostWeights(), simulator.end_frames[fragments]
    ref = reference.rows
    wanted = reference.qpos[frames]
    heading = twist_angle(qpos[:, 3:7], wanted[:, 3:7])
    pos, ref_pos = rotate_about_z(-heading, rows.link_pos[:, -1]), ref.link_pos[0, frames]
    com, ref_com = rotate_about_z(-heading, rows.com[:, -1, 0]), ref.com[0, frames, 0]
    height = np.abs(pos[:, reference.tips, 2] - ref_pos[:, reference.tips, 2]).mean(-1)
    stance = (pos[:, reference.feet] - com[:, None]) - (ref_pos[:, reference.feet] - ref_com[:, None])
    velocity = rotate_about_z(-heading, rows.com_velocity[:, -1, 0]) - ref.com_velocity[0, frames, 0]
    spin = rotate_about_z(-heading, rows.angular_momentum[:, -1, 0]) - ref.angular_momentum[0, frames, 0]
    # A body that is not over its feet as the reference is has its centroid in the wrong place, wherever it walks.
    carried = (pos[:, 0] - com) - (ref_pos[:, 0] - ref_com)
    carried[:, 2] = com[:, 2] - ref_com[:, 2]
    terms = CostTerms(
        weights.pose * _pose_error(simulator, qpos, wanted),
        weights.root * angle_between(multiply(rotation_about_z(-heading), qpos[:, 3:7]), wanted[:, 3:7]),
        weights.tips * height,
        weights.balance * np.linalg.norm(stance[..., :2], axis=-1).mean(-1),
        weights.com * np.linalg.norm(carried, axis=-1),
        weights.com_velocity * np.linalg.norm(velocity, axis=-1),
        weights.angular_momentum * np.linalg.norm(spin, axis=-1),
        weights.action * np.linalg.norm(actions, axis=-1),
    )
    return terms.total


def _pose_error(simulator: FragmentSimulator, qpos: Array, wanted: Array) -> Array:
    """(N,) mean angle in radians between the joints of poses (N, nq) and reference poses (N, nq)."""
    body = simulator.track.body
    between = np.abs(simulator.track.space.difference(wanted, qpos))
    angles = []
    for index, link in enumerate(body.links[1:], start=1):
        own = between[:, body.qvel_starts[index] : body.qvel_starts[index + 1]]
        angles.append(np.linalg.norm(own, axis=-1) if link.joint.dofs > 1 else own[:, 0])
    return np.asarray(np.mean(angles, axis=0))
