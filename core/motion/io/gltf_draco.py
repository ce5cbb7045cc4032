# SPDX-License-Identifier: GPL-3.0-or-later
"""How many faces a packed mesh of a glTF file has, read from its first bytes.

Blender unpacks such a mesh (Draco's format, of bitstream 2.2) whatever the accessors say, and then believes it rather
than them. So they have to agree: what accessors ask for is limited.
"""

import base64
import binascii
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...errors import BadFile

EXTENSION = "KHR_draco_mesh_compression"
_MAGIC, _BITSTREAM = b"DRACO", b"\x02\x02"
_MESH, _SEQUENTIAL, _EDGEBREAKER = 1, 0, 1
_METADATA = 0x80  # a flag in the second of two bytes
_HEAD = 32  # bytes that are read: header, and two numbers
_PLAIN = "Export it without compression"


def check_packed_meshes(path: Path, tree: Mapping[str, Any], sources: Sequence[tuple[Path | str, int]]) -> None:
    """Refuse meshes that would unpack to more than their accessors say.

    tree: the file's JSON, whose accessors and bufferViews are sound. sources: of each buffer, the file that it is in
    and the byte where it begins; or its text, where it is in the JSON.
    """
    views, accessors = tree.get("bufferViews", ()), tree.get("accessors", ())
    decoded: dict[int, bytes] = {}
    for number, mesh in enumerate(tree.get("meshes", ())):
        rows = mesh.get("primitives")
        for place, row in enumerate(rows if isinstance(rows, list) else ()):
            extensions = row.get("extensions") if isinstance(row, dict) else None
            packed = extensions.get(EXTENSION) if isinstance(extensions, dict) else None
            if packed is None:
                continue
            where = f"meshes.{number}.primitives.{place}"
            view = packed.get("bufferView") if isinstance(packed, dict) else None
            if (
                not isinstance(view, int)
                or isinstance(view, bool)
                or not 0 <= view < len(views)
                or "indices" not in row
            ):
                raise BadFile(f"'{path}' is damaged: '{where}' does not say where its packed mesh is", _PLAIN)
            head = _read_head(views[view], sources[views[view]["buffer"]], decoded)
            faces, said = _count_faces(head), accessors[row["indices"]]["count"]
            if faces is None:
                raise BadFile(f"'{path}': the packed mesh in '{where}' is of an unknown form", _PLAIN)
            if 3 * faces != said:
                told = f"the packed mesh in '{where}' has {3 * faces} corners, and its accessor says {said}"
                raise BadFile(f"'{path}' is damaged: {told}", _PLAIN)


def _read_head(view: Mapping[str, Any], source: tuple[Path | str, int], decoded: dict[int, bytes]) -> bytes:
    """The first bytes of a bufferView. decoded: buffers that are texts in the JSON, each decoded once."""
    (file, begin), first, length = source, view.get("byteOffset", 0), min(view["byteLength"], _HEAD)
    if isinstance(file, Path):
        with file.open("rb") as stream:
            stream.seek(begin + first)
            return stream.read(length)
    if view["buffer"] not in decoded:
        try:
            decoded[view["buffer"]] = base64.b64decode(file.partition(",")[2])
        except (binascii.Error, ValueError):
            decoded[view["buffer"]] = b""
    return decoded[view["buffer"]][first : first + length]


def _count_faces(head: bytes) -> int | None:
    """Faces of a packed mesh; None where it is none that is known. What is described further goes before the counts."""
    if head[:7] != _MAGIC + _BITSTREAM or len(head) < 12 or head[7] != _MESH or head[10] & _METADATA:
        return None
    if head[8] == _SEQUENTIAL:
        return _number_at(head, 11)[0]
    if head[8] == _EDGEBREAKER:
        _, after = _number_at(head, 12)  # after the way it is gone through: the number of vertices
        return _number_at(head, after)[0]
    return None


def _number_at(head: bytes, at: int) -> tuple[int, int]:
    """A number of seven bits a byte, the lowest first, and where it ends."""
    found = 0
    for place, byte in enumerate(head[at : at + 10]):
        found |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return found, at + place + 1
    return found, len(head)
