# SPDX-License-Identifier: GPL-3.0-or-later
"""What an ``.npz`` file asks for, found out before any of it is unpacked.

A zip archive may be a thousand times larger inside than it looks, and an array's header may claim any shape: both are
compared with what is there, in the order in which memory would be taken for them.
"""

import math
import os
import struct
import sys
import zipfile
from typing import IO, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from . import limits
from .json_size import require_few_items

_END, _END_64, _LOCATOR = b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x07"
_END_BYTES, _LOCATOR_BYTES, _END_64_BYTES = 22, 20, 56
_COMMENT_BYTES = 0xFFFF
_KINDS, _TEXTS = "biufcUS", "US"  # of arrays that we write: numbers and texts
_DOUBLE_BYTES, _LETTER_BYTES = 8, 4


META = "meta"
"""What the description is called among an archive's arrays."""


def check_archive(stream: BinaryIO, most: int = limits.ARCHIVE_BYTES, packed_to: int = limits.PACKED_TO) -> None:
    """Refuse an archive that is none of plain arrays, or that would take more than ``most`` bytes or than
    ``packed_to`` times what it has, with a ``ValueError``; the stream is at its beginning afterwards.
    """
    _check_directory(stream)
    with zipfile.ZipFile(stream) as archive:
        entries = archive.infolist()
        if len(entries) > limits.ARCHIVE_ENTRIES:
            raise ValueError(f"it has {len(entries)} entries, and at most {limits.ARCHIVE_ENTRIES} are read")
        if len({entry.filename for entry in entries}) < len(entries):
            raise ValueError("two of its entries have the same name")
        size = _size_of(stream)
        _check_sizes(entries, size, most, packed_to)
        doubles = 0
        for entry in entries:
            with archive.open(entry) as member:
                doubles += _check_array(entry, member)
        require_wide_numbers(doubles, size, packed_to)
    stream.seek(0)


def require_wide_numbers(doubles: int, size: int, packed_to: int = limits.PACKED_TO) -> None:
    """Refuse numbers that would take far more than they have when they are computed with, with a ``ValueError``.

    doubles: bytes of all numbers in double precision, which is what they become wherever they are read. size: of the
    file. Numbers of one byte would become eight times what the archive says that it unpacks to.
    """
    allowed = _allowed(size, packed_to)
    if doubles > allowed:
        taken, limit = (f"{count / limits.MIB:.0f} MB" for count in (doubles, allowed))
        raise ValueError(f"its numbers would take {taken}, and at most {limit} are taken for a file of its size")


def _allowed(size: int, packed_to: int) -> int:
    return max(limits.PACKED_FREE_BYTES, packed_to * size)


def check_text(name: str, array: NDArray[Any]) -> None:
    """Refuse texts with characters that do not exist, with a ``ValueError``: NumPy makes broken strings of them."""
    if array.dtype.kind != "U" or not array.nbytes:
        return
    codes = np.ascontiguousarray(array).reshape(-1).view(f"{array.dtype.str[0]}u4")
    if codes.max() > sys.maxunicode:
        raise ValueError(f"'{name}' in it is no text")


def check_meta(text: str) -> None:
    """Refuse a description that is longer, or has more entries, than any that we know of, with a ``ValueError``."""
    _require_letters(len(text))
    require_few_items(text, limits.META_ITEMS)


def _require_letters(letters: int) -> None:
    if letters > limits.META_LETTERS:
        raise ValueError(f"its description has {letters} letters, and at most {limits.META_LETTERS} are read")


def _size_of(stream: BinaryIO) -> int:
    return os.fstat(stream.fileno()).st_size


def _check_directory(stream: BinaryIO) -> None:
    """The list of entries, which is read as a whole: as long as the archive's end says."""
    size = _size_of(stream)
    first = max(0, size - _END_BYTES - _COMMENT_BYTES - _LOCATOR_BYTES)
    stream.seek(first)
    tail = stream.read(size - first)
    at = tail.rfind(_END)
    if at < 0 or len(tail) - at < _END_BYTES:
        raise ValueError("it is no archive")
    length = struct.unpack_from("<I", tail, at + 12)[0]
    if tail[max(0, at - _LOCATOR_BYTES) : at].startswith(_LOCATOR):
        stream.seek(min(struct.unpack_from("<Q", tail, at - _LOCATOR_BYTES + 8)[0], size))
        record = stream.read(_END_64_BYTES)
        if len(record) < _END_64_BYTES or not record.startswith(_END_64):
            raise ValueError("its end is damaged")
        length = max(length if length != 0xFFFFFFFF else 0, struct.unpack_from("<Q", record, 40)[0])
    if length > limits.ARCHIVE_DIRECTORY_BYTES:
        raise ValueError(
            f"its list of entries has {length} bytes, and at most {limits.ARCHIVE_DIRECTORY_BYTES} are read"
        )
    stream.seek(0)


def _check_sizes(entries: list[zipfile.ZipInfo], size: int, most: int, packed_to: int) -> None:
    known = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
    if any(entry.compress_type not in known for entry in entries):
        raise ValueError("it is packed in an unknown way")
    total = sum(entry.file_size for entry in entries)
    allowed = min(most, _allowed(size, packed_to))
    if total > allowed:
        taken, limit = (f"{count / limits.MIB:.0f} MB" for count in (total, allowed))
        raise ValueError(f"it would unpack to {taken}, and at most {limit} are unpacked of a file of its size")
    letters = sum(entry.file_size for entry in entries if entry.filename == f"{META}.npy") // _LETTER_BYTES
    _require_letters(letters - limits.ARRAY_HEADER_BYTES)


def _check_array(entry: zipfile.ZipInfo, member: IO[bytes]) -> int:
    """An array's header and what follows it are as long as the entry; gives its bytes as double precision has them."""
    formats: Any = np.lib.format  # which has no types
    version = formats.read_magic(member)
    if version == (1, 0):
        shape, _, dtype = formats.read_array_header_1_0(member, max_header_size=limits.ARRAY_HEADER_BYTES)
    elif version == (2, 0):
        shape, _, dtype = formats.read_array_header_2_0(member, max_header_size=limits.ARRAY_HEADER_BYTES)
    else:
        raise ValueError(f"'{entry.filename}' in it is an array of an unknown format")
    count = math.prod(shape)
    if min(shape, default=0) < 0 or dtype.hasobject or dtype.kind not in _KINDS:
        raise ValueError(f"'{entry.filename}' in it is no array of numbers")
    if member.tell() + count * dtype.itemsize != entry.file_size:
        raise ValueError(f"'{entry.filename}' in it is not as long as its shape says")
    return 0 if dtype.kind in _TEXTS else count * max(dtype.itemsize, _DOUBLE_BYTES)
