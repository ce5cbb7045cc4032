# SPDX-License-Identifier: GPL-3.0-or-later
"""A body's shapes and masses from the mesh that the character wears (DReCon, section 4.2)."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..geometry.quaternions import Array, conjugate, multiply, rotate
from .fit_shapes import Fitted, fit_box, fit_capsule, shape_distance
from .mesh import SkinnedMesh
from .model import BodyModel, Link, Shape
from .sides import Mirror, alike, mirror_of
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


@dataclass(frozen=True)
class _Cloud:
    """The vertices (V, 3) that a shape is to stand for, and the area (V,) that each of them counts for."""

    points: Array
    areas: Array

    def with_other(self, other: "_Cloud") -> "_Cloud":
        return _Cloud(np.concatenate([self.points, other.points]), np.concatenate([self.areas, other.areas]))

    def seen_in(self, mirror: Mirror) -> "_Cloud":
        return replace(self, points=mirror.points(self.points))


def fit_body(body: BodyModel, mesh: SkinnedMesh) -> tuple[BodyModel, FitReport]:
    """The body with shapes, masses, centres of mass and inertias from the mesh; joints stay as they are."""
    mesh.require_fits(body.skeleton)
    heads, quats = body.skeleton.rest_world()
    owner = _owners(body)
    clouds = {link.bone: _cloud(mesh, owner, index, link, body) for index, link in enumerate(body.links)}
    counts = {bone: len(cloud.points) for bone, cloud in clouds.items()}
    shapes = _shapes(body, {bone: cloud for bone, cloud in clouds.items() if counts[bone]})
    errors = {bone: _rms(shape, clouds[bone].points) for bone, shape in shapes.items()}
    links = []
    for link in body.links:
        bone = body.skeleton.index(link.bone)
        worn = (_in_frame(shapes[link.bone], heads[bone], quats[bone]),) if link.bone in shapes else link.shapes
        links.append(replace(link, shapes=worn))
    placed = [(link.shapes, heads[i], quats[i]) for link in links for i in [body.skeleton.index(link.bone)]]
    solids, volume = solids_of(placed)
    for i, shared in enumerate(solids):
        # What lies wholly inside its neighbours is weighed by itself.
        solid = shared if shared.mass >= _LEAST_MASS_KG else solids_of([placed[i]])[0][0]
        links[i] = replace(links[i], mass=solid.mass, com=solid.com, inertia=solid.inertia)
    return replace(body, links=tuple(links)), FitReport(counts, errors, volume)


def _shapes(body: BodyModel, clouds: dict[str, _Cloud]) -> dict[str, Shape]:
    """By bone the shape that stands for its cloud, in the world at rest.

    Where a mesh is symmetric, so is its body: two sides that are mirror images are fitted as one, and the middle
    together with its own mirror image. A side that has a likeness of its own is fitted by itself.
    """
    mirror = mirror_of(body)
    found: dict[str, Shape] = {}
    for link in body.links:
        cloud = clouds.get(link.bone)
        if cloud is None or link.bone in found:
            continue
        if mirror is None:
            found[link.bone] = _fit(link.role, cloud).shape
            continue
        other = _other_side(body, link)
        twin = clouds.get(other) if other else None
        image = (cloud if not link.side else twin).seen_in(mirror) if not link.side or twin else None
        if image is None or not alike(cloud.points, image.points):
            found[link.bone] = _fit(link.role, cloud).shape
            continue
        both = cloud.with_other(image)
        if link.side:
            found[link.bone] = _fit(link.role, both).shape
            found[other] = mirror.shape(found[link.bone])
        else:
            found[link.bone] = mirror.centred(_fit(link.role, both, across=mirror.normal).shape)
    return found
