# SPDX-License-Identifier: GPL-3.0-or-later
"""Deeds as markers in a timeline, beside the style tags of ``marker_tags.py``.

'frontkick!' is on the key moment of a deed, 'frontkick! begin' and 'frontkick! end' are on its first and last frame. A
deed without these begins and ends half a second from its key moment. A question mark behind the exclamation mark
('frontkick!?', 'frontkick!? begin') says that Sinew proposes it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import BadMotion
from ..limits import BLENDER_NAME_BYTES

BEGIN, KEY, END = " begin", "", " end"
"""What stands behind the exclamation mark: parts of a deed."""
HALF_S = 0.5
"""Seconds from a key moment to the beginning and the end of a deed that has no markers for them."""

_MARKER = re.compile(r"(?P<name>.*?\S)\s*!(?P<proposed>\??)(?P<part>| begin| end)$")
_LONGEST = BLENDER_NAME_BYTES - len("!? begin")


@dataclass(frozen=True)
class MarkedDeed:
    """A deed in frames of an Action: its first, that of its key moment, and its last; None where no marker says it.

    markers: places in the list of markers of all that belong to it.
    """

    name: str
    first: float | None
    key: float
    last: float | None
    is_proposal: bool
    markers: tuple[int, ...]


def is_deed_marker(name: str) -> bool:
    """Whether a marker's name is that of a deed."""
    return _MARKER.match(name.strip()) is not None


def parse_deed_markers(markers: Sequence[tuple[str, float]]) -> tuple[MarkedDeed, ...]:
    """The deeds that markers (name, frame) mean, in the order of their key moments.

    A beginning or an end without a key moment is refused: nobody knows when it is done.
    """
    parts: dict[tuple[str, str], list[tuple[float, str, int]]] = {}
    for place, (text, frame) in enumerate(markers):
        if found := _MARKER.match(text.strip()):
            parts.setdefault((found["name"], found["proposed"]), []).append((frame, found["part"], place))
    deeds: list[MarkedDeed] = []
    for (name, proposed), rows in parts.items():
        deeds += _pair_up(name, bool(proposed), sorted(rows, key=lambda row: (row[0], (BEGIN, KEY, END).index(row[1]))))
    return tuple(sorted(deeds, key=lambda deed: (deed.key, deed.name)))


def _pair_up(name: str, is_proposal: bool, rows: Sequence[tuple[float, str, int]]) -> list[MarkedDeed]:
    """Deeds of one name from its markers in the order of time: begin, key moment, end, and the next."""
    found: list[MarkedDeed] = []
    begun: tuple[float, int] | None = None
    for number, (frame, part, place) in enumerate(rows):
        if part == BEGIN:
            if begun is not None:
                raise _no_key(name, begun[0])
            begun = frame, place
        elif part == KEY:
            end = rows[number + 1] if number + 1 < len(rows) and rows[number + 1][1] == END else None
            places = (*([begun[1]] if begun else []), place, *([end[2]] if end else []))
            last = end[0] if end else None
            found.append(MarkedDeed(name, begun[0] if begun else None, frame, last, is_proposal, places))
            begun = None
        elif number == 0 or rows[number - 1][1] != KEY:
            raise _no_key(name, frame)
    if begun is not None:
        raise _no_key(name, begun[0])
    return found


def _no_key(name: str, frame: float) -> BadMotion:
    return BadMotion(
        f"Deed '{name}' at frame {frame:g} has no key moment",
        f"Put a marker '{name}!' on the frame at which it is done, between '{name}! begin' and '{name}! end'",
    )


def name_deed_markers(name: str, is_proposal: bool) -> tuple[str, str, str]:
    """The names of the markers of a deed's beginning, key moment and end; what no marker could be called is refused."""
    plain = name.strip()
    if not plain.strip("-? ") or "!" in plain or len(plain.encode("utf-8", "replace")) > _LONGEST:
        raise BadMotion(f"'{name}' cannot be a deed", f"Give it a word or two of at most {_LONGEST} bytes")
    stem = f"{plain}!?" if is_proposal else f"{plain}!"
    return f"{stem}{BEGIN}", f"{stem}{KEY}", f"{stem}{END}"
