# SPDX-License-Identifier: GPL-3.0-or-later
"""What a cue's word means in a library: key moments of a deed, or frames of a style."""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np

from ...errors import BadSettings
from ...motion.deeds import is_one_sided, is_periodic
from ...motion.library import Library
from ..tracking.library_building import gather_library
from ..tracking.library_files import StoredLibrary
from .cues import Cue
from .transition_graph import Frames


@dataclass(frozen=True, eq=False)
class Goal:
    """frames: (G,) of the library that are key moments of a deed or, if not is_deed, any of a style.

    follow: (G,) frames from there to the deed's end, which is played out where there is time.
    """

    name: str
    frames: Frames
    follow: Frames
    is_deed: bool


def deed_names(library: Library) -> tuple[str, ...]:
    """The deeds that there are, in the order of the alphabet."""
    return tuple(sorted({deed.name for deeds in library.deeds for deed in deeds}))


def find_deed_frames(library: Library, name: str) -> Frames:
    """(n,) frames of the library in which a deed is done, from its beginning to its end."""
    own = [
        np.arange(start + deed.start, start + deed.stop)
        for start, deeds in zip(library.starts[:-1].tolist(), library.deeds, strict=True)
        for deed in deeds
        if deed.name == name
    ]
    return np.unique(np.concatenate(own)) if own else np.zeros(0, dtype=np.int64)


def find_goal(library: Library, name: str) -> Goal:
    """What a word means; one that is neither a deed nor a style is refused, with those that are."""
    if name in deed_names(library):
        return _find_deed(library, name)
    if name not in library.tag_names():
        known = deed_names(library)
        near = get_close_matches(name, (*known, *library.tag_names()), 1)
        meant = f"Did you mean '{near[0]}'? " if near else ""
        deeds = f"Its deeds are: {', '.join(known)}" if known else "It has no deeds: mark their key moments"
        styles = ", ".join(library.tag_names()) or "none"
        raise BadSettings(f"The library has no deed '{name}'", f"{meant}{deeds}. Its styles are: {styles}")
    frames = np.flatnonzero(library.find_frames(name))
    return Goal(name, frames, np.zeros(len(frames), dtype=np.int64), False)


def require_key_moment(library: Library, name: str) -> None:
    """Refuse a word that should be a deed, but that nobody knows the key moment of."""
    if name not in deed_names(library) and name in library.tag_names() and not is_periodic(name):
        raise BadSettings(
            f"Deed '{name}' has no key moment in the library",
            f"Put a marker '{name}!' on the frame at which it is done, and build the library again",
        )


def _find_deed(library: Library, name: str) -> Goal:
    """Key moments that somebody marked count before those that are only proposed."""
    is_given = any(not deed.is_proposal for deeds in library.deeds for deed in deeds if deed.name == name)
    mirrored, frames, follow = library.mirrored, [], []
    for clip, deeds in enumerate(library.deeds):
        if mirrored[clip] and is_one_sided(name):
            continue
        for deed in deeds:
            if deed.name == name and not (is_given and deed.is_proposal):
                frames.append(int(library.starts[clip]) + deed.key)
                follow.append(deed.stop - 1 - deed.key)
    order = np.argsort(frames, kind="stable")
    return Goal(name, np.array(frames, dtype=np.int64)[order], np.array(follow, dtype=np.int64)[order], True)


def require_known(stored: StoredLibrary, cues: Iterable[Cue]) -> None:
    """Refuse cues for what is not in a library, before its mirrored copies are made and a job begins."""
    given = gather_library(stored.body, stored.with_deeds.clips)
    for cue in cues:
        require_key_moment(given, cue.deed)
        find_goal(given, cue.deed)
