# SPDX-License-Identifier: GPL-3.0-or-later
"""Style tags as markers in a timeline, that people read and move.

'walk' begins a range and 'walk end' is on its last frame. Without its end a range goes up to the next marker that has
none either, and a marker of dashes names nothing. A name with a question mark behind it ('walk?', 'walk? end') is
Sinew's proposal, until somebody takes the question mark away. Names with an exclamation mark are of deeds
(``deed_markers.py``), and name no style.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from ..errors import BadMotion
from ..limits import BLENDER_NAME_BYTES
from .deed_markers import is_deed_marker

END, PROPOSED = " end", "?"
LONGEST_NAME = BLENDER_NAME_BYTES - len(f"{PROPOSED}{END}")
"""Bytes of a tag's name that leave room for the rest of a marker's; a letter may have four."""


@dataclass(frozen=True)
class MarkedRange:
    """Frames ``first`` up to, not with, ``stop`` of an Action; stop None: to its end.

    markers: places in the list of markers of the one that begins it and, where there is one, of the one that ends it.
    """

    name: str
    first: float
    stop: float | None
    is_proposal: bool
    markers: tuple[int, ...]


def parse_markers(markers: Sequence[tuple[str, float]]) -> tuple[MarkedRange, ...]:
    """The ranges that markers (name, frame) mean, in the order of their first frames."""
    return _parse(tuple(markers))


@lru_cache(maxsize=8)
def _parse(markers: tuple[tuple[str, float], ...]) -> tuple[MarkedRange, ...]:
    """The same, kept for as long as they do not change: a panel asks with every draw."""
    names = [name.strip() for name, _ in markers]
    frames = [frame for _, frame in markers]
    plain = [place for place in range(len(markers)) if not is_deed_marker(names[place])]
    order = sorted(plain, key=frames.__getitem__)
    begins = [place for place in order if not names[place].endswith(END) and names[place].strip("- ?")]
    ends = _find_ends(names, frames, order, begins)
    # Frames of all that an open range may go up to, in order.
    open_frames = [frames[place] for place in order if place not in ends and not names[place].endswith(END)]
    found = []
    for place in begins:
        first, end = frames[place], ends.get(place)
        stop = frames[end] + 1 if end is not None else _next_above(open_frames, first)
        own = (place,) if end is None else (place, end)
        found.append(MarkedRange(names[place].rstrip("? "), first, stop, names[place].endswith(PROPOSED), own))
    return tuple(found)


def _find_ends(
    names: Sequence[str], frames: Sequence[float], order: Sequence[int], begins: Sequence[int]
) -> dict[int, int]:
    """By marker that begins a range the one that ends it: the first of that name before it begins again."""
    of_name: dict[str, list[int]] = defaultdict(list)
    begin_frames: dict[str, list[float]] = defaultdict(list)
    for place in order:
        if names[place].endswith(END):
            of_name[names[place].removesuffix(END)].append(place)
    for place in begins:
        begin_frames[names[place]].append(frames[place])
    found = {}
    for place in begins:
        candidates, first = of_name[names[place]], frames[place]
        again = _next_above(begin_frames[names[place]], first)
        nearest = bisect_left(candidates, first, key=frames.__getitem__)
        if nearest < len(candidates) and (again is None or frames[candidates[nearest]] < again):
            found[place] = candidates[nearest]
    return found


def _next_above(frames: Sequence[float], frame: float) -> float | None:
    """The first of frames in order that is after one; None for none."""
    place = bisect_right(frames, frame)
    return frames[place] if place < len(frames) else None


def name_markers(name: str, is_proposal: bool) -> tuple[str, str]:
    """The names of the markers that begin and end a range; a name that no marker could have is refused."""
    plain = name.strip()
    if (
        not plain.strip("- ?")
        or plain.endswith((END, PROPOSED))
        or is_deed_marker(plain)
        or len(plain.encode("utf-8", "replace")) > LONGEST_NAME
    ):
        raise BadMotion(f"'{name}' cannot be a style tag", f"Give it a word or two of at most {LONGEST_NAME} bytes")
    begin = f"{plain}{PROPOSED}" if is_proposal else plain
    return begin, f"{begin}{END}"
