# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole files or none: everything that matters is written to a temporary name, flushed and renamed."""

import contextlib
import errno
import hashlib
import io
import json
import math
import os
import re
import secrets
import stat
import sys
import time
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from . import limits
from .errors import BadFile, CannotWrite
from .interrupts import finish_first
from .json_size import require_few_items
from .npz_checks import META, check_archive, check_meta, check_text
from .paths import is_folder, is_link, is_there

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
    errno.ELOOP: ("it is a link to something else", "Delete the link"),
    errno.ENAMETOOLONG: ("its name is too long", "Choose a shorter name, or a folder that is not so deep"),
}


# What NumPy and zipfile raise for damaged files, found by damaging some; RuntimeError is an entry that, by a flipped
# bit, claims to be encrypted or packed in some unknown way, the last two are from the header of an array. MemoryError
# is none of them: what a file asks for was checked before, so that then it is the memory that is at its end.
_TORN: tuple[type[Exception], ...] = (OSError, ValueError, EOFError, KeyError, TypeError, RuntimeError)
_TORN += (zipfile.BadZipFile, zlib.error, SyntaxError, tokenize.TokenError)

PRIVATE, PUBLIC = 0o600, 0o666
"""Permissions of a new file: for its owner alone, or whatever new files have here."""

# Opening a pipe would wait for somebody at its other end. Neither exists everywhere.
_AT_ONCE = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_CLOEXEC", 0)
_AS_IT_IS = getattr(os, "O_BINARY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_WINDOWS = sys.platform == "win32"
_PART_BYTES = 60  # of a name that a temporary one begins with
_WINDOWS_PATH = 259  # characters, where long paths are not switched on
_PAUSES_S = (0.01, 0.03, 0.1, 0.3, 0.6, 1.0)  # a scanner for viruses takes its time
_ODD_NUMBER = re.compile(rf"NaN|Infinity|[0-9]{{{limits.JSON_DIGITS - 20}}}|[0-9.][eE]")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def cannot_write(path: Path | str, error: OSError) -> CannotWrite:
    """The user's message for an ``OSError`` met while writing ``path``."""
    why, hint = _WHY_NOT.get(error.errno or 0, (error.strerror or str(error), "Choose another folder"))
    length = len(os.path.abspath(path))
    if _WINDOWS and length >= _WINDOWS_PATH and error.errno in (errno.ENOENT, errno.EINVAL, errno.ENAMETOOLONG):
        why = f"its path has {length} characters, and Windows takes {_WINDOWS_PATH}"
        hint = "Choose a folder that is not so deep, or allow long paths in Windows"
    return CannotWrite(f"Cannot write '{path}': {why}", hint)


def make_folder(path: Path, mode: int = 0o777) -> Path:
    """Make the folder and its parents; an error names it. mode: permissions of a new one, as far as is usual here."""
    try:
        path.mkdir(mode, parents=True, exist_ok=True)
    except FileExistsError as error:
        raise CannotWrite(f"Cannot make the folder '{path}': a file has that name", "Choose another folder") from error
    except OSError as error:
        raise cannot_write(path, error) from error
    return path


def write_whole(path: Path, data: bytes, mode: int = PUBLIC) -> None:
    """Write the file so that a reader sees the old content or all of the new, never a part.

    A link that has the name is replaced by the file; what it leads to stays as it is.
    """
    with _written_part(path, data, mode) as part:
        replace_file(part, path)


def write_new(path: Path, data: bytes, mode: int = PUBLIC) -> bool:
    """The same, but never over anything: False where the name is taken, also by a link that leads nowhere."""
    if os.path.lexists(path):
        return False
    with _written_part(path, data, mode) as part:
        try:
            os.link(part, path)
        except FileExistsError:
            return False
        except OSError:  # a disk that knows no links: take the name first
            try:
                os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
            except FileExistsError:
                return False
            replace_file(part, path)
    return True


@contextlib.contextmanager
def _written_part(path: Path, data: bytes, mode: int) -> Iterator[Path]:
    """A flushed file beside ``path``, which is gone afterwards; an ``OSError`` is about ``path``."""
    make_folder(path.parent)
    part = path.with_name(f".{shorten_file_name(path.name)}.{secrets.token_hex(6)}.part")
    with finish_first():
        try:
            # Not tempfile: its files are for their owner's eyes only, and a farm's other users must read these.
            handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _AS_IT_IS, mode)
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            yield part
        except OSError as error:
            raise cannot_write(path, error) from error
        finally:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)


def shorten_file_name(name: str) -> str:
    """The beginning of a file's name: with what comes around it, it must not become too long for the disk.

    A disk counts bytes, of which a letter may have four.
    """
    return name.encode("utf-8", "ignore")[:_PART_BYTES].decode("utf-8", "ignore")


