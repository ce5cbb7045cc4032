# SPDX-License-Identifier: GPL-3.0-or-later
"""Deeds of a clip: what is done once and has a moment at which it is done, such as a kick and its impact.

What goes on and on (walking, standing) is a style, and has no moment of its own.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import BadMotion
from ..geometry.quaternions import Array

PERIODIC = frozenset(
    "walk run idle back side crouch turn pivot stop runstart runstop sidestep strafe start stand jog trot canter "
    "gallop sprint sneak crawl swim climb dance pace amble".split()
)
"""Names of styles that go on and on: clips of these have no deeds."""

_SIDES = ("left", "right")


@dataclass(frozen=True)
class Deed:
    """Frames ``start`` up to, not with, ``stop`` of a clip, in which it is done; ``key``: the frame of its key moment.

    is_proposal: Sinew's own idea, which nobody has taken up yet.
    """

    name: str
    start: int
    key: int
    stop: int
    is_proposal: bool = False

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise BadMotion("A deed has no name")
        if not 0 <= self.start <= self.key < self.stop:
            covers = f"has its key moment at frame {self.key}, and goes from {self.start} to {self.stop - 1}"
            raise BadMotion(f"Deed '{self.name}' {covers}", "Let it begin before its key moment and end after it")


def is_periodic(name: str) -> bool:
    """Whether a style of this name goes on and on, so that it has no key moment."""
    return name.strip().lower() in PERIODIC


def is_one_sided(name: str) -> bool:
    """Whether a deed's name says a side, so that its mirror image is another deed."""
    return any(side in name.lower() for side in _SIDES)


def require_deed_inside(deed: Deed, clip: str, frames: int) -> None:
    """Refuse a deed that ends beyond its clip."""
    if deed.stop > frames:
        last = f"its last frame is {frames - 1}"
        raise BadMotion(f"Deed '{deed.name}' goes to frame {deed.stop - 1} of '{clip}'", f"End it sooner: {last}")


def place_deeds(deeds: Iterable[Deed], fps: float, times_s: Array) -> tuple[Deed, ...]:
    """Deeds of a source of ``fps`` in frames at ``times_s`` (T,) of it; one whose key moment is gone is gone."""
    found = []
    for deed in deeds:
        key_s = deed.key / fps
        if not times_s[0] - 0.5 / fps <= key_s <= times_s[-1] + 0.5 / fps:
            continue
        key = int(np.abs(times_s - key_s).argmin())
        start, stop = (int(np.searchsorted(times_s, (edge - 0.5) / fps)) for edge in (deed.start, deed.stop))
        found.append(replace(deed, start=min(start, key), key=key, stop=max(stop, key + 1)))
    return tuple(found)


def merge_deeds(given: Sequence[Deed], proposed: Sequence[Deed]) -> tuple[Deed, ...]:
    """What somebody has marked, and proposals for those names that nobody has marked."""
    names = {deed.name for deed in given}
    return (*given, *(deed for deed in proposed if deed.name not in names))


def deeds_to_rows(deeds: Iterable[Deed]) -> list[list[Any]]:
    """As a file has them."""
    return [[deed.name, deed.start, deed.key, deed.stop, deed.is_proposal] for deed in deeds]


def deeds_from_rows(rows: Iterable[Sequence[Any]], clip: str, frames: int) -> tuple[Deed, ...]:
    """The inverse; what is beyond its clip is refused."""
    deeds = tuple(Deed(str(name), int(a), int(key), int(b), bool(own)) for name, a, key, b, own in rows)
    for deed in deeds:
        require_deed_inside(deed, clip, frames)
    return deeds


def count_deeds(deeds: Collection[Deed]) -> dict[str, int]:
    """How often each is done, in the order of the alphabet."""
    names = [deed.name for deed in deeds]
    return {name: names.count(name) for name in sorted(set(names))}
