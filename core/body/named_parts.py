# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts of a body by the names that animators have for them, and as lists of bones."""

import difflib

import numpy as np

from ..errors import RigError
from .model import BodyModel, Link
from .roles import ARM_ROLES, LEG_ROLES
from .stances import Flags

_ARM = ARM_ROLES[1:]  # from the shoulder joint on: the collar bone belongs to the trunk
_UPPER = ("spine", "chest", "neck", "head", *ARM_ROLES)

# name: label, roles, side ('' for both)
_PARTS: dict[str, tuple[str, tuple[str, ...], str]] = {
    "upper_body": ("Upper Body", _UPPER, ""),
    "head": ("Head and Neck", ("neck", "head"), ""),
    "arms": ("Both Arms", _ARM, ""),
    "left_arm": ("Left Arm", _ARM, "L"),
    "right_arm": ("Right Arm", _ARM, "R"),
    "legs": ("Both Legs", LEG_ROLES, ""),
    "left_leg": ("Left Leg", LEG_ROLES, "L"),
    "right_leg": ("Right Leg", LEG_ROLES, "R"),
    "tail": ("Tail", ("tail",), ""),
}


def part_choices() -> tuple[tuple[str, str], ...]:
    """(name, label) of every part that has a name."""
    return tuple((name, label) for name, (label, _, _) in _PARTS.items())


def choose_links(body: BodyModel, text: str) -> Flags:
    """(L,) the links of the parts and bones in ``text``: names from ``part_choices`` or of bones, with commas between.

    A bone that moves rigidly with another stands for that one. The root cannot be among them: it carries all the rest.
    """
    chosen = np.zeros(len(body.links), dtype=bool)
    for name in filter(None, (word.strip() for word in text.split(","))):
        if name in body.skeleton.names:
            chosen[_link_of(body, name)] = True
        elif name in _PARTS:
            label, roles, side = _PARTS[name]
            told = zip(body.links, body.joint_roles, strict=True)
            found = [index for index, (link, role) in enumerate(told) if _belongs(link, role, roles, side)]
            if not found:
                raise RigError(
                    f"This body has no part for '{label}'",
                    "Choose its bones by name, and give them a role in Body > Bones where they have none",
                )
            chosen[found] = True
        else:
            raise RigError(f"There is no bone and no part '{name}'", _suggest(body, name))
    if not chosen.any():
        raise RigError("No bones are chosen", "Choose some, or simulate the whole body")
    return chosen


def _belongs(link: Link, role: str, roles: tuple[str, ...], side: str) -> bool:
    return link.parent >= 0 and role in roles and side in ("", link.side)


def _link_of(body: BodyModel, bone: str) -> int:
    index = body.link_of(bone)
    if index < 0:
        raise RigError(f"Bone '{bone}' is no part of the body", "Give it a role in Body > Bones (--bone NAME=ROLE)")
    if index == 0:
        raise RigError(
            f"Bone '{bone}' carries the whole body, so it cannot be simulated by itself",
            "Leave it out, or simulate the whole body",
        )
    return index


def _suggest(body: BodyModel, name: str) -> str:
    known = [*_PARTS, *(link.bone for link in body.links[1:])]
    lower = {one.lower(): one for one in known}
    close = [lower[match] for match in difflib.get_close_matches(name.lower(), lower, n=3)]
    return f"Did you mean {' or '.join(map(repr, close))}?" if close else f"The parts are: {', '.join(_PARTS)}"
