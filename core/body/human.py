# SPDX-License-Identifier: GPL-3.0-or-later
"""The solids of a two-legged body without a mesh: masses by the table, shapes that have their volume.

Limbs are capsules from joint to joint with the table's centre of mass and radii of gyration; feet and hands are boxes;
trunk links are cut from the table's three trunk segments, as boxes with those segments' widths and depths.
"""

import numpy as np

from ..geometry.quaternions import Array
from ..motion import Clip
from .anatomy import normalize_vectors
from .body_measures import SIDES, limb_end
from .ends import find_feet, find_hand
from .link_solids import LinkSolid, capsule, combine_solids, fill_shape
from .model import Shape
from .plan import BodyPlan
from .tables import DENSITY, HEAD_HEIGHT, SEGMENTS, Segment

_TRUNK = ("lower_trunk", "middle_trunk", "upper_trunk")  # from the hips up
_NECK_OF_HEAD = 0.2  # a separate neck's part of the head's mass, which has the neck in it
_TOE_HEIGHT = 0.6  # of the foot's


def human_solids(plan: BodyPlan, masses: dict[str, float], clip: Clip | None = None) -> dict[int, LinkSolid]:
    """A solid for every link, in the world at rest. masses: kg of each segment of the table, one side."""
    found: dict[int, list[LinkSolid]] = {}
    for link, solid in (*_trunk(plan, masses), *_head(plan, masses["head"]), *_limbs(plan, masses), *_tail(plan)):
        found.setdefault(link, []).append(solid)
    for link, solid in (*_hands(plan, masses["hand"]), *_feet(plan, masses["foot"], clip)):
        found.setdefault(link, []).append(solid)
    for index in set(range(len(plan.links))) - found.keys():  # of the user's own choosing, such as a clavicle
        found[index] = [_spare(plan, index, 0.05 * masses["upper_arm"])]
    return {link: combine_solids(solids) for link, solids in found.items()}


def _limbs(plan: BodyPlan, masses: dict[str, float]) -> list[tuple[int, LinkSolid]]:
    solids = []
    for side in SIDES:
        for role in ("thigh", "shin", "upper_arm", "forearm"):
            link = _holder(plan, role, side)
            if (role, side) not in plan.roles.limbs or link < 0:
                continue
            start = plan.tree.heads[plan.roles.limbs[role, side]]
            end = limb_end(plan.tree, plan.roles, role, side)
            if role == "forearm" and ("hand", side) not in plan.roles.limbs:
                end = find_hand(plan.tree, plan.roles, plan.measures, side).wrist
            shape = capsule(start, end, masses[role] / DENSITY)
            solids.append((link, _by_table(shape, masses[role], start, end, SEGMENTS[role], plan.measures.left)))
    return solids


def _by_table(shape: Shape, mass: float, start: Array, end: Array, segment: Segment, left: Array) -> LinkSolid:
    """The shape with the table's centre of mass and radii of gyration for a segment from ``start`` to ``end``."""
    along = end - start
    length = float(np.linalg.norm(along))
    long = normalize_vectors(along)
    # An arm held out has no side of its own along the body's: any axis across it will do.
    hint = left if abs(left @ long) < 0.9 else np.array([0.0, 0.0, 1.0])
    transverse = normalize_vectors(hint - hint @ long * long)
    sagittal = np.cross(transverse, long)
    axes = np.stack([sagittal, transverse, long], axis=-1)
    inertia = axes @ np.diag(mass * (length * np.array(segment.radii)) ** 2) @ axes.T
    return LinkSolid((shape,), mass, start + segment.com * along, inertia)


