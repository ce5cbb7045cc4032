# SPDX-License-Identifier: GPL-3.0-or-later
"""A body's shapes and masses from the mesh that the character wears (DReCon, section 4.2)."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..geometry.quaternions import Array, conjugate, multiply, rotate, to_matrix
from .fit_ankles import end_above_soles
from .fit_paws import end_at_paws, fit_paws
from .fit_shapes import fit_box, fit_capsule, shape_distance
from .mesh import SkinnedMesh
from .model import BodyModel, Link, Shape
from .sagittal_plane import SagittalPlane, find_sagittal_plane
from .voxels import weigh_links

_BOXES = {"hand", "foot", "toe"}
_STANDS = 0.03  # of the height: a hand that is no higher above the ground than this at rest is stood on, as paws are
# Along which links a bone goes on, so that its shape should reach from joint to joint.
_NEXT = {
    "pelvis": ("spine", "chest"),
    "spine": ("spine", "chest"),
    "upper_arm": ("forearm",),
    "forearm": ("hand",),
    "thigh": ("shin",),
    "shin": ("foot",),
    "tail": ("tail",),
}
_FEWEST_VERTICES, _ENOUGH_VERTICES = 24, 96
_RIGID = (0.7, 0.5)  # how large a link's share in a vertex must be; the stricter where that leaves enough of them
_WORST_M = 0.02  # a chest may be too flat for a capsule: then a box is tried
_CLEARLY_BETTER = 0.85  # another shape has to have less than this of the error, or the simpler one is kept
_ALIKE = 0.01  # of a cloud's extent: this much worse a shape may fit the other side
_THINNEST_SOLE = 0.3  # of the box that was fitted: less than that is left alone
_LEAST_MASS_KG = 0.02
_VOXELS_OF_ONE = 100_000
_UP = np.array([0.0, 0.0, 1.0])


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
    """The vertices that a shape is to stand for.

    points: (V, 3). areas: (V,) what each of them counts. bone: (K, 3) points on the bone, which it should hold.
    kind: 'sole' for a level box to stand on, 'box', or 'round' for a capsule where that fits.
    """

    points: Array
    areas: Array
    bone: Array
    kind: str


def fit_body(body: BodyModel, mesh: SkinnedMesh) -> tuple[BodyModel, FitReport]:
    """The body with shapes, masses, centres of mass and inertias from the mesh; joints stay as they are."""
    mesh.require_fits(body.skeleton)
    heads, quats = body.skeleton.rest_world()
    owner = _owners(body)
    clouds = {link.bone: _cloud(mesh, owner, index, link, body) for index, link in enumerate(body.links)}
    counts = {bone: len(cloud.points) for bone, cloud in clouds.items()}
    paws = fit_paws(body, mesh, owner)
    shapes = _shapes(body, {bone: cloud for bone, cloud in clouds.items() if counts[bone] and bone not in paws})
    shapes = end_above_soles(body, end_at_paws(body, shapes, paws))
    errors = {bone: _rms(shape, clouds[bone].points) for bone, shape in shapes.items()}
    counts |= dict.fromkeys(paws, 0)
    links = []
    for link in body.links:
        bone = body.skeleton.index(link.bone)
        worn = (_in_frame(shapes[link.bone], heads[bone], quats[bone]),) if link.bone in shapes else link.shapes
        if link.bone in paws:
            worn = tuple(_in_frame(shape, heads[bone], quats[bone]) for shape in paws[link.bone])
        links.append(replace(link, shapes=worn))
    placed = [(link.shapes, heads[i], quats[i]) for link in links for i in [body.skeleton.index(link.bone)]]
    solids, volume = weigh_links(placed)
    for i, shared in enumerate(solids):
        # What lies wholly inside its neighbours is weighed by itself.
        solid = shared if shared.mass >= _LEAST_MASS_KG else weigh_links([placed[i]], _VOXELS_OF_ONE)[0][0]
        links[i] = replace(links[i], mass=solid.mass, com=solid.com, inertia=solid.inertia)
    return replace(body, links=tuple(links)), FitReport(counts, errors, volume)


def _shapes(body: BodyModel, clouds: dict[str, _Cloud]) -> dict[str, Shape]:
    """By bone the shape that stands for its cloud, in the world at rest.

    Where a mesh is symmetric, so is its body: a shape that fits the other side as well is mirrored for it, and what is
    in the middle is fitted together with its own mirror image. What has a likeness of its own is fitted by itself.
    """
    mirror = find_sagittal_plane(body)
    found: dict[str, Shape] = {}
    for link in body.links:
        if link.bone not in clouds or link.bone in found:
            continue
        cloud = clouds[link.bone]
        if mirror is not None and not link.side:
            found[link.bone] = _fit_middle(cloud, mirror)
            continue
        found[link.bone] = _fit(cloud)
        other = clouds.get(_other_side(body, link))
        if mirror is not None and other is not None:
            error, extent = _rms(found[link.bone], cloud.points), float(np.linalg.norm(np.ptp(cloud.points, axis=0)))
            if _rms(mirror.shape(found[link.bone]), other.points) < error + _ALIKE * extent:
                found[_other_side(body, link)] = mirror.shape(found[link.bone])
    return found


def _fit_middle(cloud: _Cloud, mirror: SagittalPlane) -> Shape:
    """A symmetric shape, unless that fits badly and another one does not."""
    both = replace(
        cloud,
        points=np.concatenate([cloud.points, mirror.points(cloud.points)]),
        areas=np.concatenate([cloud.areas, cloud.areas]),
    )
    shape = mirror.centred(_fit(both, across=mirror.normal))
    if _rms(shape, cloud.points) <= _WORST_M:
        return shape
    own = _fit(cloud)
    return own if _rms(own, cloud.points) < _CLEARLY_BETTER * _rms(shape, cloud.points) else shape


def _other_side(body: BodyModel, link: Link) -> str:
    """The bone of the link's counterpart; '' for none."""
    other = {"L": "R", "R": "L"}.get(link.side)
    same = [each.bone for each in body.links if (each.role, each.side) == (link.role, link.side)]
    across = [each.bone for each in body.links if (each.role, each.side) == (link.role, other)]
    return across[same.index(link.bone)] if len(same) == len(across) else ""


