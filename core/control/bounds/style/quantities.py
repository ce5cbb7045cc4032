# SPDX-License-Identifier: GPL-3.0-or-later
"""Style descriptors: kinetic energy about the centre of mass (equation 4), volume of the convex hull (equation 5)."""

import numpy as np

from ....body import BodyModel
from ....body.kinetics import Kinetics
from ....body.poses import link_transforms
from ....errors import BoundsError
from ....geometry.hulls import MOST_POINTS, hull_volumes
from ....geometry.quaternions import Array
from ..observations import RelativeKinematics
from ..reference_trajectory import EndEffectors, ReferenceTrajectory

_MIN_EFFECTORS = 3  # which with the root span a volume


class LimbVolume:
    """The convex hull of the root and the end effectors; of very many, those that are farthest out at rest."""

    def __init__(self, body: BodyModel) -> None:
        self._effectors = EndEffectors(body)
        count = len(self._effectors.links)
        if count < _MIN_EFFECTORS:
            raise BoundsError(
                f"The body has {count} limbs, which take up no volume", "Choose a style of energy, or of another Action"
            )
        heads = body.skeleton.rest_world()[0]
        bones = [body.skeleton.index(name) for name in self._effectors.names]
        out = np.linalg.norm(heads[bones] - heads[body.skeleton.index(body.links[0].bone)], axis=-1)
        self._chosen = np.sort(np.argsort(-out, kind="stable")[: MOST_POINTS - 1])

    def volume_m3(self, link_pos: Array, link_quat_wxyz: Array) -> Array:
        """(...) cubic metres, of links' positions (..., L, 3) and rotations (..., L, 4)."""
        ends = self._effectors.positions(link_pos, link_quat_wxyz)[..., self._chosen, :]
        return hull_volumes(np.concatenate([ends, link_pos[..., :1, :]], axis=-2))


class KineticEnergy:
    """The kinetic energy of a body in a frame that moves with its centre of mass."""

    def __init__(self, body: BodyModel) -> None:
        self._kinetics = Kinetics(body)

    def energy_j(self, qvel: Array, link_pos: Array, link_quat_wxyz: Array) -> Array:
        """(...) joules, of velocities (..., nv), links' places (..., L, 3) and rotations (..., L, 4).

        The velocity of the root does not matter, so that velocities and positions may be in frames of other headings.
        """
        linear, angular = self._kinetics.velocities(qvel, link_pos, link_quat_wxyz)
        return self._kinetics.kinetic_energy_j(linear, angular, link_quat_wxyz)


def links_of(kinematics: RelativeKinematics) -> tuple[Array, Array]:
    """Positions (N, L, 3) and rotations (N, L, 4) of links, in the world; of the reference itself in its own frame."""
    if kinematics.rows is None:
        return link_transforms(kinematics.reference.body, kinematics.qpos)
    return kinematics.rows.link_pos[:, -1], kinematics.rows.link_quat_wxyz[:, -1]


def reference_energy_j(reference: ReferenceTrajectory) -> float:
    """The mean of a reference."""
    frames = slice(0, reference.steps)
    pos, quat = link_transforms(reference.body, reference.qpos[frames])
    return float(KineticEnergy(reference.body).energy_j(reference.qvel[frames], pos, quat).mean())


def reference_volume_m3(reference: ReferenceTrajectory) -> float:
    """The mean of a reference."""
    links = link_transforms(reference.body, reference.qpos[: reference.steps])
    return float(LimbVolume(reference.body).volume_m3(*links).mean())