def _trunk(plan: BodyPlan, masses: dict[str, float]) -> list[tuple[int, LinkSolid]]:
    """Pelvis, spine and chest: slices of the line from the hips to the neck."""
    hips, axis = plan.measures.hips, plan.measures.neck - plan.measures.hips
    links = [i for i, link in enumerate(plan.links) if link.role in ("pelvis", "spine", "chest")]
    cuts = [0.0]
    for place, link in enumerate(links[1:], start=1):
        along = float((plan.tree.heads[plan.links[link].bone] - hips) @ axis / (axis @ axis))
        # Some skeletons bend the back at the hips: the pelvis keeps some of the trunk all the same.
        cuts.append(float(np.clip(along, cuts[-1] + 0.12, 1.0 - 0.12 * (len(links) - place))))
    cuts.append(1.0)
    return [
        (link, _slice(plan, masses, start, stop)) for link, start, stop in zip(links, cuts[:-1], cuts[1:], strict=True)
    ]


def _slice(plan: BodyPlan, masses: dict[str, float], start: float, stop: float) -> LinkSolid:
    """The trunk between two places on the line from hips (0) to neck (1)."""
    hips, axis = plan.measures.hips, plan.measures.neck - plan.measures.hips
    up = normalize_vectors(axis)
    left = normalize_vectors(plan.measures.left - plan.measures.left @ up * up)
    axes = np.stack([np.cross(left, up), left, up], axis=-1)
    whole = sum(SEGMENTS[name].length for name in _TRUNK)
    pieces, width, low = [], 0.0, 0.0
    for name in _TRUNK:
        segment = SEGMENTS[name]
        high = low + segment.length / whole
        bottom, top = max(start, low), min(stop, high)
        if top > bottom:
            mass = masses[name] * (top - bottom) / (high - low)
            wide, deep = _width_depth(segment, plan.measures.stature)
            tall = (top - bottom) * float(np.linalg.norm(axis))
            own = mass / 12.0 * np.array([tall**2 + wide**2, tall**2 + deep**2, wide**2 + deep**2])
            centre = hips + 0.5 * (bottom + top) * axis
            pieces.append(LinkSolid((), mass, centre, axes @ np.diag(own) @ axes.T))
            width += mass * wide
        low = high
    solid = combine_solids(pieces)
    half = 0.5 * width / solid.mass * left
    shape = capsule(solid.com - half, solid.com + half, solid.mass / DENSITY)
    return LinkSolid((shape,), solid.mass, solid.com, solid.inertia)


def _width_depth(segment: Segment, stature: float) -> tuple[float, float]:
    """Metres: side to side and front to back of the even box with a trunk segment's radii of gyration."""
    sagittal, transverse, longitudinal = (radius**2 for radius in segment.radii)
    length = segment.length * stature
    return (
        length * float(np.sqrt(6.0 * (sagittal + longitudinal - transverse))),
        length * float(np.sqrt(6.0 * (transverse + longitudinal - sagittal))),
    )


def _head(plan: BodyPlan, mass: float) -> list[tuple[int, LinkSolid]]:
    link = plan.link_of("head")
    if link < 0:
        return []
    neck, skull = plan.measures.neck, plan.tree.heads[plan.roles.head]
    tip = plan.tree.tail(plan.roles.head)
    stature = plan.measures.stature
    reach = float(np.linalg.norm(skull - neck))
    long = reach + (0.6 * HEAD_HEIGHT * stature if tip is None else float(np.linalg.norm(tip - skull)))
    length = float(np.clip(long, max(0.85 * HEAD_HEIGHT * stature, reach + 0.06 * stature), reach + 0.2 * stature))
    way = skull - neck if reach > 0.02 * stature else (np.zeros(3) if tip is None else tip - neck)
    if np.linalg.norm(way) < 0.02 * stature or way[2] < 0.3 * np.linalg.norm(way):
        way = np.array([0.0, 0.0, 1.0])  # hanging or unknown: a head stands on its neck
    top = neck + length * normalize_vectors(way)
    crown = top - 0.85 * HEAD_HEIGHT * stature * normalize_vectors(way)
    solids = []
    if plan.link_of("neck") >= 0:
        throat = capsule(neck, skull, _NECK_OF_HEAD * mass / DENSITY)
        solids.append((plan.link_of("neck"), fill_shape(throat, _NECK_OF_HEAD * mass)))
        mass *= 1.0 - _NECK_OF_HEAD
    shape = capsule(crown, top, mass / DENSITY)
    # The table's head hangs from its vertex.
    base = top - HEAD_HEIGHT * stature * normalize_vectors(way)
    return [*solids, (link, _by_table(shape, mass, top, base, SEGMENTS["head"], plan.measures.left))]


