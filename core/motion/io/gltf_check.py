# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a glTF file is whole, before Blender opens it: what is wrong, and at which byte or in which entry.

A glTF file is JSON whose lists refer to each other by number, and to numbers in buffers, which are in the same file
(.glb), in files beside it, or in the JSON itself. Blender's importer follows whatever reference it finds.
"""

import json
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from ...errors import BadFile
from ...json_size import require_few_items
from ...limits import GLTF_BYTES, GLTF_DEPTH, GLTF_JSON_BYTES, GLTF_NODES, GLTF_NUMBERS_BYTES, MIB
from ...texts import is_encodable
from .gltf_draco import check_packed_meshes
from .gltf_size import COUNTS, check_gltf_size

_MAGIC, _VERSION, _JSON = b"glTF", 2, b"JSON"
_HEAD, _CHUNK = 20, 8  # bytes of a .glb before its JSON, and between that and its numbers
_AGAIN = "Export or download it again"
_WIDTHS = {5120: 1, 5121: 1, 5122: 2, 5123: 2, 5125: 4, 5126: 4}
_LISTS = ("accessors", "animations", "buffers", "bufferViews", "meshes", "nodes", "scenes", "skins", "materials")
# List, path to the number within one of its entries ('*' for every one of a list or mapping), list that is meant.
_REFERENCES = (
    ("accessors", "bufferView", "bufferViews"),
    ("bufferViews", "buffer", "buffers"),
    ("nodes", "children.*", "nodes"),
    ("nodes", "mesh", "meshes"),
    ("nodes", "skin", "skins"),
    ("scenes", "nodes.*", "nodes"),
    ("skins", "joints.*", "nodes"),
    ("skins", "skeleton", "nodes"),
    ("skins", "inverseBindMatrices", "accessors"),
    ("animations", "samplers.*.input", "accessors"),
    ("animations", "samplers.*.output", "accessors"),
    ("animations", "channels.*.target.node", "nodes"),
    ("meshes", "primitives.*.attributes.*", "accessors"),
    ("meshes", "primitives.*.indices", "accessors"),
    ("meshes", "primitives.*.targets.*.*", "accessors"),
    ("meshes", "primitives.*.material", "materials"),
)


def check_gltf(path: Path) -> None:
    """Refuse a .gltf or .glb file that is torn, or whose entries refer to what is not there."""
    size = path.stat().st_size
    if size > GLTF_BYTES:
        raise BadFile(
            f"'{path}' has {size / 1e9:.1f} GB, and {GLTF_BYTES / 1e9:.1f} GB is the most that Sinew opens",
            "Export only the character and its motion",
        )
    text, offset = _read_json(path, size)
    tree = _parsed(path, text, offset)
    _check_lists(path, tree)
    for name, way, meant in _REFERENCES:
        _check_references(path, tree, name, way, meant)
    _check_channels(path, tree)
    _check_nodes(path, tree)
    there = _check_buffers(path, tree, size)
    check_gltf_size(path, tree, there)
    check_packed_meshes(path, tree, _sources(path, tree, offset + len(text) + _CHUNK))


def _sources(path: Path, tree: Mapping[str, Any], begin: int) -> list[tuple[Path | str, int]]:
    """Of each buffer, which is sound, its file and the byte where it begins, or its text; begin: of a .glb's own."""
    found: list[tuple[Path | str, int]] = []
    for number, row in enumerate(tree.get("buffers", ())):
        uri = row.get("uri")
        if uri is None:
            found.append((path, begin))
        elif uri.startswith("data:"):
            found.append((uri, 0))
        else:
            found.append((_file_beside(path, f"buffers.{number}", uri)[0], 0))
    return found


def _read_json(path: Path, size: int) -> tuple[bytes, int]:
    """The JSON, which is all of a .gltf file and the beginning of a .glb, and the byte where it begins."""
    with path.open("rb") as stream:
        head = stream.read(_HEAD)
        if not head.startswith(_MAGIC):
            _require_short(path, size)
            return head + stream.read(size), 0
        length = _json_length(path, head, size)
        _require_short(path, length)
        return stream.read(length), _HEAD


