# SPDX-License-Identifier: GPL-3.0-or-later
"""The two sides of a body: the plane between them, and shapes on the other side of it."""

from dataclasses import dataclass, replace

import numpy as np

from ..geometry.quaternions import Array, from_matrix, to_matrix
from .model import BodyModel, Shape

_UPRIGHT = 0.1  # a plane that leans by less than this, as a sine, is taken to be upright


@dataclass(frozen=True)
class SagittalPlane:
    """The plane between the two sides of the body at rest: a point on it and its normal, both (3,)."""

    point: Array
    normal: Array

    def points(self, points: Array) -> Array:
        """(V, 3) points on the other side."""
        return points - 2.0 * ((points - self.point) @ self.normal)[:, None] * self.normal

    def shape(self, shape: Shape) -> Shape:
        """The shape on the other side; all our shapes are their own mirror images."""
        axes = to_matrix(shape.quat_wxyz)
        turned = axes - 2.0 * np.outer(self.normal, self.normal @ axes)
        turned[:, 0] *= -1.0  # a mirrored frame is left-handed: turn one axis round
        return replace(shape, pos=self.points(shape.pos[None])[0], quat_wxyz=from_matrix(turned))

    def centred(self, shape: Shape) -> Shape:
        """A capsule or ball that lies nearly in the plane, or across it, exactly so; a box only moved to it."""
        pos = shape.pos - ((shape.pos - self.point) @ self.normal) * self.normal
        if shape.kind == "box":
            return replace(shape, pos=pos)
        axes = to_matrix(shape.quat_wxyz)
        along = axes[:, 2]
        across = float(along @ self.normal)
        z = np.copysign(1.0, across) * self.normal if abs(across) > 0.7 else along - across * self.normal
        z = z / np.linalg.norm(z)
        x = np.cross(z, np.eye(3)[int(np.argmin(np.abs(z)))])
        x /= np.linalg.norm(x)
        return replace(shape, pos=pos, quat_wxyz=from_matrix(np.stack([x, np.cross(z, x), z], axis=1)))


def find_sagittal_plane(body: BodyModel) -> SagittalPlane | None:
    """The plane that the heads of left and right links are mirrored in, None where there are no two sides."""
    heads, _ = body.skeleton.rest_world()
    place = {(link.role, link.side): heads[body.skeleton.index(link.bone)] for link in body.links}
    pairs = [(place[role, "L"], place[role, "R"]) for role, side in place if side == "L" and (role, "R") in place]
    across = np.sum([left - right for left, right in pairs], axis=0) if pairs else np.zeros(3)
    if abs(across[2]) < _UPRIGHT * float(np.linalg.norm(across)):
        across[2] = 0.0  # so that the images of level soles are level
    length = float(np.linalg.norm(across))
    if length < 1e-9:
        return None
    return SagittalPlane(np.mean([(left + right) / 2 for left, right in pairs], axis=0), across / length)
