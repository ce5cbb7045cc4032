# SPDX-License-Identifier: GPL-3.0-or-later
"""Files with what was learned: beside the .blend that refers to them, and never over another one."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import bpy

from ...core.jobs import jobs_root

View = TypeVar("View")


def once(read: Callable[[Path], View]) -> Callable[[Path], View]:
    """Decorate what reads a file for the panel: it is read once, and again when it changes, comes or goes."""

    @functools.lru_cache(maxsize=16)
    def kept(path: Path, _changed_ns: int, _size: int) -> View:
        return read(path)

    @functools.wraps(read)
    def wrapped(path: Path) -> View:
        try:
            stamp = path.stat()
        except OSError:
            return kept(path, 0, 0)
        return kept(path, stamp.st_mtime_ns, stamp.st_size)

    return wrapped


def absolute(obj: bpy.types.Object, text: str) -> Path | None:
    """A path as the armature's file keeps it, in full; None for none."""
    return Path(bpy.path.abspath(text.strip(), library=obj.library)).resolve() if text.strip() else None


def folder(kind: str) -> Path:
    """Beside the .blend, so that both can go elsewhere together; without one, among the jobs in a folder ``kind``."""
    return Path(bpy.path.abspath("//")) / "sinew" if bpy.data.filepath else jobs_root() / kind


def free(path: Path, ending: str, data: bytes) -> Path:
    """The path, or one like it before its ending, in which nothing but ``data`` is."""
    number, found = 1, path
    while found.exists() and found.read_bytes() != data:
        number += 1
        found = path.with_name(path.name.replace(ending, f"-{number}{ending}"))
    return found


def referred(path: Path) -> str:
    """The path as the .blend keeps it: from its own folder on, where it is in it or below."""
    home = Path(bpy.path.abspath("//")).resolve() if bpy.data.filepath else None
    if home is not None and path.resolve().is_relative_to(home):
        return bpy.path.relpath(str(path.resolve()), start=str(home))
    return str(path.resolve())


def is_elsewhere(path: Path | None) -> bool:
    """Whether the file would stay behind if the .blend's folder went to another machine."""
    return path is not None and bool(bpy.data.filepath) and not referred(path).startswith("//")