def replace_file(part: Path, path: Path) -> None:
    """Rename over ``path``; on Windows a reader who has it open is in the way for a moment."""
    _insist(lambda: os.replace(part, path))


def remove_file(path: Path) -> bool:
    """Remove the file if it is there; False where it stays, as a folder does, and what is open elsewhere on Windows."""
    if is_folder(path) and not is_link(path):
        return False
    try:
        _insist(lambda: path.unlink(missing_ok=True))
    except PermissionError as error:
        if not _WINDOWS:
            raise cannot_write(path, error) from error
        return False
    except OSError as error:
        raise cannot_write(path, error) from error
    return True


def _insist(do: Callable[[], None]) -> None:
    """Do it; on Windows, again and again while a reader or a scanner for viruses has the file open."""
    for pause_s in (*_PAUSES_S, 0.0):
        try:
            do()
            return
        except PermissionError:
            if not _WINDOWS or not pause_s:
                raise
            time.sleep(pause_s)


def mode_in(folder: Path) -> int:
    """Permissions of a new file in the folder: for its owner alone, unless the folder is open to others."""
    try:
        return PUBLIC if stat.S_IMODE(folder.stat().st_mode) & 0o077 else PRIVATE
    except OSError:
        return PRIVATE


def open_to_write(path: Path, flags: int, mode: int = PUBLIC) -> int:
    """The handle of a file of ours that is written in place, made if ``flags`` say so.

    What is no plain file, a link to another one or another one's second name is refused: in a folder that is not ours
    alone, it would have us write to a file of somebody's choice.
    """
    try:
        if is_link(path):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        handle = os.open(path, flags | _AT_ONCE | _AS_IT_IS | _NO_LINK, mode)
    except OSError as error:
        raise cannot_write(path, error) from error
    about = os.fstat(handle)
    if not stat.S_ISREG(about.st_mode) or about.st_nlink > 1:
        os.close(handle)
        why = "it is another file's second name" if stat.S_ISREG(about.st_mode) else "it is no plain file"
        raise CannotWrite(f"Cannot write '{path}': {why}", "Delete it")
    return handle


def open_to_read(path: Path, most: int = limits.ARCHIVE_BYTES) -> BinaryIO:
    """A plain file of at most so many bytes; anything else (a pipe, a device, a folder) is a ``BadFile``, at once."""
    try:
        handle = os.open(path, os.O_RDONLY | _AT_ONCE | _AS_IT_IS)
    except FileNotFoundError as error:
        raise BadFile(f"'{path}' does not exist") from error
    except (OSError, ValueError) as error:  # the second for a name with a zero in it
        raise BadFile(f"'{path}' cannot be read: {getattr(error, 'strerror', None) or error}") from error
    about = os.fstat(handle)
    if not stat.S_ISREG(about.st_mode) or about.st_size > most:
        os.close(handle)
        if not stat.S_ISREG(about.st_mode):
            raise BadFile(f"'{path}' is no plain file")
        size, limit = _describe_bytes(about.st_size), _describe_bytes(most)
        raise BadFile(f"'{path}' is too large: {size}, and at most {limit} are read", "Choose another, or make it anew")
    return os.fdopen(handle, "rb")


def _describe_bytes(count: int) -> str:
    return f"{count / limits.MIB:.0f} MB" if count >= limits.MIB else f"{count / 1024:.0f} KB"


def read_bytes(path: Path, most: int = limits.ARCHIVE_BYTES) -> bytes:
    """All of a plain file of at most so many bytes."""
    try:
        with open_to_read(path, most) as stream:
            # Not ``read(most)``, which takes so much at once; what grows meanwhile is read as it was.
            return stream.read(os.fstat(stream.fileno()).st_size)
    except OSError as error:
        raise BadFile(f"'{path}' cannot be read: {error.strerror}") from error


def write_json(path: Path, value: Any, mode: int = PUBLIC) -> None:
    """Write JSON whole."""
    write_whole(path, encode_json(value), mode)


