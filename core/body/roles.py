# SPDX-License-Identifier: GPL-3.0-or-later
"""Which bone is what: by override, by name, and by the shape of the skeleton where names say nothing."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..errors import RigError
from ..motion import Clip
from .anatomy import SkeletonTree
from .bone_names import NameGuess, parse_bone_name
from .four_legs import stands_on_four_legs
from .leg_requirements import require_two_or_four_legs
from .shape_roles import ShapeRoles, roles_by_shape

MIDDLE_ROLES = ("pelvis", "spine", "neck", "head", "tail")
ARM_ROLES = ("clavicle", "upper_arm", "forearm", "hand")
LEG_ROLES = ("thigh", "shin", "foot", "toe")


@dataclass(frozen=True)
class RoleMap:
    """The bones that have a part in the body, by index.

    trunk: from the bone above the pelvis to the last below the neck. neck: above the trunk and below the head.
    head, pelvis: -1 for none. limbs: by (role, side). tail: from the pelvis outwards.
    why: how each of them was found: 'override', 'name' or 'shape'; 'name' also for bones called what only rides.
    forced: bones overridden by hand, with their role, 'ride' or 'merge'.
    beside: bones that are called trunk but lie beside the way from pelvis to head, of a four-legged skeleton.
    """

    pelvis: int
    trunk: tuple[int, ...]
    neck: tuple[int, ...]
    head: int
    tail: tuple[int, ...]
    limbs: Mapping[tuple[str, str], int]
    why: Mapping[int, str]
    forced: Mapping[int, str]
    beside: tuple[int, ...] = ()

    def role_of(self, bone: int) -> tuple[str, str]:
        """(role, side) of a bone, ('', '') where it has none."""
        for (role, side), limb in self.limbs.items():
            if limb == bone:
                return role, side
        middle = ((self.pelvis,), self.trunk, self.neck, (self.head,), self.tail)
        named = zip(MIDDLE_ROLES, middle, strict=True)
        return next(((role, "") for role, bones in named if bone in bones), ("", ""))


def find_roles(tree: SkeletonTree, clip: Clip | None = None, overrides: Mapping[str, str] | None = None) -> RoleMap:
    """Every bone's role; refuses a skeleton without a pelvis and two legs that bend."""
    forced = _forced(tree, overrides or {})
    guesses = _guesses(tree, forced)
    limbs = _limbs_by_name(tree, guesses)
    why = {bone: "override" if bone in forced else "name" for bone in limbs.values()}
    shape = roles_by_shape(tree, clip)
    _fill_limbs(tree, guesses, limbs, shape, why)
    require_two_or_four_legs(tree, guesses, limbs, forced)
    pelvis = _pelvis(tree, guesses, limbs, clip)
    trunk, upper = _trunk(tree, guesses, limbs, pelvis, shape)
    tail = _tail(tree, guesses, shape)
    for bone in (pelvis, *trunk, *upper, *tail):
        named = guesses[bone].role in (*MIDDLE_ROLES, "hip")
        why[bone] = "override" if bone in forced else "name" if named else "shape"
    why.update({b: "name" for b, guess in enumerate(guesses) if guess.role == "ride" and b not in why})
    beside = _beside_trunk(tree, guesses, limbs, {pelvis, *trunk, *upper, *tail})
    return RoleMap(pelvis, trunk, upper[:-1], upper[-1] if upper else -1, tail, limbs, why, forced, beside)


def _forced(tree: SkeletonTree, overrides: Mapping[str, str]) -> dict[int, str]:
    """The overrides by bone index: a role such as 'thigh.L' or 'spine', 'ride' or 'merge'."""
    known = {f"{role}.{side}" for role in (*ARM_ROLES, *LEG_ROLES) for side in "LR"} | {*MIDDLE_ROLES, "ride", "merge"}
    found = {}
    for name, role in overrides.items():
        if role not in known:
            raise RigError(f"'{role}' is no role for bone '{name}'", f"Choose one of: {', '.join(sorted(known))}")
        found[tree.skeleton.index(name)] = role
    return found


def _guesses(tree: SkeletonTree, forced: Mapping[int, str]) -> list[NameGuess]:
    """What each name says, overrides first; of a rig's several layers of bones only one is left in play."""
    guesses = [parse_bone_name(name) for name in tree.skeleton.names]
    layers = {guess.layer for guess in guesses if guess.role == "thigh"}
    layer = min(layers, default=None)
    if layer is not None:
        guesses = [guess if guess.layer == layer else replace(guess, role="ride") for guess in guesses]
    for bone, text in forced.items():
        role, _, side = text.partition(".")
        guesses[bone] = NameGuess("ride" if role == "merge" else role, side, -1)
    return guesses


