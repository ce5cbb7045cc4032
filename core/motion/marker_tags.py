# SPDX-License-Identifier: GPL-3.0-or-later
"""Style tags as markers in a timeline, that people read and move.

'walk' begins a range and 'walk end' is on its last frame. Without its end a range goes up to the next marker that has
none either, and a marker of dashes names nothing. A name with a question mark behind it ('walk?', 'walk? end') is
Sinew's proposal, until somebody takes the question mark away.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import BadMotion

END, PROPOSED = " end", "?"
LONGEST_NAME = 48
"""Letters of a tag's name that leave room for the rest of a marker's."""


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
    names = [name.strip() for name, _ in markers]
    order = sorted(range(len(markers)), key=lambda place: markers[place][1])
    begins = [place for place in order if not names[place].endswith(END) and names[place].strip("- ?")]
    ends = {place: _find_end(markers, names, begins, place) for place in begins}
    plain = [place for place in order if ends.get(place) is None and not names[place].endswith(END)]
    found = []
    for place in begins:
        end = ends[place]
        later = [markers[other][1] for other in plain if markers[other][1] > markers[place][1]]
        stop = markers[end][1] + 1 if end is not None else min(later, default=None)
        is_proposal = names[place].endswith(PROPOSED)
        own = (place,) if end is None else (place, end)
        found.append(MarkedRange(names[place].rstrip("? "), markers[place][1], stop, is_proposal, own))
    return tuple(found)


def _find_end(
    markers: Sequence[tuple[str, float]], names: Sequence[str], begins: Sequence[int], place: int
) -> int | None:
    """The marker that ends the range which one begins: the first of that name before it begins again."""
    first = markers[place][1]
    again = [markers[other][1] for other in begins if names[other] == names[place] and markers[other][1] > first]
    limit = min(again, default=float("inf"))
    fitting = [i for i, name in enumerate(names) if name == names[place] + END and first <= markers[i][1] < limit]
    return min(fitting, key=lambda i: markers[i][1], default=None)


def name_markers(name: str, is_proposal: bool) -> tuple[str, str]:
    """The names of the markers that begin and end a range; a name that no marker could have is refused."""
    plain = name.strip()
    if not plain.strip("- ?") or plain.endswith((END, PROPOSED)) or len(plain) > LONGEST_NAME:
        raise BadMotion(f"'{name}' cannot be a style tag", f"Give it a word or two of at most {LONGEST_NAME} letters")
    begin = f"{plain}{PROPOSED}" if is_proposal else plain
    return begin, f"{begin}{END}"
