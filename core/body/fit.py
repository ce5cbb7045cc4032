# SPDX-License-Identifier: GPL-3.0-or-later
"""A body's shapes and masses from the mesh that the character wears (DReCon, section 4.2)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..geometry.quaternions import Array, conjugate, from_matrix, multiply, rotate, to_matrix
from .fit_shapes import Fitted, fit_box, fit_capsule
from .mesh import SkinnedMesh
from .model import BodyModel, Link, Shape
from .voxels import solids_of

_BOXES = {"hand", "foot", "toe"}
_SOLES = {"foot", "toe"}
_FEWEST_VERTICES = 24
_RIGID = (0.9, 0.7, 0.5)  # how large a link's share in a vertex must be; the strictest that leaves enough of them
_WORST_CAPSULE_M = 0.018  # a chest may be too flat for a capsule: then a box is tried
_LEAST_MASS_KG = 0.02


@dataclass(frozen=True)
class FitReport:
    """How the mesh was used: for each link the vertices and the error of its shape, and the volume of the union.

    vertices: bone -> how many vertices its shape stands for (0: the mesh had too few, the table's shape was kept).
    rms_m: bone -> root mean square distance in metres from those vertices to the shape's surface.
    """

    vertices: dict[str, int]
    rms_m: dict[str, float]
    volume_m3: float


def fit_body(body: BodyModel, mesh: SkinnedMesh) -> tuple[BodyModel, FitReport]:
    """The body with shapes, masses, centres of mass and inertias from the mesh; joints stay as they are."""
    mesh.require_fits(body.skeleton)
    heads, quats = body.skeleton.rest_world()
    owner, mirror = _owners(body), _mirror(body, heads)
    links: list[Link] = []
    counts: dict[str, int] = {}
    errors: dict[str, float] = {}
    for index, link in enumerate(body.links):
        bone = body.skeleton.index(link.bone)
        cloud = mesh.vertices[_belonging(mesh, owner, index, link, body)]
        counts[link.bone] = len(cloud) if len(cloud) >= _FEWEST_VERTICES else 0
        if counts[link.bone]:
            # The right side is fitted as if it were the left, so that a symmetric mesh gets a symmetric body.
            turned = link.side == "R" and mirror is not None
            fitted = _fit(link.role, _in_order(mirror.points(cloud) if turned and mirror else cloud))
            shape = mirror.shape(fitted.shape) if turned and mirror else fitted.shape
            errors[link.bone] = fitted.rms_m
            links.append(replace(link, shapes=(_in_frame(shape, heads[bone], quats[bone]),)))
        else:
            links.append(link)
    placed = [(link.shapes, heads[i], quats[i]) for link in links for i in [body.skeleton.index(link.bone)]]
    solids, volume = solids_of(placed)
    for i, shared in enumerate(solids):
        # What lies wholly inside its neighbours is weighed by itself.
        solid = shared if shared.mass >= _LEAST_MASS_KG else solids_of([placed[i]])[0][0]
        links[i] = replace(links[i], mass=solid.mass, com=solid.com, inertia=solid.inertia)
    return replace(body, links=tuple(links)), FitReport(counts, errors, volume)


@dataclass(frozen=True)
class _Mirror:
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


def _mirror(body: BodyModel, heads: Array) -> _Mirror | None:
    """The plane that the heads of left and right links are mirrored in, None where there are no two sides."""
    place = {(link.role, link.side): heads[body.skeleton.index(link.bone)] for link in body.links}
    pairs = [(place[role, "L"], place[role, "R"]) for role, side in place if side == "L" and (role, "R") in place]
    across = np.sum([left - right for left, right in pairs], axis=0) if pairs else np.zeros(3)
    length = float(np.linalg.norm(across))
    if length < 1e-9:
        return None
    return _Mirror(np.mean([(left + right) / 2 for left, right in pairs], axis=0), across / length)


def _in_order(cloud: Array) -> Array:
    """The points in an order that does not depend on how the mesh numbers its vertices."""
    return cloud[np.lexsort(np.round(cloud, 5).T)]


def _in_frame(shape: Shape, pos: Array, quat: Array) -> Shape:
    """A shape of the world in the frame of a link at ``pos`` (3,), ``quat`` (4,)."""
    back = conjugate(quat)
    return replace(shape, pos=rotate(back, shape.pos - pos), quat_wxyz=multiply(back, shape.quat_wxyz))


def _fit(role: str, cloud: Array) -> Fitted:
    """The shape that the role asks for; a sole stays level with the ground."""
    if role in _SOLES:
        return fit_box(cloud, level=np.array([0.0, 0.0, 1.0]))
    if role in _BOXES:
        return fit_box(cloud)
    capsule = fit_capsule(cloud)
    if capsule.rms_m <= _WORST_CAPSULE_M:
        return capsule
    box = fit_box(cloud)
    return box if box.rms_m < capsule.rms_m else capsule


def _owners(body: BodyModel) -> NDArray[np.int64]:
    """(B,) the link that each bone moves with: its own, or that of the nearest ancestor that has one."""
    owner = np.full(len(body.skeleton), -1)
    for bone, name in enumerate(body.skeleton.names):
        owner[bone] = body.link_of(name)
        parent = body.skeleton.parents[bone]
        if owner[bone] < 0 and parent >= 0:
            owner[bone] = owner[parent]
    return owner


def _belonging(
    mesh: SkinnedMesh, owner: NDArray[np.int64], index: int, link: Link, body: BodyModel
) -> NDArray[np.bool_]:
    """(V,) the vertices most rigidly skinned to the link; a hand's with its fingers."""
    own = np.array([name == link.bone or name in link.merged for name in body.skeleton.names])
    choices: Sequence[NDArray[np.bool_]] = [owner == index] if link.role in _BOXES else [own, owner == index]
    chosen = np.zeros(len(mesh.vertices), dtype=bool)
    for bones in choices:
        share = mesh.weights[:, bones].sum(1)
        for least in _RIGID:
            chosen = share >= least
            if chosen.sum() >= 4 * _FEWEST_VERTICES:
                return chosen
        if chosen.sum() >= _FEWEST_VERTICES:
            return chosen
    return chosen
