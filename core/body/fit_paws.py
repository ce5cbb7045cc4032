# SPDX-License-Identifier: GPL-3.0-or-later
"""Paws and hooves of a four-legged body from its mesh: a pill on the ground where the mesh of a foot is lowest."""

import numpy as np
from numpy.typing import NDArray

from ..geometry.quaternions import Array
from .anatomy import UP
from .creature import lay_pill, stand_on
from .four_legs import find_front_feet, flag_soles
from .mesh import SkinnedMesh
from .model import BodyModel, Shape
from .sagittal_plane import find_sagittal_plane

_PAW_HEIGHT = 0.12  # of the height of the hips: the lowest part of a foot's mesh, which is its paw
_RIGID = 0.5  # how large a link's share in a vertex must be
_FEWEST_VERTICES = 4
_SLIMMEST, _WIDEST = 0.02, 0.07  # radius of a paw, of the height of the hips
_LONGEST = 0.3  # of the height of the hips
_WIDEST_LEG = 0.25  # radius of a lower leg, of its length


def fit_paws(body: BodyModel, mesh: SkinnedMesh, owner: NDArray[np.int64]) -> dict[str, tuple[Shape, ...]]:
    """By bone the shapes of feet that a four-legged body stands on, in the world at rest; none for a two-legged one.

    owner: (B,) the link that each bone moves with. A foot that the mesh has too few vertices of is left out.
    """
    mirror = find_sagittal_plane(body)
    if not len(find_front_feet(body)) or mirror is None:
        return {}
    heads, _ = body.skeleton.rest_world()
    hips = [heads[body.skeleton.index(link.bone), 2] for link in body.links if link.role == "thigh"]
    tall = float(np.mean(hips)) - float(mesh.vertices[:, 2].min())
    front = np.cross(mirror.normal, UP)
    found = {}
    for index in np.flatnonzero(flag_soles(body)):
        points = mesh.vertices[mesh.weights[:, owner == index].sum(1) >= _RIGID]
        pill = _pill(points, front, tall)
        if pill is not None:
            bone = body.links[index].bone
            slim = min(float(shape.size[0]) for shape in body.links[index].shapes)
            found[bone] = stand_on(pill, heads[body.skeleton.index(bone)], slim)
    return found


def end_at_paws(body: BodyModel, shapes: dict[str, Shape], paws: dict[str, tuple[Shape, ...]]) -> dict[str, Shape]:
    """Fitted shapes by bone, with lower legs that end where their feet begin.

    The skin of a hoof often moves with the leg: a leg as long as that would stand on the ground beside its foot.
    """
    heads, _ = body.skeleton.rest_world()
    found = dict(shapes)
    for link in body.links:
        above = body.links[link.parent].bone if link.parent >= 0 else ""
        if link.bone in paws and above in shapes:
            start, stop = heads[body.skeleton.index(above)], heads[body.skeleton.index(link.bone)]
            length = float(np.linalg.norm(stop - start))
            radius = min(float(np.sort(shapes[above].size[shapes[above].size > 0.0])[0]), _WIDEST_LEG * length)
            found[above] = lay_pill(0.5 * (start + stop), stop - start, length, radius)
    return found


def _pill(points: Array, front: Array, tall: float) -> Shape | None:
    """The pill in the lowest of a foot's vertices (V, 3)."""
    if not len(points):
        return None
    low = float(points[:, 2].min())
    sole = points[points[:, 2] < low + _PAW_HEIGHT * tall]
    if len(sole) < _FEWEST_VERTICES:
        return None
    left = np.cross(UP, front)
    along, across = sole @ front, sole @ left
    radius = float(np.clip(0.4 * np.ptp(across), _SLIMMEST * tall, _WIDEST * tall))
    length = float(np.clip(np.ptp(along), 2.0 * radius, _LONGEST * tall))
    middle = 0.5 * (along.min() + along.max()) * front + 0.5 * (across.min() + across.max()) * left
    return lay_pill(middle + (low + radius) * UP, front, length, radius)
