# SPDX-License-Identifier: GPL-3.0-or-later
"""Verbs about libraries: minutes of motion on one character, in a file."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from ...core.control.tracking.library_building import LibrarySource
from ...core.control.tracking.library_files import LIBRARY_FILE, StoredLibrary
from ...core.errors import BadSettings, SinewError
from ...core.jobs import HERE, Where, parse_where
from ...core.paths import is_plain_file
from ..library.assembling import (
    add_to_library,
    assemble,
    make_library_body,
    open_library,
    require_untrained,
    write_library,
)
from ..library.file_sources import find_motion_files, make_file_sources
from ..scene import saving

Shown = Callable[[int, int, str], None]
"""Is told how many of how many sources are prepared, and which one was the last."""
Skipped = Callable[[str, SinewError], None]


def build_library(
    files: Iterable[str | Path],
    out: str | Path,
    *,
    scale: float = 1.0,
    mirror: bool = True,
    onto: str | Path | None = None,
    onto_scale: float | None = None,
    tags: str = "auto",
    where: str | Where = HERE,
    progress: Shown = lambda done, total, name: None,
    skipped: Skipped | None = None,
) -> StoredLibrary:
    """Make a library of motion files and folders of them; what is in it already is not prepared again.

    out: its file, written whole. scale: metres a unit of the files. mirror: have every clip mirrored as well. onto:
    whose skeleton the clips are brought onto, the first's without. tags: whether the word before the first underscore
    of a file's name is a style tag: 'auto', 'names' or 'none'. skipped: is told of a file that is left out, and why;
    without, such a file is an error.
    """
    target = Path(out)
    require_library_name(target)
    require_untrained(target.resolve())
    if not scale > 0.0:
        raise BadSettings(f"The scale is {scale}", "Give metres a unit above zero, such as 0.01 (--scale 0.01)")
    sources = make_file_sources(find_motion_files([Path(one) for one in files]), scale, tags)
    before = _read_before(target, scale) if onto is None else None
    body = before.body if before else make_library_body(_find_onto(onto, onto_scale, scale) or sources)
    clips = assemble(
        body,
        sources,
        before.clips if before else (),
        lambda done, name: progress(done, len(sources), name),
        skipped,
        parse_where(where) if isinstance(where, str) else where,
    )
    stored = StoredLibrary(body, tuple(clips), mirror, scale)
    write_library(target.resolve(), stored)
    return stored


def extend_library(
    library: str | Path,
    files: Iterable[str | Path],
    *,
    scale: float | None = None,
    tags: str = "auto",
    where: str | Where = HERE,
) -> tuple[StoredLibrary, Sequence[str]]:
    """Add more files to a library; gives what is in it then, and the names of what was added.

    scale: metres a unit of the files, None for as the library was built.
    """
    path = Path(library).resolve()
    stored = open_library(path)
    given = {tag.name for clip in stored.clips for tag in clip.tags if not tag.is_proposal}
    found = find_motion_files([Path(one) for one in files])
    sources = make_file_sources(found, stored.scale if scale is None else scale, tags, given)
    stored = add_to_library(stored, sources, where=parse_where(where) if isinstance(where, str) else where)
    write_library(path, stored)
    return stored, [source.name for source in sources]


def require_library_name(path: Path) -> None:
    """Find out at once that a library could not be written."""
    if not path.name.endswith(".npz"):
        raise BadSettings(f"'{path}' has the wrong ending", f"Give a file that ends in {LIBRARY_FILE.ending}")
    saving.require_writable_folder(path.resolve().parent)


def _find_onto(onto: str | Path | None, onto_scale: float | None, scale: float) -> list[LibrarySource]:
    """Whose skeleton it is to be; none for that of the files."""
    if onto is None:
        return []
    path = Path(onto)
    if onto_scale is None:
        onto_scale = scale if path.suffix.lower() == ".bvh" else 1.0
    return make_file_sources(find_motion_files([path]), onto_scale)


def _read_before(path: Path, scale: float) -> StoredLibrary | None:
    """The library that is there already, if what it was made with is what is asked for now."""
    if not is_plain_file(path):
        return None
    before = open_library(path.resolve())  # what is no library is not written over
    return before if before.scale == scale else None