def _hands(plan: BodyPlan, mass: float) -> list[tuple[int, LinkSolid]]:
    solids = []
    for side in SIDES:
        link = _holder(plan, "hand", side)
        if ("forearm", side) not in plan.roles.limbs or link < 0:
            continue
        own = find_hand(plan.tree, plan.roles, plan.measures, side)
        tip = own.wrist + own.length * own.along
        box = own.box(mass / DENSITY)
        if ("hand", side) in plan.roles.limbs:
            solids.append((link, _by_table(box, mass, own.wrist, tip, SEGMENTS["hand"], own.across)))
        else:
            solids.append((link, fill_shape(box, mass)))
    return solids


def _feet(plan: BodyPlan, mass: float, clip: Clip | None) -> list[tuple[int, LinkSolid]]:
    solids = []
    for side, foot in find_feet(plan.tree, plan.roles, plan.measures, clip).items():
        link, toe = _holder(plan, "foot", side), plan.link_of("toe", side)
        back = foot.ball - foot.heel if toe >= 0 else foot.length
        front = foot.length - back
        # As high as its volume makes it, but a foot is not taller than it is wide.
        height = mass / DENSITY / (foot.width * (back + _TOE_HEIGHT * front))
        width = max(foot.width, height)
        height = mass / DENSITY / (width * (back + _TOE_HEIGHT * front))
        if toe < 0:
            box = foot.box(foot.heel, foot.tip, height, width)
            middle = (0.5 * height - foot.sole) * foot.up + foot.ankle
            start, end = middle + foot.heel * foot.front, middle + foot.tip * foot.front
            solids.append((link, _by_table(box, mass, start, end, SEGMENTS["foot"], np.cross(foot.up, foot.front))))
            continue
        heavy = mass * back / (back + _TOE_HEIGHT * front)
        solids.append((link, fill_shape(foot.box(foot.heel, foot.ball, height, width), heavy)))
        solids.append((toe, fill_shape(foot.box(foot.ball, foot.tip, _TOE_HEIGHT * height, width), mass - heavy)))
    return solids


def _tail(plan: BodyPlan) -> list[tuple[int, LinkSolid]]:
    """A tail is not in the table: thin capsules at the body's density."""
    solids = []
    for index, link in enumerate(plan.links):
        if link.role == "tail":
            chain = plan.roles.tail
            later = [other.bone for other in plan.links[index + 1 :] if other.role == "tail"]
            start, end = plan.tree.heads[link.bone], plan.tree.heads[(later or [chain[-1]])[0]]
            length = max(float(np.linalg.norm(end - start)), 0.05 * plan.measures.stature)
            volume = np.pi * (0.1 * length) ** 2 * length
            shape = capsule(start, start + length * normalize_vectors(end - start), volume)
            solids.append((index, fill_shape(shape, volume * DENSITY)))
    return solids


def _spare(plan: BodyPlan, link: int, mass: float) -> LinkSolid:
    """A small ball at the link's own joint."""
    shape = capsule(plan.tree.heads[plan.links[link].bone], plan.tree.heads[plan.links[link].bone], mass / DENSITY)
    return fill_shape(shape, mass)


def _holder(plan: BodyPlan, role: str, side: str) -> int:
    """The link that has the segment: its own, or the next one up the limb."""
    order = ("thigh", "shin", "foot") if role in ("thigh", "shin", "foot") else ("upper_arm", "forearm", "hand")
    for above in reversed(order[: order.index(role) + 1]):
        link = plan.link_of(above, side)
        if link >= 0:
            return link
    return -1
