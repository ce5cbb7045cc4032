# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bone's name says: its role and its side."""

import re
from dataclasses import dataclass
from functools import lru_cache

from .bone_vocabulary import FILLERS, LAYERS, LEFT, RIDES, RIGHT, ROLES

_PIECES = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_SIDES = LEFT | RIGHT
_WORDS = frozenset().union(RIDES, FILLERS, _SIDES, *(words for words, _ in ROLES)) - {"l", "r"}
_PLAIN_LAYER = 1


@dataclass(frozen=True)
class NameGuess:
    """What a name says by itself.

    role: a role; or 'arm', 'leg', 'shoulder', 'hip', 'palm', whose meaning depends on the bones around it; or
        'ride' for what is never simulated; or '' where the name says nothing.
    side: 'L', 'R' or ''.
    layer: 0 for a rig's deforming bones, 1 for plain bones, 2 for a rig's originals.
    """

    role: str
    side: str
    layer: int = _PLAIN_LAYER


def parse_bone_name(name: str) -> NameGuess:
    """What the bone's name says, whatever its prefix, case and separators."""
    words = split_name(name)
    side = next(("L" if word in LEFT else "R" for word in words if word in _SIDES), "")
    layer = LAYERS.get(words[0], _PLAIN_LAYER) if words else _PLAIN_LAYER
    present = frozenset(words)
    # The big toe is a thumb of the foot in some rigs, and no finger.
    rides = bool(present & RIDES) and not {"foot", "thumb"} <= present
    role = "ride" if rides else next((role for needed, role in ROLES if needed <= present), "")
    if role == "hip" and not side:
        role = "pelvis"
    if role == "pelvis" and side:
        role = "hip"
    return NameGuess(role, side, layer)


def split_name(name: str) -> tuple[str, ...]:
    """The words of a bone's name in lower case: 'mixamorig:LeftUpLeg' is ('left', 'up', 'leg')."""
    own = re.split(r"[:|]", name)[-1]
    found: list[str] = []
    for piece in _PIECES.findall(own):
        found.extend(_taken_apart(piece.lower()))
    return tuple(word for word in found if not word.isdigit())


@lru_cache(maxsize=4096)
def _taken_apart(piece: str) -> tuple[str, ...]:
    """A run of letters as known words, with an 'l' or 'r' before or after; as it is where that does not work out."""
    if piece in _WORDS or len(piece) < 3:
        return (piece,)
    for side in ("l", "r"):
        if piece.startswith(side) and (rest := _in_words(piece[1:])):
            return (side, *rest)
    if rest := _in_words(piece):
        return rest
    if piece[-1] in "lr" and (rest := _in_words(piece[:-1])):
        return (*rest, piece[-1])
    return (piece,)


def _in_words(piece: str) -> tuple[str, ...]:
    """The piece as a run of known words, the longest first; empty where it is none."""
    if not piece:
        return ()
    for length in range(len(piece), 1, -1):
        head = piece[:length]
        if head in _WORDS:
            if length == len(piece):
                return (head,)
            if rest := _in_words(piece[length:]):
                return (head, *rest)
    return ()