def _limbs_by_name(tree: SkeletonTree, guesses: list[NameGuess]) -> dict[tuple[str, str], int]:
    limbs: dict[tuple[str, str], int] = {}
    for side in ("L", "R"):
        named: dict[str, list[int]] = {}
        for bone, guess in enumerate(guesses):
            if guess.side == side:
                named.setdefault(guess.role, []).append(bone)
        for bones in named.values():
            # An override before a name, then the nearest to the root, then the one that most hangs on.
            bones.sort(key=lambda b: (guesses[b].layer, len(tree.ancestors(b)), -tree.reach(b), b))
        by_hand = any(guesses[bone].layer < 0 for bone in named.get("thigh", ()))
        for limb in (_arm_by_name(tree, named), _leg_by_name(tree, named, by_hand)):
            limbs.update({(role, side): bone for role, bone in limb.items()})
    return limbs


def _arm_by_name(tree: SkeletonTree, named: Mapping[str, list[int]]) -> dict[str, int]:
    """A shoulder is the upper arm where nothing else is, and the clavicle otherwise; arms are counted down."""
    generic, shoulder = list(named.get("arm", ())), list(named.get("shoulder", ()))
    found: dict[str, int] = {}
    palms = named.get("palm") or generic
    for role, instead in (("upper_arm", generic or shoulder), ("forearm", generic), ("hand", palms)):
        if named.get(role):
            found[role] = named[role][0]
        elif instead:
            found[role] = instead[0]
            if instead in (generic, shoulder):
                instead.pop(0)
    collars = named.get("clavicle") or shoulder
    if collars and "upper_arm" in found:
        found["clavicle"] = collars[0]
    return found


def _leg_by_name(tree: SkeletonTree, named: Mapping[str, list[int]], by_hand: bool = False) -> dict[str, int]:
    """A hip with a side is the thigh where nothing else is, and part of the pelvis otherwise; legs are counted down."""
    generic = list(named.get("leg", ()))
    found: dict[str, int] = {}
    if named.get("thigh"):
        found["thigh"] = named["thigh"][0]
    elif len(generic) > (0 if named.get("shin") else 1):
        found["thigh"] = generic.pop(0)
    elif named.get("hip"):
        found["thigh"] = named["hip"][0]
    if "thigh" in found:
        # What the leg hangs on is none of its lower parts, whatever its name, nor is another leg.
        generic = [bone for bone in generic if not tree.under(found["thigh"], bone)]
        generic = [bone for bone in generic if not by_hand or tree.under(bone, found["thigh"])]
    for role in ("shin", "foot", "toe"):
        if named.get(role):
            found[role] = named[role][0]
        elif generic:
            found[role] = generic.pop(0)
    feet = named.get("foot", [])
    if "toe" not in found and len(feet) > 1 and tree.under(feet[1], feet[0]):
        found["toe"] = feet[1]
    return found


def _fill_limbs(
    tree: SkeletonTree,
    guesses: list[NameGuess],
    limbs: dict[tuple[str, str], int],
    shape: ShapeRoles,
    why: dict[int, str],
) -> None:
    """Take from the shape what the names left open, where it hangs on what they gave."""
    for order in (LEG_ROLES, ARM_ROLES):
        for side in ("L", "R"):
            for place, role in enumerate(order):
                bone = shape.limbs.get((role, side), -1)
                if (role, side) in limbs or bone < 0 or bone in limbs.values() or guesses[bone].role == "ride":
                    continue
                if guesses[bone].side and guesses[bone].side != side:
                    continue
                above = next((limbs[r, side] for r in reversed(order[:place]) if (r, side) in limbs), None)
                if above is None or why[above] == "shape" or tree.under(bone, above):
                    limbs[role, side] = bone
                    why[bone] = "shape"


