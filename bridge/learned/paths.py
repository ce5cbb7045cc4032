# SPDX-License-Identifier: GPL-3.0-or-later
"""Files with what was learned: beside the .blend that refers to them, and never over another one."""

from pathlib import Path

import bpy

from ...core.control.learned import LearnedKind
from ...core.errors import BadFile, CannotWrite
from ...core.files import read_bytes, write_new
from ...core.jobs import jobs_root
from ...core.paths import is_link, real_path

_LONGEST_STEM = 120  # bytes; with an ending and a number every disk takes it
_MOST_NUMBERS = 10_000
# What Windows takes for a device, whatever its ending.
_RESERVED = {"CON", "PRN", "AUX", "NUL", *(f"{kind}{number}" for kind in ("COM", "LPT") for number in range(10))}


def absolute(obj: bpy.types.Object, text: str) -> Path | None:
    """A path as the armature's file keeps it, in full; None for none."""
    if not text.strip():
        return None
    return real_path(Path(bpy.path.abspath(text.strip(), library=obj.library)))


def folder(kind: str) -> Path:
    """Beside the .blend, so that both can go elsewhere together; without one, among the jobs in a folder ``kind``.

    One that leads elsewhere is refused: whoever packed the .blend may have put a link there.
    """
    home = Path(bpy.path.abspath("//")) if bpy.data.filepath else jobs_root()
    found = home / ("sinew" if bpy.data.filepath else kind)
    if is_link(found) or not real_path(found).is_relative_to(real_path(home)):
        raise CannotWrite(f"'{found}' is a link to another folder", "Put a folder there instead")
    return found


def file_stem(*words: object) -> str:
    """A file's name without its ending from names of a scene, which may have anything in them."""
    clean = "-".join(bpy.path.clean_name(str(word)) for word in words if word)
    clean = clean.encode()[:_LONGEST_STEM].decode("utf-8", "ignore").strip(" .")
    return f"_{clean}" if not clean or clean.upper() in _RESERVED else clean


def keep_data(home: Path, stem: str, kind: LearnedKind, data: bytes) -> Path:
    """Write the data into a file that nothing else is in, with a number behind its name if need be. For any thread.

    What is there already is never written over. With just this in it, it is taken as it is.
    """
    for number in range(1, _MOST_NUMBERS):
        path = home / f"{stem}{f'-{number}' if number > 1 else ''}{kind.ending}"
        if write_new(path, data) or _has_just(path, data):
            return path
    raise CannotWrite(f"'{home}' has too many files called '{stem}'", "Delete those that you do not need")


def _has_just(path: Path, data: bytes) -> bool:
    try:
        return not is_link(path) and read_bytes(path, len(data)) == data
    except BadFile:
        return False


def stored_path(path: Path) -> str:
    """The path as the .blend keeps it: from its own folder on, where it is in it or below."""
    home, full = Path(bpy.path.abspath("//")), real_path(path)
    if bpy.data.filepath and full.is_relative_to(real_path(home)):
        return bpy.path.relpath(str(full), start=str(real_path(home)))
    return str(full)


def is_elsewhere(path: Path | None) -> bool:
    """Whether the file would stay behind if the .blend's folder went to another machine."""
    return path is not None and bool(bpy.data.filepath) and not stored_path(path).startswith("//")
