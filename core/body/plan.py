# SPDX-License-Identifier: GPL-3.0-or-later
"""Which bones become links, which are merged and which ride along, and what hangs on what.

The rules, all of them by the skeleton alone, so that every clip of a character gets the same links:
- pelvis, thigh, shin, foot, upper arm, forearm and hand are links where there are bones for them;
- the trunk between pelvis and neck is one to three links, none shorter than 0.06 of stature, cut as evenly as its
  bones allow;
- neck and head are one link, unless the neck is longer than 0.15 of stature;
- a toe is a link if it is longer than 0.03 of stature and the character stands on two legs, a tail one to three;
- clavicles are part of the chest, unless an override makes them links;
- other bones between two links are merged into the upper one; the rest (fingers, face, twist, props, controls,
  bones above the pelvis) ride along.
A link hangs on the link that its role says (a foot on the shin), whatever its bone's parent is.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..geometry.quaternions import Array
from .anatomy import SkeletonTree
from .body_measures import SIDES, BodyMeasures, measure_skeleton
from .roles import RoleMap

_SPINE_LINK, _LONG_NECK, _TOE_LINK, _TAIL_LINK = 0.06, 0.15, 0.03, 0.06
_TOE_OF_INSTEP = 0.5  # toe length by the way from ankle to toe joint, where the bone does not say
_ORDER = "pelvis spine chest neck head clavicle upper_arm forearm hand thigh shin foot toe tail".split()
_LIMBS = (("thigh", "shin", "foot", "toe"), ("upper_arm", "forearm", "hand"))
# What a link may hang on, the nearest first, besides the link above it in its limb.
_HOLDERS = {
    **dict.fromkeys(("spine", "chest"), ("spine", "pelvis")),
    **dict.fromkeys(("neck", "clavicle"), ("chest", "spine", "pelvis")),
    "head": ("neck", "chest", "spine", "pelvis"),
    **dict.fromkeys(("upper_arm", "forearm", "hand"), ("clavicle", "chest", "spine", "pelvis")),
    **dict.fromkeys(("thigh", "shin", "foot", "toe"), ("pelvis",)),
    "tail": ("tail", "pelvis"),
}


@dataclass(frozen=True)
class PlannedLink:
    """A link to be: its bone, its role ('chest' is the spine's last), its parent link, and the bones merged into it."""

    bone: int
    role: str
    side: str
    parent: int
    merged: tuple[int, ...] = ()
    note: str = ""


@dataclass(frozen=True, eq=False)
class BodyPlan:
    """Links with parents first, and everything measured that they were planned with."""

    tree: SkeletonTree
    roles: RoleMap
    measures: BodyMeasures
    links: tuple[PlannedLink, ...]

    def link_of(self, role: str, side: str = "") -> int:
        """The first link with that role and side, -1 for none."""
        return next((i for i, link in enumerate(self.links) if (link.role, link.side) == (role, side)), -1)

    def children(self, link: int) -> list[int]:
        """The links that hang on ``link``."""
        return [i for i, each in enumerate(self.links) if each.parent == link]


def plan_body(tree: SkeletonTree, roles: RoleMap) -> BodyPlan:
    """Choose the links of a skeleton with known roles."""
    measures = measure_skeleton(tree, roles)
    chosen = _chosen(tree, roles, measures)
    dropped = {bone for bone, role in roles.forced.items() if role in ("ride", "merge")} - {roles.pelvis}
    chosen = {bone: role for bone, role in chosen.items() if bone not in dropped}
    links = _linked(tree, roles, chosen)
    merged = _merged(tree, roles, links)
    return BodyPlan(
        tree,
        roles,
        measures,
        tuple(
            replace(link, merged=tuple(bone for bone, holder in merged.items() if holder == i))
            for i, link in enumerate(links)
        ),
    )


def toe_length(tree: SkeletonTree, roles: RoleMap, side: str) -> float:
    """Metres from the toe joint to the tip of the toes."""
    foot, toe = roles.limbs["foot", side], roles.limbs["toe", side]
    tail = tree.tail(toe) if not tree.children[toe] else tree.heads[tree.main_chain(toe)[-1]]
    instep = tree.distance(foot, toe)
    length = 0.0 if tail is None else float(np.linalg.norm(tail - tree.heads[toe]))
    # A toe as long as the rest of the foot is a foot's length copied by an exporter.
    return length if 0.0 < length < 1.2 * instep else _TOE_OF_INSTEP * instep


def _chosen(tree: SkeletonTree, roles: RoleMap, measures: BodyMeasures) -> dict[int, str]:
    """Link bones with their roles, in an order where the trunk comes before the limbs."""
    forced = set(roles.forced)
    chosen = {roles.pelvis: "pelvis"}
    starts = _even_cut(tree, roles.trunk, measures.neck, _SPINE_LINK * measures.stature, forced)
    chosen.update(dict.fromkeys(starts, "spine"))
    if starts:
        chosen[starts[-1]] = "chest"
    if roles.head >= 0:
        first = (*roles.neck, roles.head)[0]
        neck = tree.distance(first, roles.head)
        if first != roles.head and (neck > _LONG_NECK * measures.stature or roles.head in forced):
            chosen[first] = "neck"
            chosen[roles.head] = "head"
        else:
            chosen[first] = "head"
    toes = [toe_length(tree, roles, side) for side in SIDES if {("foot", side), ("toe", side)} <= roles.limbs.keys()]
    with_toes = bool(toes) and not measures.four_legged and float(np.mean(toes)) >= _TOE_LINK * measures.stature
    for (role, _), bone in roles.limbs.items():
        if bone in forced or (role != "clavicle" and (role != "toe" or with_toes)):
            chosen[bone] = role
    if roles.tail:
        end = tree.heads[roles.tail[-1]]
        for bone in _even_cut(tree, roles.tail, end, _TAIL_LINK * measures.stature, forced):
            chosen[bone] = "tail"
    return chosen


def _even_cut(tree: SkeletonTree, chain: tuple[int, ...], end: Array, shortest: float, forced: set[int]) -> list[int]:
    """The bones of a chain at which one to three links begin, as even in length as the bones allow."""
    if not chain:
        return []
    points = np.array([*(tree.heads[bone] for bone in chain), end])
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=-1))])
    count = int(np.clip(along[-1] // max(shortest, 1e-9), 1, min(3, len(chain))))
    wanted = along[-1] * np.arange(1, count) / count
    cuts = {0} | {int(np.argmin(np.abs(along[:-1] - place))) for place in wanted}
    # Evening out may still have left a stub between two bones that lie close together.
    kept = [0]
    for cut in sorted(cuts - {0}):
        if along[cut] - along[kept[-1]] >= 0.5 * shortest and along[-1] - along[cut] >= 0.5 * shortest:
            kept.append(cut)
    return [bone for i, bone in enumerate(chain) if i in kept or bone in forced]


def _linked(tree: SkeletonTree, roles: RoleMap, chosen: dict[int, str]) -> list[PlannedLink]:
    """Links with their parents: by role, and by the tree where several would do."""
    bones = sorted(chosen, key=lambda b: (_ORDER.index(chosen[b]), len(tree.ancestors(b)), roles.role_of(b)[1], b))
    links: list[PlannedLink] = []
    for bone in bones:
        role, side = chosen[bone], roles.role_of(bone)[1]
        parent = _parent(tree, roles, chosen, links, bone)
        note = ""
        if parent >= 0 and not tree.under(bone, links[parent].bone):
            note = f"hangs on '{tree.skeleton.names[links[parent].bone]}', though its bone does not"
        links.append(PlannedLink(bone, role, side, parent, note=note))
    return links


def _parent(tree: SkeletonTree, roles: RoleMap, chosen: dict[int, str], links: list[PlannedLink], bone: int) -> int:
    role, side = chosen[bone], roles.role_of(bone)[1]
    if role == "pelvis":
        return -1
    places = {link.bone: i for i, link in enumerate(links)}
    limb = next((order[: order.index(role)] for order in _LIMBS if role in order), ())
    for above in reversed(limb):
        found = roles.limbs.get((above, side), -1)
        if found in places:
            return places[found]
    fitting = _HOLDERS[role]
    for ancestor in tree.ancestors(bone)[1:]:
        if ancestor in places and links[places[ancestor]].role in fitting:
            return places[ancestor]
    last = [i for i, link in enumerate(links) if link.role in fitting and link.side in ("", side)]
    return min(last, key=lambda i: (fitting.index(links[i].role), -i))


def _merged(tree: SkeletonTree, roles: RoleMap, links: list[PlannedLink]) -> dict[int, int]:
    """Bones merged into links: bone to link."""
    places = {link.bone: i for i, link in enumerate(links)}
    between = {b for link in links for b in tree.ancestors(link.bone)[1:]}
    parts = {*roles.trunk, *roles.neck, roles.head, *roles.tail, *roles.limbs.values(), *roles.beside}
    parts |= {bone for bone, role in roles.forced.items() if role == "merge"}
    rides = {bone for bone, role in roles.forced.items() if role == "ride"}
    merged: dict[int, int] = {}
    for bone in set(range(len(tree))) - places.keys() - rides:
        holder = next((places[a] for a in tree.ancestors(bone)[1:] if a in places), None)
        if holder is None:
            holder = _counterpart(tree, bone, places)
        elif bone not in between | parts:
            continue
        role, side = roles.role_of(bone)
        if role == "clavicle" and ("upper_arm", side) in roles.limbs:
            # Some rigs hang the clavicles on the neck.
            arm = places.get(roles.limbs["upper_arm", side])
            holder = holder if arm is None else links[arm].parent
        if holder is not None:
            merged[bone] = holder
    return dict(sorted(merged.items()))


def _counterpart(tree: SkeletonTree, bone: int, places: dict[int, int]) -> int | None:
    """In a rig of several layers, the link of the same name as a bone above this one (ORG-spine for DEF-spine)."""
    if not tree.skeleton.names[bone].startswith("DEF-"):
        return None
    names = tree.skeleton.names
    plain = {names[link].removeprefix("DEF-"): place for link, place in places.items()}
    above = (plain.get(names[each].removeprefix("ORG-")) for each in tree.ancestors(bone)[1:])
    return next((place for place in above if place is not None), None)