def _pelvis(
    tree: SkeletonTree, guesses: list[NameGuess], limbs: Mapping[tuple[str, str], int], clip: Clip | None
) -> int:
    """The bone that joins the legs, or one just above it that is called pelvis or travels; else what is called so."""
    thighs = [limbs["thigh", side] for side in ("L", "R")]
    middle = tree.heads[thighs].mean(0)
    near = 0.6 * np.mean([tree.distance(limbs["thigh", side], limbs["shin", side]) for side in ("L", "R")])
    taken = set(limbs.values())

    def away(bone: int) -> float:
        return float(np.linalg.norm(tree.heads[bone] - middle))

    named = [b for b, guess in enumerate(guesses) if guess.role == "pelvis" and b not in taken]
    best = min(named, key=lambda b: (guesses[b].layer, away(b)), default=-1)
    if best >= 0 and guesses[best].layer < 0:
        return best
    joint = tree.common_ancestor(thighs)
    if joint >= 0 and guesses[joint].role != "ride" and (away(joint) < near or joint == best):
        above = [b for b in tree.ancestors(joint) if tree.distance(b, joint) < near]
        if best in above:
            return best
        # Skin on a bone above the root of the body would be left behind.
        travels = [] if clip is None or best >= 0 else [b for b in above if _travels(tree, clip, b)]
        return travels[-1] if travels else joint
    holds = best >= 0 and all(tree.under(thigh, best) for thigh in thighs)
    if joint >= 0 and guesses[joint].role != "ride" and not holds and stands_on_four_legs(tree, limbs):
        return joint  # a trunk of one bone, with all four legs on it
    spines = [b for b, guess in enumerate(guesses) if guess.role == "spine" and away(b) < near and b not in taken]
    for choice in (best, min(spines, key=lambda b: (len(tree.ancestors(b)), away(b)), default=-1), joint):
        if choice >= 0:
            return choice
    raise RigError("The skeleton has no pelvis: its legs hang on nothing in common", "Override one bone as pelvis")


def _travels(tree: SkeletonTree, clip: Clip, bone: int) -> bool:
    return bool(np.ptp(clip.world()[0][:, bone], axis=0).max() > 0.01 * tree.size)


def _trunk(
    tree: SkeletonTree, guesses: list[NameGuess], limbs: Mapping[tuple[str, str], int], pelvis: int, shape: ShapeRoles
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The bones of the trunk from the pelvis (without it) up, and those of neck and head above it."""
    chain = _chain_to_head(tree, guesses, limbs, pelvis, shape)
    legs = {bone for side in ("L", "R") for bone in tree.ancestors(limbs["thigh", side])}
    chain = [b for b in chain if b != pelvis and b not in legs and guesses[b].role != "pelvis"]
    split = next((i for i, b in enumerate(chain) if guesses[b].role in ("neck", "head")), None)
    if split is None:
        arms = [limbs["upper_arm", side] for side in ("L", "R") if ("upper_arm", side) in limbs]
        holding = [i for i, b in enumerate(chain) if any(tree.under(arm, b) for arm in arms)]
        if holding:
            split = holding[-1] + 1
        elif arms:
            height = float(tree.heads[arms, 2].mean())
            split = next((i for i, b in enumerate(chain) if tree.heads[b, 2] > height), len(chain))
        else:
            split = max(len(chain) - 1, 0)
    return tuple(chain[:split]), tuple(chain[split:])


def _beside_trunk(
    tree: SkeletonTree, guesses: list[NameGuess], limbs: Mapping[tuple[str, str], int], taken: set[int]
) -> tuple[int, ...]:
    """Bones called pelvis or spine that are in no chain: some animals have a trunk of several short branches."""
    if not stands_on_four_legs(tree, limbs):
        return ()
    called = (b for b, guess in enumerate(guesses) if guess.role in ("pelvis", "spine") and not guess.side)
    return tuple(b for b in called if b not in taken)


def _chain_to_head(
    tree: SkeletonTree, guesses: list[NameGuess], limbs: Mapping[tuple[str, str], int], pelvis: int, shape: ShapeRoles
) -> list[int]:
    """The bones from the pelvis to the head, or as far up as there are any."""
    taken = set(limbs.values())
    for role in ("head", "neck", "spine"):
        named = [b for b, guess in enumerate(guesses) if guess.role == role and not guess.side and b not in taken]
        # The topmost head; the last neck or spine.
        sign = 1 if role == "head" else -1
        order = {b: (guesses[b].layer, sign * len(tree.ancestors(b)), -tree.reach(b), b) for b in named}
        named.sort(key=order.__getitem__)
        for top in named:
            path = tree.ancestors(top)
            if pelvis in path:
                return path[: path.index(pelvis)][::-1]
        if named and role == "head":  # not on the pelvis in the tree: by what the names say alone
            parts = ("spine", "neck", "head")
            middle = [b for b, guess in enumerate(guesses) if guess.role in parts and not guess.side]
            return sorted(middle, key=lambda b: (parts.index(guesses[b].role), len(tree.ancestors(b))))
    if shape.pelvis >= 0:
        return [b for b in (*shape.trunk, *shape.neck) if guesses[b].role != "ride"]
    return []


def _tail(tree: SkeletonTree, guesses: list[NameGuess], shape: ShapeRoles) -> tuple[int, ...]:
    named = [b for b, guess in enumerate(guesses) if guess.role == "tail"]
    if named:
        top = min(named, key=lambda b: (len(tree.ancestors(b)), b))
        return tuple(b for b in tree.main_chain(top) if guesses[b].role != "ride")
    return tuple(b for b in shape.tail if guesses[b].role in ("", "tail"))