def _fit(cloud: _Cloud, across: Array | None = None) -> Shape:
    """The shape for a cloud; a sole stays level with the ground, a box in the middle square to ``across`` (3,)."""
    points, areas = _in_order(cloud)
    if cloud.kind == "sole":
        return _standing(fit_box(points, areas, level=_UP).shape, points)
    if cloud.kind == "box":
        return fit_box(points, areas).shape
    capsule = fit_capsule(points, areas, cloud.bone)
    if capsule.rms_m <= _WORST_M:
        return capsule.shape
    box = fit_box(points, areas, level=across)
    return box.shape if box.rms_m < _CLEARLY_BETTER * capsule.rms_m else capsule.shape


def _standing(box: Shape, points: Array) -> Shape:
    """A level box with its underside where the lowest of the points (V, 3) are: a character stands on it."""
    axis = int(np.argmax(np.abs(to_matrix(box.quat_wxyz)[2])))
    lowest, top = float(np.quantile(points[:, 2], 0.02)), float(box.pos[2] + box.size[axis])
    if lowest > top - _THINNEST_SOLE * 2.0 * box.size[axis]:
        return box
    size, pos = np.array(box.size), np.array(box.pos)
    size[axis], pos[2] = (top - lowest) / 2, (top + lowest) / 2
    return replace(box, size=size, pos=pos)


def _in_order(cloud: _Cloud) -> tuple[Array, Array]:
    """Points and areas in an order that does not depend on how the mesh numbers its vertices."""
    order = np.lexsort(np.round(cloud.points, 5).T)
    return cloud.points[order], cloud.areas[order]


def _in_frame(shape: Shape, pos: Array, quat: Array) -> Shape:
    """A shape of the world in the frame of a link at ``pos`` (3,), ``quat`` (4,)."""
    back = conjugate(quat)
    return replace(shape, pos=rotate(back, shape.pos - pos), quat_wxyz=multiply(back, shape.quat_wxyz))


def _owners(body: BodyModel) -> NDArray[np.int64]:
    """(B,) the link that each bone moves with: its own, or that of the nearest ancestor that has one."""
    owner = np.full(len(body.skeleton), -1)
    for bone, name in enumerate(body.skeleton.names):
        owner[bone] = body.link_of(name)
        parent = body.skeleton.parents[bone]
        if owner[bone] < 0 and parent >= 0:
            owner[bone] = owner[parent]
    return owner


def _cloud(mesh: SkinnedMesh, owner: NDArray[np.int64], index: int, link: Link, body: BodyModel) -> _Cloud:
    """The vertices of the outer surface most rigidly skinned to the link, a hand's with its fingers; none if too few.

    Inner ones are taken where the outer ones do not suffice.
    """
    own = np.array([name == link.bone or name in link.merged for name in body.skeleton.names])
    choices = [owner == index] if link.role in _BOXES else [own, owner == index]
    outer = mesh.areas > 0.0
    for seen in (outer, np.ones_like(outer)):
        for bones in choices:
            chosen = _most_rigid(mesh.weights[:, bones].sum(1) * seen)
            if chosen.any():
                areas = mesh.areas[chosen]
                areas = areas if areas.all() else np.ones(len(areas))
                points = mesh.vertices[chosen]
                return _Cloud(points, areas, _along_bone(body, index), _kind(link.role, points, mesh))
    return _Cloud(np.zeros((0, 3)), np.zeros(0), np.zeros((0, 3)), "round")


def _kind(role: str, points: Array, mesh: SkinnedMesh) -> str:
    if role not in _BOXES:
        return "round"
    low, high = float(mesh.vertices[:, 2].min()), float(mesh.vertices[:, 2].max())
    stood_on = role != "hand" or points[:, 2].min() - low < _STANDS * (high - low)
    return "sole" if stood_on else "box"


def _along_bone(body: BodyModel, index: int) -> Array:
    """(K, 3) points from the link's joint to that of the next link, of those that have one next; none for others."""
    link = body.links[index]
    onward = [each for each in body.links if each.parent == index and each.role in _NEXT.get(link.role, ())]
    if len(onward) != 1:
        return np.zeros((0, 3))
    heads, _ = body.skeleton.rest_world()
    start, stop = heads[body.skeleton.index(link.bone)], heads[body.skeleton.index(onward[0].bone)]
    return start + np.linspace(0.0, 1.0, 5)[:, None] * (stop - start)


def _most_rigid(share: Array) -> NDArray[np.bool_]:
    """(V,) the vertices in which a link has the largest share (V,), as many as a shape needs; none if too few."""
    chosen = np.zeros(len(share), dtype=bool)
    for least in _RIGID:
        chosen = share >= least
        if chosen.sum() >= _ENOUGH_VERTICES:
            return chosen
    return chosen if chosen.sum() >= _FEWEST_VERTICES else np.zeros(len(share), dtype=bool)


def _rms(shape: Shape, points: Array) -> float:
    return float(np.sqrt(np.mean(shape_distance(shape, points) ** 2)))
