# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole files or none: everything that matters is written to a temporary name, flushed and renamed."""

import contextlib
import errno
import hashlib
import io
import json
import math
import os
import secrets
import time
import tokenize
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import BadFile, CannotWrite

Attachment = tuple[Mapping[str, np.ndarray], Mapping[str, Any]]
"""Arrays and a description, as they travel with a job under a name."""

_WHY_NOT = {
    errno.ENOSPC: ("the disk is full", "Free some space and try again"),
    errno.EDQUOT: ("your disk quota is used up", "Free some space and try again"),
    errno.EROFS: ("it is on a read-only disk", "Choose another folder"),
    errno.EACCES: ("you may not write there", "Choose another folder or change its permissions"),
    errno.EPERM: ("you may not write there", "Choose another folder or change its permissions"),
    errno.ENOTDIR: ("a part of its path is a file, not a folder", "Choose another folder"),
    errno.EISDIR: ("it is a folder", "Give a file name"),
}


# What NumPy and zipfile raise for damaged files, found by damaging some; RuntimeError is an entry that, by a flipped
# bit, claims to be encrypted or packed in some unknown way, the last two are from the header of an array.
_TORN: tuple[type[Exception], ...] = (OSError, ValueError, EOFError, KeyError, TypeError, RuntimeError, MemoryError)
_TORN += (zipfile.BadZipFile, zlib.error, SyntaxError, tokenize.TokenError)


def cannot_write(path: Path | str, error: OSError) -> CannotWrite:
    """The user's message for an ``OSError`` met while writing ``path``."""
    why, hint = _WHY_NOT.get(error.errno or 0, (error.strerror or str(error), "Choose another folder"))
    return CannotWrite(f"Cannot write '{path}': {why}", hint)


def make_folder(path: Path) -> Path:
    """Make the folder and its parents; an error names it."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise CannotWrite(f"Cannot make the folder '{path}': a file has that name", "Choose another folder") from error
    except OSError as error:
        raise cannot_write(path, error) from error
    return path


def write_whole(path: Path, data: bytes) -> None:
    """Write the file so that a reader sees the old content or all of the new, never a part."""
    make_folder(path.parent)
    part = path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")
    try:
        # Not tempfile: its files are for their owner's eyes only, and a farm's other users must read these.
        with part.open("xb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        _replace(part, path)
    except OSError as error:
        raise cannot_write(path, error) from error
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def _replace(part: Path, path: Path) -> None:
    """Rename over ``path``; on Windows a reader who has it open is in the way for a moment."""
    for pause_s in (0.01, 0.03, 0.1, 0.3, 0.0):
        try:
            os.replace(part, path)
            return
        except PermissionError:
            if os.name != "nt" or not pause_s:
                raise
            time.sleep(pause_s)


def write_json(path: Path, value: Any) -> None:
    """Write JSON whole; NaN is refused because other readers would choke on it."""
    write_whole(path, (json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode())


def read_json(path: Path) -> Any:
    """Read JSON; a missing or torn file is a ``BadFile`` that names it."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise BadFile(f"'{path}' does not exist") from error
    except (OSError, ValueError) as error:
        raise BadFile(f"'{path}' cannot be read: {error}") from error


def to_jsonable(value: Any) -> Any:
    """The value as JSON can hold it: NumPy numbers become Python's, NaN and infinity become None."""
    if isinstance(value, Mapping):
        return {str(key): to_jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_jsonable(item) for item in value]
    if hasattr(value, "tolist"):
        return to_jsonable(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any]) -> None:
    """Write an ``.npz`` of plain arrays with a JSON ``meta`` entry; no pickles."""
    stream = io.BytesIO()
    for name, array in arrays.items():
        if array.dtype.hasobject:  # NumPy would pickle it without a word
            raise TypeError(f"array '{name}' holds Python objects")
    text = np.array(json.dumps(dict(meta), ensure_ascii=False, allow_nan=False))
    np.savez(stream, meta=text, **arrays)
    write_whole(path, stream.getvalue())


def read_arrays(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Read what ``write_arrays`` wrote: (arrays, meta). Torn and foreign files are a ``BadFile``."""
    hint = "Export or simulate it again"
    try:
        with path.open("rb") as stream:
            archive = np.load(stream, allow_pickle=False)
            if isinstance(archive, np.ndarray):
                raise ValueError("it holds a single array")
            # NumPy stops where a header says that its array ends, and what was not read to its end is not checked.
            if damaged := archive.zip.testzip():
                raise ValueError(f"'{damaged}' in it is damaged")
            arrays = {name: archive[name] for name in archive.files}
        meta = json.loads(str(arrays.pop("meta"))) if "meta" in arrays else {}
    except FileNotFoundError as error:
        raise BadFile(f"'{path}' does not exist") from error
    except _TORN as error:
        raise BadFile(f"'{path}' is not a whole .npz file: {error}", hint) from error
    if not isinstance(meta, dict):
        raise BadFile(f"'{path}' has no readable description inside", hint)
    return arrays, meta


def sha256_of(path: Path) -> str:
    """Hex digest of a file's content."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
    except OSError as error:
        raise BadFile(f"'{path}' cannot be read: {error.strerror}") from error
    return digest.hexdigest()
