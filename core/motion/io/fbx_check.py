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
from ...limits import FBX_BYTES, FBX_DEPTH, MIB
from .fbx_size import OBJECT, PROPERTY, FbxSize

_MAGIC = b"Kaydara FBX Binary  \x00\x1a\x00"
_HEADER = len(_MAGIC) + 4
_OLDEST = 7100
_WIDE = 7500  # from this version on, places are numbers of 64 bits
_AGAIN = "Export or download it again"
_LESS = "Export only the character and its motion, or a shorter one"
_SCALARS = {b"C": 1, b"B": 1, b"Z": 1, b"Y": 2, b"I": 4, b"F": 4, b"D": 8, b"L": 8}
# What Blender's importer begins with; without them it falls over.
_PARTS = ("GlobalSettings", "Objects", "Connections")
_PACKED_PIECE, _PIECE = MIB // 16, MIB  # bytes of an array that are unpacked at a time, and that they become at most
_ARRAYS = {b"b": 1, b"c": 1, b"i": 4, b"f": 4, b"d": 8, b"l": 8}


@dataclass
class _Tree:
    """A file's bytes, what was counted of them, and what its outermost nodes are called.

    within: names of the nodes that are open. owner: id of the last object, which arrays belong to.
    """

    path: Path
    data: memoryview
    is_wide: bool
    size: FbxSize
    parts: set[str] = field(default_factory=set)
    within: list[str] = field(default_factory=list)
    owner: int = 0

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
    tree = _Tree(path, memoryview(data), version >= _WIDE, FbxSize(size))
    _check_tree(tree)
    if reason := tree.size.too_often():
        raise BadFile(f"'{path}' would take too much memory: it has {reason}", _LESS)


def _check_tree(tree: _Tree) -> None:
    """Walk through all nodes; ends: where each of those that are open ends."""
    at, ends = _HEADER, [len(tree.data)]
    head = 25 if tree.is_wide else 13
    while True:
        if at == ends[-1] and len(ends) > 1:
            ends.pop()
            tree.within.pop()
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
        called = bytes(tree.data[at + head : first]).decode("utf-8", "replace")
        if len(ends) == 1:
            tree.parts.add(called)
        if not first + length <= end <= ends[-1]:
            raise tree.wrong(at, f"a node ends at byte {end}, outside the one around it")
        tree.within.append(called)
        _check_properties(tree, first, first + length, count)
        _count_node(tree, first, count, at)
        if len(ends) > FBX_DEPTH:
            raise tree.wrong(at, f"nodes are more than {FBX_DEPTH} levels deep")
        at = first + length
        ends.append(end)


def _check_parts(tree: _Tree) -> None:
    if missing := [part for part in _PARTS if part not in tree.parts]:
        raise BadFile(f"'{tree.path}' has no {missing[0]}, so there is no scene in it", _AGAIN)


def _count_node(tree: _Tree, first: int, count: int, at: int) -> None:
    """Count a node whose properties, which begin at ``first``, are sound; at: where it begins itself."""
    size = tree.size
    size.nodes, size.properties = size.nodes + 1, size.properties + count
    if tree.within[:-1] == ["Objects"]:
        kind, tree.owner = tree.within[-1], _id_at(tree, first, count)
        size.models += kind == "Model"
        size.materials += kind == "Material"
        if kind == "Geometry" and _is_shape(tree, first, count):
            size.shapes.append(tree.owner)
    elif tree.within == ["Connections", "C"] and count >= 3:
        kind_at, source_at = first, _after_text(tree, first)
        words = bytes(tree.data[kind_at + 5 : source_at])
        if source_at and words in (OBJECT, PROPERTY):
            source, target = _id_at(tree, source_at, 1), _id_at(tree, source_at + 9, 1)
            size.connections[source, words].append(target)
    if reason := size.too_much():
        raise tree.wrong(at, f"it has {reason}", _LESS)


def _id_at(tree: _Tree, at: int, count: int) -> int:
    """The number of 64 bits that a property is; 0 where it is none."""
    if not count or bytes(tree.data[at : at + 1]) != b"L" or at + 9 > len(tree.data):
        return 0
    (found,) = struct.unpack_from("<q", tree.data, at + 1)
    return int(found)


def _after_text(tree: _Tree, at: int) -> int:
    """Where the property after a text begins; 0 where it is no text."""
    if bytes(tree.data[at : at + 1]) != b"S":
        return 0
    (length,) = struct.unpack_from("<I", tree.data, at + 1)
    return at + 5 + int(length)


def _is_shape(tree: _Tree, first: int, count: int) -> bool:
    """Whether an object, which has an id, a name and a class, is of the class 'Shape'."""
    at = _after_text(tree, first + 9) if count >= 3 and bytes(tree.data[first : first + 1]) == b"L" else 0
    return bool(at) and bytes(tree.data[at : at + 10]) == b"S\x05\x00\x00\x00Shape"


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
    tree.size.unpacked += wanted
    if reason := tree.size.too_much():
        raise tree.wrong(at, f"it has {reason}", _LESS)
    if tree.within == ["Objects", "AnimationCurve", "KeyTime"]:
        tree.size.keys[tree.owner] = tree.size.keys.get(tree.owner, 0) + length
    elif tree.within == ["Objects", "Geometry", "Vertices"]:
        tree.size.points = max(tree.size.points, length // 3)
    if packing not in (0, 1):
        raise tree.wrong(at, f"an array is packed in an unknown way ({packing})")
    has = size if packing == 0 else _unpacked_size(tree, at, first, size, wanted)
    if has != wanted:
        more = "more than" if has > wanted else f"{has} bytes instead of"
        raise tree.wrong(at, f"an array of {length} numbers has {more} {wanted} bytes")
    return first + size


def _unpacked_size(tree: _Tree, at: int, first: int, size: int, most: int) -> int:
    """How many bytes an array unpacks to, counted piece by piece; of more than it should, a few are as good as all."""
    packed, found = zlib.decompressobj(), 0
    try:
        for place in range(first, first + size, _PACKED_PIECE):
            left = bytes(tree.data[place : min(place + _PACKED_PIECE, first + size)])
            while left and not packed.eof and found <= most:
                found += len(packed.decompress(left, _PIECE))
                left = packed.unconsumed_tail
        while found <= most and not packed.eof and (rest := packed.decompress(b"", _PIECE)):
            found += len(rest)
    except zlib.error as error:
        raise tree.wrong(at, f"an array cannot be unpacked ({error})") from error
    if found <= most and not packed.eof:
        raise tree.wrong(at, "an array cannot be unpacked (it ends too soon)")
    return found