def _require_short(path: Path, length: int) -> None:
    if length > GLTF_JSON_BYTES:
        has, most = f"{length / MIB:.0f} MB", f"{GLTF_JSON_BYTES / MIB:.0f} MB"
        hint = "Export it as .glb, which keeps its numbers elsewhere"
        raise BadFile(f"'{path}' has a description of {has}, and at most {most} are read", hint)


def _json_length(path: Path, head: bytes, size: int) -> int:
    """How many bytes the JSON of a binary file has."""
    if len(head) < _HEAD:
        raise BadFile(f"'{path}' ends at byte {len(head)}, within its header", _AGAIN)
    version, whole, length = struct.unpack_from("<III", head, 4)
    if version != _VERSION:
        raise BadFile(f"'{path}' is glTF of version {version}, and Blender reads version {_VERSION}", _AGAIN)
    if whole != size:
        raise BadFile(f"'{path}' has {size} bytes, and says at byte 8 that it has {whole}", _AGAIN)
    if head[16:20] != _JSON or _HEAD + length > size:
        raise BadFile(f"'{path}' is damaged at byte 12: its description is not where it should be", _AGAIN)
    return int(length)


def _parsed(path: Path, text: bytes, offset: int) -> dict[str, Any]:
    try:
        require_few_items(text)
    except ValueError as error:
        raise BadFile(f"'{path}' has too long a description: {error}", "Export only the character") from None
    try:
        found = json.loads(text.decode("utf-8-sig"), parse_int=int)
    except UnicodeDecodeError as error:
        raise BadFile(f"'{path}' has bytes that are no UTF-8 text at byte {offset + error.start}", _AGAIN) from None
    except json.JSONDecodeError as error:
        where = f"byte {offset + error.pos}" if offset else f"line {error.lineno}, column {error.colno}"
        raise BadFile(f"'{path}' is no glTF file: {error.msg} at {where}", _AGAIN) from None
    except (ValueError, RecursionError):
        raise BadFile(f"'{path}' is no glTF file: its JSON is deeper or has longer numbers than any", _AGAIN) from None
    if not isinstance(found, dict) or not isinstance(found.get("asset"), dict):
        raise BadFile(f"'{path}' is no glTF file: it has no 'asset'", "Check what kind of file it is")
    version = found["asset"].get("version")
    if not isinstance(version, str):
        raise _wrong(path, "asset.version", f"is {version!r}, which is no text")
    if not version.startswith("2"):
        raise BadFile(f"'{path}' is glTF of version {version!r}, and Blender reads version 2", _AGAIN)
    return found


def _check_lists(path: Path, tree: Mapping[str, Any]) -> None:
    for name in _LISTS:
        rows = tree.get(name, [])
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise _wrong(path, name, "is no list of entries")
    if len(tree.get("nodes", ())) > GLTF_NODES:
        many = f"has {len(tree['nodes'])} entries, and at most {GLTF_NODES} are read"
        raise _wrong(path, "nodes", many, "Export only the character and its motion")


def _wrong(path: Path, where: str, what: str, hint: str = _AGAIN) -> BadFile:
    return BadFile(f"'{path}' is damaged: '{where}' {what}", hint)


def _values_at(value: Any, way: list[str], where: str) -> Iterator[tuple[str, Any]]:
    """(place, value) of everything that the way leads to; what is missing leads nowhere."""
    if not way:
        yield where, value
    elif way[0] == "*":
        rows = enumerate(value) if isinstance(value, list) else value.items() if isinstance(value, dict) else ()
        for key, row in rows:
            yield from _values_at(row, way[1:], f"{where}.{key}")
    elif isinstance(value, dict) and way[0] in value:
        yield from _values_at(value[way[0]], way[1:], f"{where}.{way[0]}")


def _check_references(path: Path, tree: Mapping[str, Any], name: str, way: str, meant: str) -> None:
    count = len(tree.get(meant, ()))
    for number, row in enumerate(tree.get(name, ())):
        for where, value in _values_at(row, way.split("."), f"{name}.{number}"):
            if not _is_index(value, count):
                raise _wrong(path, where, f"is {value!r}, and there are {count} {meant}")


