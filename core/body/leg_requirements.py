# SPDX-License-Identifier: GPL-3.0-or-later
"""What a body must stand on: two legs or four. Whatever has others is refused in words, before anything is built."""

from collections.abc import Mapping, Sequence

from ..errors import RigError
from .anatomy import SkeletonTree
from .bone_names import NameGuess, split_name
from .shape_roles import find_ground_limbs

_HINT = "Give its bones a role by hand, such as thigh.L and shin.L"
_WHEELS = frozenset({"wheel", "wheels", "tyre", "tyres", "tire", "tires", "caster", "castor"})
_MOST_NAMED = 6


def require_two_or_four_legs(
    tree: SkeletonTree,
    guesses: Sequence[NameGuess],
    limbs: Mapping[tuple[str, str], int],
    forced: Mapping[int, str],
) -> None:
    """Refuse a skeleton without two legs that bend, and one with more than four; overrides are believed.

    limbs: bones by (role, side) as they were found. forced: overrides by bone.
    """
    by_hand = {"thigh.L", "thigh.R"} <= set(forced.values())
    legs = [] if by_hand or _names_one_pair(tree, guesses) else find_ground_limbs(tree)
    if len(legs) > 4:
        raise RigError(
            f"The character stands on {len(legs)} legs ({_named(tree, legs)}), and Sinew simulates two or four",
            "Choose which are to carry it: give those a role by hand (thigh.L, shin.L, upper_arm.L, forearm.L, and "
            "the same on the right)",
        )
    missing = [(role, side) for side in ("L", "R") for role in ("thigh", "shin") if (role, side) not in limbs]
    if not missing:
        return
    wheels = [bone for bone, name in enumerate(tree.skeleton.names) if _WHEELS & set(split_name(name))]
    if wheels:
        raise RigError(
            f"The character rolls on wheels ({_named(tree, wheels)}), and Sinew simulates what walks on legs",
            "Animate it by hand, or put it on the stage as an obstacle or a prop",
        )
    if not limbs:
        raise RigError(
            f"Nothing in the skeleton can stand: none of its {len(tree)} bones is a leg, by name or by shape",
            "Sinew simulates two legs or four; if it has some, give their bones a role by hand, such as thigh.L and "
            "shin.L",
        )
    role, side = missing[0]
    raise RigError(
        f"The skeleton has no {'left' if side == 'L' else 'right'} {role}: "
        f"neither its names nor its shape ({len(tree)} bones) show one",
        _HINT,
    )


def _names_one_pair(tree: SkeletonTree, guesses: Sequence[NameGuess]) -> bool:
    """Whether names say which two legs it has: what else reaches the ground then is a skirt or a coat."""
    for side in ("L", "R"):
        named = [bone for bone, guess in enumerate(guesses) if (guess.role, guess.side) == ("thigh", side)]
        tops = [bone for bone in named if not any(tree.under(bone, other) for other in named if other != bone)]
        if len(tops) != 1:
            return False
    return True


def _named(tree: SkeletonTree, bones: Sequence[int]) -> str:
    names = [f"'{tree.skeleton.names[bone]}'" for bone in bones[:_MOST_NAMED]]
    return ", ".join([*names, "…"] if len(bones) > _MOST_NAMED else names)
