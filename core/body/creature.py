# SPDX-License-Identifier: GPL-3.0-or-later
"""The solids of a four-legged body without a mesh: capsules along the bones, at the body's density.

There is no table for every animal. The thicknesses are rules of thumb, chosen so that a fox with a trunk of 0.5 m
weighs what foxes weigh (5 to 8 kg).
"""

import numpy as np

from ..geometry.quaternions import Array, from_matrix
from .anatomy import UP, normalize_vectors
from .body_measures import SIDES, limb_end
from .link_solids import LinkSolid, capsule, combine_solids, fill_shape, shape_volume
from .model import Shape
from .plan import BodyPlan
from .tables import DENSITY

_TRUNK_RADIUS = 0.095  # of the way from hips to neck
_RADII = {"thigh": 0.15, "shin": 0.1, "foot": 0.08, "toe": 0.08, "upper_arm": 0.12, "forearm": 0.09, "hand": 0.1}
_OF_TRUNK = {"neck": 0.5, "head": 0.6, "clavicle": 0.3, "tail": 0.35}  # of the trunk's radius
_PAW = 0.2  # paw length of leg length
_PAW_WIDTH, _PAW_HEIGHT = 0.6, 0.4  # of paw length
_SNOUT = 0.35  # of the trunk: how far the head goes on past its joint


def creature_solids(plan: BodyPlan) -> dict[int, LinkSolid]:
    """A solid for every link, in the world at rest."""
    found = {}
    for index, link in enumerate(plan.links):
        start, end = plan.tree.heads[link.bone], _end(plan, index)
        if link.role in _RADII:
            radius = _RADII[link.role] * float(np.linalg.norm(end - start))
        else:
            trunk = float(np.linalg.norm(plan.measures.neck - plan.measures.hips))
            radius = _TRUNK_RADIUS * trunk * _OF_TRUNK.get(link.role, 1.0)
        solid = _even(_capsule_of_radius(start, end, max(radius, 0.005 * plan.measures.stature)))
        limb = link.role in ("foot", "hand", "shin", "forearm")
        if limb and not any(plan.links[child].role in ("foot", "hand") for child in plan.children(index)):
            solid = combine_solids([solid, _even(_paw(plan, index, end))])
        found[index] = solid
    return found


def _even(shape: Shape) -> LinkSolid:
    return fill_shape(shape, shape_volume(shape) * DENSITY)


def _capsule_of_radius(start: Array, end: Array, radius: float) -> Shape:
    """A capsule whose straight part goes from ``start`` to ``end`` less its round ends, where it is long enough."""
    length = max(float(np.linalg.norm(end - start)), 2.0 * radius)
    return capsule(
        start, start + length * normalize_vectors(end - start), np.pi * radius**2 * (length - 2.0 * radius / 3.0)
    )


def _end(plan: BodyPlan, index: int) -> Array:
    """(3,) where a link's capsule ends."""
    tree, roles, link = plan.tree, plan.roles, plan.links[index]
    if link.role in ("thigh", "shin", "upper_arm", "forearm"):
        return limb_end(tree, roles, link.role, link.side)
    if link.role == "foot" and ("toe", link.side) in roles.limbs:
        return tree.heads[roles.limbs["toe", link.side]]
    trunk = plan.measures.neck - plan.measures.hips
    if link.role == "head":
        return tree.heads[roles.head] + _SNOUT * float(np.linalg.norm(trunk)) * normalize_vectors(
            plan.measures.front - 0.3 * UP
        )
    onward = [
        plan.links[child].bone
        for child in plan.children(index)
        if plan.links[child].role in ("spine", "chest", "neck", "head", link.role)
    ]
    if onward:
        return tree.heads[onward[0]]
    if link.role == "tail":
        return tree.heads[roles.tail[-1]] + 0.5 * (tree.heads[roles.tail[-1]] - tree.heads[link.bone])
    if link.role in ("foot", "hand", "toe"):
        tail = tree.tail(link.bone)
        height = max(float(tree.heads[link.bone, 2]) - _ground(plan), 1e-3)
        return tail if tail is not None else tree.heads[link.bone] - height * UP
    return tree.heads[link.bone] + 0.3 * trunk


def _paw(plan: BodyPlan, index: int, end: Array) -> Shape:
    """A box on the ground under the end of a foot or hand, a little to the front."""
    link, front = plan.links[index], plan.measures.front
    upper, lower = ("thigh", "shin") if link.role in ("foot", "shin") else ("upper_arm", "forearm")
    limbs = plan.roles.limbs
    length = _PAW * 2.0 * plan.tree.distance(limbs[upper, link.side], limbs[lower, link.side])
    ground = _ground(plan)
    height = max(_PAW_HEIGHT * length, 0.5 * float(end[2] - ground))
    centre = np.array([end[0], end[1], ground + 0.5 * height]) + 0.2 * length * front
    axes = np.stack([front, np.cross(UP, front), UP], axis=-1)
    return Shape("box", 0.5 * np.array([length, _PAW_WIDTH * length, height]), centre, from_matrix(axes))


def _ground(plan: BodyPlan) -> float:
    """Height of the ground that the rest pose stands on: zero, or just below the lowest paw."""
    tree, limbs = plan.tree, plan.roles.limbs
    paws = [limbs[role, side] for side in SIDES for role in ("toe", "hand") if (role, side) in limbs]
    ankles = [float(limb_end(tree, plan.roles, "shin", side)[2]) for side in SIDES]
    lowest = min([*tree.heads[paws, 2].tolist(), *ankles])
    return 0.0 if 0.0 <= lowest < 0.1 * plan.measures.stature else lowest - 0.01 * plan.measures.stature