def _is_index(value: Any, count: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < count


def _check_channels(path: Path, tree: Mapping[str, Any]) -> None:
    """A channel of an animation names one of its own samplers."""
    for number, animation in enumerate(tree.get("animations", ())):
        for name in ("samplers", "channels"):
            rows = animation.get(name)
            if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
                raise _wrong(path, f"animations.{number}.{name}", "is no list of entries")
        for place, channel in enumerate(animation["channels"]):
            where, count = f"animations.{number}.channels.{place}", len(animation["samplers"])
            if not _is_index(channel.get("sampler"), count):
                raise _wrong(path, f"{where}.sampler", f"is {channel.get('sampler')!r}, and there are {count} samplers")
            if not isinstance(channel.get("target"), dict):
                raise _wrong(path, where, "has no target")
        for place, sampler in enumerate(animation["samplers"]):
            if not {"input", "output"} <= sampler.keys():
                raise _wrong(path, f"animations.{number}.samplers.{place}", "has no input or no output")


def _check_nodes(path: Path, tree: Mapping[str, Any]) -> None:
    """Nodes make a tree that is not too deep, and are placed with numbers."""
    nodes = tree.get("nodes", [])
    parents: dict[int, int] = {}
    for number, node in enumerate(nodes):
        if not isinstance(node.get("name", ""), str):
            raise _wrong(path, f"nodes.{number}.name", "is no text")
        if not is_encodable(node.get("name", "")):
            raise _wrong(path, f"nodes.{number}.name", "has half a character in it", "Rename it with plain letters")
        for name, count in (("translation", 3), ("rotation", 4), ("scale", 3), ("matrix", 16)):
            if name in node and not _are_numbers(node[name], count):
                raise _wrong(path, f"nodes.{number}.{name}", f"is not {count} numbers")
        for child in node.get("children", ()):
            if child in parents or child == number:
                raise _wrong(path, f"nodes.{number}.children", f"has {child}, which is elsewhere in the tree as well")
            parents[child] = number
    for number in range(len(nodes)):
        depth, at = 0, number
        while at in parents:
            at, depth = parents[at], depth + 1
            if depth > min(len(nodes), GLTF_DEPTH):
                raise _wrong(path, f"nodes.{number}", "is within itself, or too deep in the tree")


def _are_numbers(value: Any, count: int) -> bool:
    if not isinstance(value, list) or len(value) != count:
        return False
    return all(isinstance(one, int | float) and not isinstance(one, bool) and abs(one) < 1e30 for one in value)


def _check_buffers(path: Path, tree: Mapping[str, Any], size: int) -> int:
    """Accessors lie within their views, views within their buffers, buffers within their files; gives all their bytes.

    size: of the file itself. A file beside it belongs to one buffer: each would read all of it.
    """
    sizes: list[int] = []
    files: dict[Path, int] = {}
    for number, row in enumerate(tree.get("buffers", ())):
        sizes.append(_buffer_size(path, number, row, size, files))
    if (total := sum(files.values())) > GLTF_BYTES:
        raise _wrong(path, "buffers", f"are files of {total / 1e9:.1f} GB, more than Sinew opens", "Export less")
    views = tree.get("bufferViews", [])
    for number, view in enumerate(views):
        where = f"bufferViews.{number}"
        for name in ("buffer", "byteLength"):
            if name not in view:
                raise _wrong(path, where, f"has no '{name}'")
        first, length = _whole(path, where, view, "byteOffset", 0), _whole(path, where, view, "byteLength", None)
        stride = _whole(path, where, view, "byteStride", 4)
        if not 1 <= stride <= 255:
            raise _wrong(path, where, f"has a byteStride of {stride}")
        if first + length > sizes[view["buffer"]]:
            raise _wrong(path, where, f"ends at byte {first + length} of a buffer of {sizes[view['buffer']]}")
    for number, accessor in enumerate(tree.get("accessors", ())):
        _check_accessor(path, f"accessors.{number}", accessor, views)
    return min(sum(sizes), size + sum(files.values()))


def _whole(path: Path, where: str, row: Mapping[str, Any], name: str, default: int | None) -> int:
    value = row.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise _wrong(path, f"{where}.{name}", f"is {value!r}")
    return value


def _check_accessor(path: Path, where: str, row: Mapping[str, Any], views: list[dict[str, Any]]) -> None:
    kind, shape = row.get("componentType"), row.get("type")
    if not isinstance(kind, int) or kind not in _WIDTHS or not isinstance(shape, str) or shape not in COUNTS:
        raise _wrong(path, where, f"holds numbers of an unknown kind ({kind!r}, {shape!r})")
    count, first = _whole(path, where, row, "count", None), _whole(path, where, row, "byteOffset", 0)
    width = _WIDTHS[kind] * COUNTS[shape]
    if count * width > GLTF_NUMBERS_BYTES:
        raise _wrong(path, f"{where}.count", f"is {count}, which is more than Sinew opens")
    if "sparse" in row:
        _check_sparse(path, f"{where}.sparse", row["sparse"], count, width, views)
    if "bufferView" not in row:
        return
    view = views[row["bufferView"]]
    stride = view.get("byteStride", width)
    _require_within(path, where, view, first + (stride * (count - 1) + width if count else 0))


def _check_sparse(path: Path, where: str, row: Any, most: int, width: int, views: list[dict[str, Any]]) -> None:
    """Numbers that stand in for others: which ones, and what they are, each in a bufferView."""
    parts: list[Any] = [row.get(name) if isinstance(row, dict) else None for name in ("indices", "values")]
    if not all(isinstance(part, dict) and _is_index(part.get("bufferView"), len(views)) for part in parts):
        raise _wrong(path, where, "does not say where its indices and values are")
    count = _whole(path, where, row, "count", None)
    if count > most:
        raise _wrong(path, f"{where}.count", f"is {count}, and there are {most} to stand in for")
    kind = parts[0].get("componentType")
    if not isinstance(kind, int) or kind not in _WIDTHS:
        raise _wrong(path, f"{where}.indices", f"are numbers of an unknown kind ({kind!r})")
    for name, part, wide in zip(("indices", "values"), parts, (_WIDTHS[kind], width), strict=True):
        first = _whole(path, f"{where}.{name}", part, "byteOffset", 0)
        _require_within(path, f"{where}.{name}", views[part["bufferView"]], first + count * wide)


def _require_within(path: Path, where: str, view: Mapping[str, Any], wanted: int) -> None:
    if wanted > view["byteLength"]:
        raise _wrong(path, where, f"wants {wanted} bytes of a bufferView of {view['byteLength']}")


def _buffer_size(path: Path, number: int, row: Mapping[str, Any], size: int, files: dict[Path, int]) -> int:
    """How many bytes a buffer has, as it says and as there are. files: those beside it, with their sizes, so far."""
    where = f"buffers.{number}"
    said, uri = _whole(path, where, row, "byteLength", None), row.get("uri")
    if uri is None:
        has = size
    elif not isinstance(uri, str):
        raise _wrong(path, f"{where}.uri", "is no text")
    elif uri.startswith("data:"):
        has = len(uri)
    else:
        beside, has = _file_beside(path, where, uri)
        if beside in files:
            raise _wrong(path, f"{where}.uri", f"is '{uri}', which another buffer is as well")
        files[beside] = has
    if said > has:
        raise _wrong(path, f"{where}.byteLength", f"is {said}, and there are {has} bytes")
    return said


def _file_beside(path: Path, where: str, uri: str) -> tuple[Path, int]:
    """A file beside the glTF file and its size; what is elsewhere, or no file, is not opened."""
    name = unquote(uri)
    try:
        beside = (path.parent / name).resolve()
        inside = beside.is_relative_to(path.parent.resolve()) and beside.is_file()
        size = beside.stat().st_size if inside else -1
    except (OSError, ValueError, RuntimeError):  # the last for links in a circle
        beside, size = path, -1
    if size < 0:
        raise _wrong(path, f"{where}.uri", f"is '{uri}', and there is no such file beside it", "Put the file there")
    if size > GLTF_BYTES:
        raise _wrong(path, f"{where}.uri", f"is '{uri}', a file of {size / 1e9:.0f} GB")
    return beside, size
