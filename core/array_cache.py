# SPDX-License-Identifier: GPL-3.0-or-later
"""A cache of arrays by what they were computed from: costs disk, saves time, and never changes a result.

Whoever computes the same again gets the same bits, with the cache or without: what is kept is what is used, and a key
is a digest of everything that the result depends on. A file that is torn or in the way is as good as none.
"""

import dataclasses
import hashlib
import logging
import os
import platform
import sys
from collections.abc import Mapping
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from .errors import SinewError
from .files import make_folder, read_arrays, write_arrays
from .paths import find_in_folder, is_plain_file

MOST_BYTES = 512 * 1024 * 1024
"""How large the folder grows; what was not asked for the longest goes first."""

_log = logging.getLogger(__name__)


def cache_root() -> Path | None:
    """Where caches are: ``SINEW_CACHE``, else this user's cache folder on this system; None if that is empty: none."""
    chosen = os.environ.get("SINEW_CACHE")
    if chosen is not None:
        return Path(chosen) if chosen.strip() else None
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "Sinew" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "Sinew"
    shared = os.environ.get("XDG_CACHE_HOME", "")  # a path that is not whole is to be ignored, says who invented it
    return (Path(shared) if os.path.isabs(shared) else Path.home() / ".cache") / "sinew"


class ArrayCache:
    """Arrays in files named by their keys, in a folder of ``cache_root``; without one it keeps nothing."""

    def __init__(self, name: str, root: Path | None = None) -> None:
        root = cache_root() if root is None else root
        self.folder = root / name if root is not None else None

    def load(
        self, key: str, shapes: Mapping[str, tuple[int, ...]], kinds: Mapping[str, Any] | None = None
    ) -> dict[str, np.ndarray] | None:
        """What was kept under a key, if it has just these arrays; None if not. kinds: of numbers, where not float64."""
        if self.folder is None:
            return None
        path = self.folder / f"{key}.npz"
        try:
            if not is_plain_file(path):
                return None
            arrays, _ = read_arrays(path)
            os.utime(path)
        except (SinewError, OSError) as error:
            _log.info("Not used: %s", error)
            return None
        if {name: array.shape for name, array in arrays.items()} != dict(shapes):
            return None
        wanted = {name: np.dtype((kinds or {}).get(name, np.float64)) for name in shapes}
        return arrays if all(array.dtype == wanted[name] for name, array in arrays.items()) else None

    def save(self, key: str, arrays: Mapping[str, np.ndarray]) -> None:
        """Keep arrays; where that cannot be, they are computed again next time."""
        if self.folder is None:
            return
        try:
            make_folder(self.folder)
            write_arrays(self.folder / f"{key}.npz", arrays, {})
            self._shrink()
        except (SinewError, OSError) as error:
            _log.info("Not kept: %s", error)

    def _shrink(self) -> None:
        assert self.folder is not None
        files = [(path.stat(), path) for path in find_in_folder(self.folder, ".npz")]
        total = sum(status.st_size for status, _ in files)
        for status, path in sorted(files, key=lambda file: file[0].st_mtime):
            if total <= MOST_BYTES:
                return
            path.unlink(missing_ok=True)
            total -= status.st_size


def compute_digest(*things: Any) -> str:
    """A hexadecimal digest of values: numbers, texts, arrays, and tuples, mappings or dataclasses of such."""
    found = hashlib.sha256()
    for thing in things:
        _feed(found, thing)
    return found.hexdigest()[:40]


@lru_cache(maxsize=1)
def describe_code() -> str:
    """A digest of what computes: Sinew's core, libraries, and the machine, whose last bits are its own."""
    core = Path(__file__).resolve().parent
    sources = tuple((path.relative_to(core).as_posix(), path.read_bytes()) for path in sorted(core.rglob("*.py")))
    found = hashlib.sha256()
    for name, text in sources:
        found.update(name.encode() + b"\0" + text + b"\0")
    versions = tuple(_version(name) for name in ("numpy", "scipy", "mujoco", "pybullet"))
    return compute_digest(found.hexdigest(), versions, platform.python_version(), platform.machine(), platform.node())


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _feed(found: Any, thing: Any) -> None:
    if isinstance(thing, np.ndarray):
        found.update(f"array {thing.dtype.str} {thing.shape}:".encode())
        found.update(np.ascontiguousarray(thing).tobytes())
    elif dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        found.update(f"{type(thing).__name__}(".encode())
        for field in dataclasses.fields(thing):
            found.update(f"{field.name}=".encode())
            _feed(found, getattr(thing, field.name))
        found.update(b")")
    elif isinstance(thing, Mapping):
        _feed(found, tuple(sorted(thing.items(), key=lambda item: str(item[0]))))
    elif isinstance(thing, tuple | list):
        found.update(f"{len(thing)}[".encode())
        for part in thing:
            _feed(found, part)
        found.update(b"]")
    elif thing is None or isinstance(thing, bool | int | float | str | np.generic):
        found.update(f"{type(thing).__name__} {thing!r};".encode())
    else:
        raise TypeError(f"A {type(thing).__name__} has no digest")