def encode_json(value: Any) -> bytes:
    """A value as it stands in a JSON file; NaN is refused because other readers would choke on it."""
    return (json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()


def read_json(path: Path, most: int = limits.JSON_BYTES) -> Any:
    """Read JSON; a missing, torn or boundless file is a ``BadFile`` that names it."""
    data = read_bytes(path, most)
    try:
        return parse_json(data.decode("utf-8"))
    except ValueError as error:
        raise BadFile(f"'{path}' cannot be read: {error}") from error


def parse_json(text: str) -> Any:
    """What a JSON text says; anything that would trip a reader later is a ``ValueError`` now.

    So every number is finite and a float can hold it, every text can be written in UTF-8, and nothing is nested deeply.
    """
    require_few_items(text)
    try:
        if _ODD_NUMBER.search(text):  # else a third of the time will do
            value = json.loads(text, parse_constant=_refuse_number, parse_int=_whole_number, parse_float=_finite_number)
        else:
            value = json.loads(text)
        if _SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if text.count("[") + text.count("{") > limits.JSON_DEPTH:
        _check_depth(value)
    return value


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(limits.JSON_DEPTH):
        level = [
            item
            for one in level
            for item in (one.values() if isinstance(one, dict) else one if isinstance(one, list) else ())
            if isinstance(item, dict | list)
        ]
        if not level:
            return
    raise ValueError("it is nested too deeply")


def _refuse_number(text: str) -> float:
    raise ValueError(f"{text} is no number")


def _whole_number(text: str) -> int:
    if len(text) > limits.JSON_DIGITS:
        raise ValueError(f"it has a number of {len(text)} digits")
    return int(text)


def _finite_number(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _refuse_number(text[: limits.JSON_DIGITS])


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


def write_arrays(
    path: Path, arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any], *, checksum: bool = False
) -> None:
    """Write an ``.npz`` of plain arrays with a JSON ``meta`` entry; no pickles.

    checksum: let ``meta`` have one of all that is in it, which ``read_arrays`` looks at; for files that are kept.
    """
    stream = io.BytesIO()
    for name, array in arrays.items():
        if array.dtype.hasobject:  # NumPy would pickle it without a word
            raise TypeError(f"array '{name}' holds Python objects")
    meta = {**meta, CHECKSUM: checksum_of(arrays, meta)} if checksum else dict(meta)
    text = json.dumps(meta, ensure_ascii=False, allow_nan=False)
    try:
        check_meta(text)
    except ValueError as error:  # nobody could read it
        raise CannotWrite(f"Cannot write '{path}': {error}", "Choose less for it, such as fewer clips") from error
    np.savez(stream, meta=np.array(text), **arrays)
    write_whole(path, stream.getvalue())


def read_arrays(
    path: Path, most: int = limits.ARCHIVE_BYTES, packed_to: int = limits.PACKED_TO
) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Read what ``write_arrays`` wrote: (arrays, meta). Torn, foreign and boundless files are a ``BadFile``.

    most: bytes of the file, and of what is in it. packed_to: how many times its size a file may have in it.
    """
    hint = "Export or simulate it again"
    try:
        with open_to_read(path, most) as stream:
            check_archive(stream, most, packed_to)
            archive = np.load(stream, allow_pickle=False)
            # NumPy stops where a header says that its array ends, and what was not read to its end is not checked.
            if damaged := archive.zip.testzip():
                raise ValueError(f"'{damaged}' in it is damaged")
            arrays = {name: archive[name] for name in archive.files}
        for name, array in arrays.items():
            check_text(name, array)
        text = str(arrays.pop(META, "{}"))
        check_meta(text)
        meta = parse_json(text)
    except _TORN as error:
        raise BadFile(f"'{path}' is not a whole .npz file: {error}", hint) from error
    if not isinstance(meta, dict):
        raise BadFile(f"'{path}' has no readable description inside", hint)
    noted = meta.pop(CHECKSUM, None)  # files from before have none
    if noted is not None and noted != checksum_of(arrays, meta):
        raise BadFile(f"'{path}' is damaged: it is not what was written", hint)
    return arrays, meta


CHECKSUM = "checksum"
"""Under which name a description has the checksum of its arrays and of itself."""


def checksum_of(arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any]) -> str:
    """Of names, kinds, shapes and numbers of arrays, and of their description: one changed bit changes it."""
    plain = json.loads(json.dumps(dict(meta), allow_nan=False))  # as it is read, whatever its keys were
    digest = hashlib.sha256(json.dumps(plain, sort_keys=True).encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"\n{name} {array.dtype.newbyteorder('<').str} {array.shape}\n".encode())
        digest.update(np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).tobytes())
    return digest.hexdigest()


def sha256_of(path: Path, most: int = limits.ARCHIVE_BYTES) -> str:
    """Hex digest of a file's content."""
    if not is_there(path):
        raise BadFile(f"'{path}' cannot be read: {os.strerror(errno.ENOENT)}")
    digest = hashlib.sha256()
    try:
        with open_to_read(path, most) as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
    except OSError as error:
        raise BadFile(f"'{path}' cannot be read: {error.strerror}") from error
    return digest.hexdigest()
