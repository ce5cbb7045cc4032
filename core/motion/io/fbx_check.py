# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a binary FBX file is whole, before Blender opens it: what is wrong, and at which byte.

The format is a tree of nodes. Each says where it ends and how many properties it has; numbers come alone or as arrays,
which may be packed. Blender's importer unpacks them whatever they hold, so their sizes are known here first.
"""

import struct
import zlib
from dataclasses import dataclass, field
from pathlib import Path

from ...errors import BadFile
from ...limits import FBX_ARRAY_BYTES, FBX_BYTES, FBX_DEPTH

_MAGIC = b"Kaydara FBX Binary  \x00\x1a\x00"
_HEADER = len(_MAGIC) + 4
_OLDEST = 7100
_WIDE = 7500  # from this version on, places are numbers of 64 bits
_AGAIN = "Export or download it again"
_SCALARS = {b"C": 1, b"B": 1, b"Z": 1, b"Y": 2, b"I": 4, b"F": 4, b"D": 8, b"L": 8}
# What Blender's importer begins with; without them it falls over.
_PARTS = ("GlobalSettings", "Objects", "Connections")
_ARRAYS = {b"b": 1, b"c": 1, b"i": 4, b"f": 4, b"d": 8, b"l": 8}


@dataclass
class _Tree:
    """A file's bytes, how many its arrays have together, unpacked, and what its outermost nodes are called."""

    path: Path
    data: memoryview
    is_wide: bool
    unpacked: int = 0
    parts: set[str] = field(default_factory=set)

    def wrong(self, at: int, what: str, hint: str = _AGAIN) -> BadFile:
        """The error for what is found at a byte."""
        return BadFile(f"'{self.path}' is damaged at byte {at}: {what}", hint)


def check_fbx(path: Path) -> None:
    """Refuse an FBX file that is torn, of a kind that Blender cannot read, or larger than it looks."""
    size = path.stat().st_size
    if size > FBX_BYTES:
        raise BadFile(
            f"'{path}' has {size / 1e9:.1f} GB, and {FBX_BYTES / 1e9:.1f} GB is the most that Sinew opens",
            "Export only the character and its motion",
        )
    data = path.read_bytes()
    if not data.startswith(_MAGIC):
        if data[:1024].lstrip().startswith((b"; FBX", b"FBXHeaderExtension")):
            raise BadFile(f"'{path}' is an FBX in text form, which Blender cannot read", "Export it as binary FBX")
        raise BadFile(f"'{path}' does not begin as an FBX file does", "Check what kind of file it is")
    if len(data) < _HEADER:
        raise BadFile(f"'{path}' ends at byte {len(data)}, within its header", _AGAIN)
    (version,) = struct.unpack_from("<I", data, len(_MAGIC))
    if version < _OLDEST:
        raise BadFile(
            f"'{path}' is FBX of version {version}, and Blender reads those from {_OLDEST} on",
            "Convert it with a newer program, such as Autodesk's FBX Converter",
        )
    _check_tree(_Tree(path, memoryview(data), version >= _WIDE))


def _check_tree(tree: _Tree) -> None:
    """Walk through all nodes; ends: where each of those that are open ends."""
    at, ends = _HEADER, [len(tree.data)]
    head = 25 if tree.is_wide else 13
    while True:
        if at == ends[-1] and len(ends) > 1:
            ends.pop()
            continue
        if at + head > ends[-1]:
            raise tree.wrong(at, "the file ends within a node")
        end, count, length, name = struct.unpack_from("<QQQB" if tree.is_wide else "<IIIB", tree.data, at)
        if end == 0:  # the last of its siblings
            at += head
            if len(ends) == 1:
                _check_parts(tree)
                return
            if at != ends[-1]:
                raise tree.wrong(at, "a node goes on after its end")
            continue
        if end > len(tree.data):
            raise tree.wrong(at, f"a node ends at byte {end}, and the file at byte {len(tree.data)}: it is cut off")
        first = at + head + name
        if len(ends) == 1:
            tree.parts.add(bytes(tree.data[at + head : first]).decode("utf-8", "replace"))
        if not first + length <= end <= ends[-1]:
            raise tree.wrong(at, f"a node ends at byte {end}, outside the one around it")
        _check_properties(tree, first, first + length, count)
        if len(ends) > FBX_DEPTH:
            raise tree.wrong(at, f"nodes are more than {FBX_DEPTH} levels deep")
        at = first + length
        ends.append(end)


def _check_parts(tree: _Tree) -> None:
    if missing := [part for part in _PARTS if part not in tree.parts]:
        raise BadFile(f"'{tree.path}' has no {missing[0]}, so there is no scene in it", _AGAIN)


def _check_properties(tree: _Tree, at: int, end: int, count: int) -> None:
    if count > end - at:
        raise tree.wrong(at, f"a node of {end - at} bytes says that it has {count} properties")
    for _ in range(count):
        if at >= end:
            raise tree.wrong(at, "a node has fewer properties than it says")
        kind = bytes(tree.data[at : at + 1])
        if kind in _SCALARS:
            after = at + 1 + _SCALARS[kind]
        elif kind in (b"S", b"R"):
            after = at + 5 + _number(tree, at + 1, end)
        elif kind in _ARRAYS:
            after = _check_array(tree, at, end, _ARRAYS[kind])
        else:
            raise tree.wrong(at, f"there is no kind of property {kind!r}")
        if after > end:
            raise tree.wrong(at, f"a property ends at byte {after}, outside its node")
        at = after
    if at != end:
        raise tree.wrong(at, "a node has more properties than it says")


def _number(tree: _Tree, at: int, end: int) -> int:
    if at + 4 > end:
        raise tree.wrong(at, "a property ends at once")
    (found,) = struct.unpack_from("<I", tree.data, at)
    return int(found)


def _check_array(tree: _Tree, at: int, end: int, width: int) -> int:
    """Check an array's length against its bytes; gives where it ends."""
    length, packing, size = (_number(tree, at + 1 + 4 * place, end) for place in range(3))
    first, wanted = at + 13, length * width
    if first + size > end:
        raise tree.wrong(at, f"an array of {size} bytes ends outside its node")
    tree.unpacked += wanted
    if tree.unpacked > FBX_ARRAY_BYTES:
        raise tree.wrong(
            at,
            f"its arrays have more than {FBX_ARRAY_BYTES / 1e9:.1f} GB, which is more than Sinew opens",
            "Export only the character and its motion",
        )
    if packing not in (0, 1):
        raise tree.wrong(at, f"an array is packed in an unknown way ({packing})")
    has = size if packing == 0 else _unpacked_size(tree, at, first, size, wanted)
    if has != wanted:
        more = "more than" if has > wanted else f"{has} bytes instead of"
        raise tree.wrong(at, f"an array of {length} numbers has {more} {wanted} bytes")
    return first + size


def _unpacked_size(tree: _Tree, at: int, first: int, size: int, most: int) -> int:
    """How many bytes an array unpacks to; of more than it should, one more is as good as all."""
    packed = zlib.decompressobj()
    try:
        found = len(packed.decompress(tree.data[first : first + size], most + 1))
        return found + len(packed.flush(1)) if found <= most and packed.eof else found + (not packed.eof)
    except zlib.error as error:
        raise tree.wrong(at, f"an array cannot be unpacked ({error})") from error
