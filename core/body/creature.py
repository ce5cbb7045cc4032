# SPDX-License-Identifier: GPL-3.0-or-later
"""The solids of a four-legged body without a mesh: capsules along the bones, at the body's density.

There is no table for every animal. The thicknesses are rules of thumb, chosen so that a fox with a trunk of 0.5 m
weighs what foxes weigh (5 to 8 kg); how that is shared out is a horse's, measured.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..geometry.quaternions import Array
from .anatomy import UP, normalize_vectors
from .body_measures import SIDES, limb_end
from .link_solids import LinkSolid, capsule, combine_solids, fill_shape, frame_along, shape_volume
from .model import Link, Shape
from .plan import BodyPlan
from .tables import DENSITY, PAIRED, QUADRUPED_SEGMENTS

_TRUNK_RADIUS = 0.095  # of the way from hips to neck
_RADII = {"thigh": 0.15, "shin": 0.1, "foot": 0.08, "toe": 0.08, "upper_arm": 0.12, "forearm": 0.09, "hand": 0.1}
_OF_TRUNK = {"neck": 0.5, "head": 0.6, "clavicle": 0.3, "tail": 0.35}  # of the trunk's radius
_PAW = 0.2  # paw length of leg length
_PAW_RADIUS = 0.25  # of paw length
_SNOUT = 0.35  # of the trunk: how far the head goes on past its joint
# From the end of a limb to the trunk: which segment has the mass of one that there is no link for.
_SEGMENT_CHAINS = (
    ("hand", "forearm", "upper_arm", "trunk"),
    ("foot", "shin", "thigh", "trunk"),
    ("head", "neck", "trunk"),
    ("neck", "head", "trunk"),
)


def creature_solids(plan: BodyPlan) -> dict[int, LinkSolid]:
    """A solid for every link, in the world at rest."""
    found = {}
    for index, link in enumerate(plan.links):
        start, end = plan.measures.hips if index == 0 else plan.tree.heads[link.bone], _end(plan, index)
        if link.role in _RADII:
            radius = _RADII[link.role] * float(np.linalg.norm(end - start))
        else:
            trunk = float(np.linalg.norm(plan.measures.neck - plan.measures.hips))
            radius = _TRUNK_RADIUS * trunk * _OF_TRUNK.get(link.role, 1.0)
        radius = max(radius, 0.005 * plan.measures.stature)
        shapes: tuple[Shape, ...] = (_capsule_of_radius(start, end, radius),)
        limb = link.role in ("foot", "hand", "shin", "forearm")
        if limb and not any(plan.links[child].role in ("foot", "hand") for child in plan.children(index)):
            shapes = stand_on(_paw(plan, index, end), start, radius)
        found[index] = combine_solids([_even(shape) for shape in shapes])
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
    """A pill on the ground under the end of a foot or hand, along the front and a little ahead."""
    link, front = plan.links[index], plan.measures.front
    upper, lower = ("thigh", "shin") if link.role in ("foot", "shin") else ("upper_arm", "forearm")
    limbs = plan.roles.limbs
    length = _PAW * 2.0 * plan.tree.distance(limbs[upper, link.side], limbs[lower, link.side])
    radius = _PAW_RADIUS * length
    middle = np.array([end[0], end[1], _ground(plan) + radius]) + 0.2 * length * front
    return lay_pill(middle, front, length, radius)


def lay_pill(middle: Array, along: Array, length: float, radius: float) -> Shape:
    """A capsule of that length, round ends included, along a level direction: what a paw or a hoof stands on.

    It rolls over its front and to the sides without an edge: legs lean far over their feet, which have no sole that an
    ankle could hold flat.
    """
    return Shape("capsule", np.array([radius, max(0.5 * length - radius, 0.0), 0.0]), middle, frame_along(along))


def stand_on(paw: Shape, joint: Array, radius: float) -> tuple[Shape, ...]:
    """The shapes of a foot: its paw, and the leg from its joint (3,) down to it where that is some way off."""
    way = float(np.linalg.norm(paw.pos - joint))
    return (paw,) if way < 4.0 * float(paw.size[0]) else (_capsule_of_radius(joint, paw.pos, radius), paw)


def share_mass(links: Sequence[Link]) -> tuple[Link, ...]:
    """The links of a four-legged body with the same mass in all, shared out as animals have it.

    Volumes would not do: a mesh has fur, manes and cartoon heads, and the skin of a thigh moves with the trunk.
    """
    keys = [_segment(links, index) for index in range(len(links))]
    total = sum(link.mass for link in links)
    shares = np.zeros(len(links))
    for segment, share in QUADRUPED_SEGMENTS.items():
        for side in SIDES if segment in PAIRED else ("",):
            holders = _holders(keys, segment, side)
            own = np.array([links[index].mass for index in holders])
            for index, part in zip(holders, own / max(float(own.sum()), 1e-12), strict=True):
                shares[index] += share * part
    shares /= shares.sum()
    return tuple(
        replace(link, mass=total * float(share), inertia=link.inertia * (total * float(share) / link.mass))
        for link, share in zip(links, shares, strict=True)
    )


def _segment(links: Sequence[Link], index: int) -> tuple[str, str]:
    """A link's segment of the table, and its side."""
    link = links[index]
    if link.role in ("pelvis", "spine", "chest", "clavicle"):
        return "trunk", ""
    return {"toe": "foot"}.get(link.role, link.role), link.side


def _holders(keys: list[tuple[str, str]], segment: str, side: str) -> list[int]:
    """The links that have a segment: its own, or those of the next segment towards the trunk; none for a tail."""
    order = next((chain for chain in _SEGMENT_CHAINS if segment in chain), (segment,))
    for each in order[order.index(segment) :]:
        found = [i for i, key in enumerate(keys) if key == (each, "" if each in ("trunk", "neck", "head") else side)]
        if found:
            return found
    return []


def _ground(plan: BodyPlan) -> float:
    """Height of the ground that the rest pose stands on: zero, or just below the lowest paw."""
    tree, limbs = plan.tree, plan.roles.limbs
    paws = [limbs[role, side] for side in SIDES for role in ("toe", "hand") if (role, side) in limbs]
    ankles = [float(limb_end(tree, plan.roles, "shin", side)[2]) for side in SIDES]
    lowest = min([*tree.heads[paws, 2].tolist(), *ankles])
    return 0.0 if 0.0 <= lowest < 0.1 * plan.measures.stature else lowest - 0.01 * plan.measures.stature
