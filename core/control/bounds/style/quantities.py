# SPDX-License-Identifier: GPL-3.0-or-later
"""What a style is told by: the energy in a body's motion about its centre of mass, and the room that it takes up."""

import numpy as np

from ....body import BodyModel
from ....body.kinetics import Kinetics
from ....body.poses import link_transforms
from ....errors import BoundsError
from ....geometry.hulls import MOST_POINTS, hull_volumes
from ....geometry.quaternions import Array
from ..course import Course, Tips
from ..observations import Seen

_FEWEST = 3  # ends of limbs that with the root span a volume


class Span:
    """The convex hull of the root and the ends of the limbs; of very many ends those that are farthest out at rest."""

    def __init__(self, body: BodyModel) -> None:
        self._tips = Tips(body)
        count = len(self._tips.links)
        if count < _FEWEST:
            raise BoundsError(
                f"The body has {count} limbs, which take up no volume", "Choose a style of energy, or of another Action"
            )
        heads = body.skeleton.rest_world()[0]
        bones = [body.skeleton.index(name) for name in self._tips.names]
        out = np.linalg.norm(heads[bones] - heads[body.skeleton.index(body.links[0].bone)], axis=-1)
        self._chosen = np.sort(np.argsort(-out, kind="stable")[: MOST_POINTS - 1])

    def volume_m3(self, link_pos: Array, link_quat_wxyz: Array) -> Array:
        """(...) cubic metres, of links' places (..., L, 3) and rotations (..., L, 4)."""
        ends = self._tips.places(link_pos, link_quat_wxyz)[..., self._chosen, :]
        return hull_volumes(np.concatenate([ends, link_pos[..., :1, :]], axis=-2))


class Energy:
    """The kinetic energy of a body in a frame that moves with its centre of mass."""

    def __init__(self, body: BodyModel) -> None:
        self._kinetics = Kinetics(body)

    def energy_j(self, qvel: Array, link_pos: Array, link_quat_wxyz: Array) -> Array:
        """(...) joules, of velocities (..., nv), links' places (..., L, 3) and rotations (..., L, 4).

        Which way the root moves does not matter, so that velocity and places may be seen in frames of other headings.
        """
        linear, angular = self._kinetics.velocities(qvel, link_pos, link_quat_wxyz)
        return self._kinetics.kinetic_energy_j(linear, angular, link_quat_wxyz)


def links_seen(seen: Seen) -> tuple[Array, Array]:
    """Places (N, L, 3) and rotations (N, L, 4) of the links of copies, in the world; of a course in its own frame."""
    if seen.rows is None:
        return link_transforms(seen.course.body, seen.qpos)
    return seen.rows.link_pos[:, -1], seen.rows.link_quat_wxyz[:, -1]


def course_energy_j(course: Course) -> float:
    """The mean over a course, as its clip has it."""
    frames = slice(0, course.steps)
    pos, quat = link_transforms(course.body, course.qpos[frames])
    return float(Energy(course.body).energy_j(course.rates[frames], pos, quat).mean())


def course_volume_m3(course: Course) -> float:
    """The mean over a course, as its clip has it."""
    return float(Span(course.body).volume_m3(*link_transforms(course.body, course.qpos[: course.steps])).mean())
