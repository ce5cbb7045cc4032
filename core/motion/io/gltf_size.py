# SPDX-License-Identifier: GPL-3.0-or-later
"""How much Blender's importer would take for a glTF file, counted from its numbers before it opens any.

What stands once in a file may be meant any number of times: primitives, channels and nodes refer to the same numbers,
and the importer makes a copy for each. An accessor without a bufferView has zeros that are nowhere at all. Measured in
Blender 4.5: a vertex takes 8 times the bytes of its numbers, a corner 11 times, a key of a bone 28 times; an object
takes 30 KB and a material 90 KB.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...errors import BadFile
from ...limits import (
    GLTF_EMPTY_BYTES,
    GLTF_MATERIALS,
    GLTF_NODES,
    GLTF_NUMBERS_BYTES,
    GLTF_PRIMITIVES,
    GLTF_REPEATED,
    GLTF_SHAPES,
    MIB,
)

COUNTS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}
_NUMBER = 4  # bytes that a number has in Blender, however few it has in the file
_PER_CORNER = ("TEXCOORD_", "COLOR_")  # every corner of a face has its own of these
_STRIPS = (5, 6)  # modes in which nearly every index is a triangle
_INSTANCES = "EXT_mesh_gpu_instancing"
_LESS = "Export only the character and its motion, or a shorter one"

Row = Mapping[str, Any]


def check_gltf_size(path: Path, tree: Row, there: int) -> None:
    """Refuse a file for which Blender would take far more than is in it.

    tree: the file's JSON, whose references are sound. there: bytes of all its buffers together.
    """
    accessors = tree.get("accessors", ())
    _check_entries(path, tree, accessors)
    empty = sum(_bytes_of(row) for row in accessors if "bufferView" not in row)
    if empty > GLTF_EMPTY_BYTES:
        raise _too_much(path, "its accessors without a bufferView have", empty, GLTF_EMPTY_BYTES)
    numbers = max(
        sum(map(_bytes_of, accessors)),
        _mesh_bytes(tree, accessors) + _motion_bytes(tree, accessors) + _skin_bytes(tree, accessors),
    )
    if numbers > GLTF_NUMBERS_BYTES:
        raise _too_much(path, "its meshes and animations take", numbers, GLTF_NUMBERS_BYTES)
    taken, most = numbers + _image_bytes(tree), GLTF_REPEATED * there + GLTF_EMPTY_BYTES
    if taken > most:
        raise _too_much(path, f"of {there / MIB:.0f} MB of numbers its entries take", taken, most)


def _too_much(path: Path, what: str, count: int, most: int) -> BadFile:
    told = f"{what} {count / MIB:.0f} MB, and at most {most / MIB:.0f} MB are read of it"
    return BadFile(f"'{path}' would take too much memory: {told}", _LESS)


def _check_entries(path: Path, tree: Row, accessors: Sequence[Row]) -> None:
    """Objects, materials and parts of meshes, each of which costs something even if it is empty."""
    nodes = len(tree.get("nodes", ())) + sum(
        max((_at(accessors, place).get("count", 0) for place in rows.values()), default=0) for rows in _instances(tree)
    )
    meshes = [_primitives(mesh) for mesh in tree.get("meshes", ())]
    shapes = max((_shapes(row) for rows in meshes for row in rows), default=0)
    for name, count, most in (
        ("nodes, with all instances,", nodes, GLTF_NODES),
        ("materials", len(tree.get("materials", ())), GLTF_MATERIALS),
        ("primitives in one mesh", max(map(len, meshes), default=0), GLTF_PRIMITIVES),
        ("shapes of one mesh", shapes, GLTF_SHAPES),
    ):
        if count > most:
            raise BadFile(f"'{path}' has {count} {name} and at most {most} are read", _LESS)


def _bytes_of(row: Row) -> int:
    """Bytes of an accessor's numbers as Blender has them, and of those that stand in for others."""
    width = _width(row)
    sparse = row.get("sparse")
    replaced = int(sparse["count"]) if isinstance(sparse, dict) else 0
    return int(row["count"]) * width + replaced * (width + _NUMBER)


def _width(row: Row) -> int:
    return _NUMBER * COUNTS[row["type"]] if row else 0


def _at(accessors: Sequence[Row], place: Any) -> Row:
    """The accessor that is meant; nothing where nothing is."""
    is_place = isinstance(place, int) and not isinstance(place, bool) and 0 <= place < len(accessors)
    return accessors[place] if is_place else {}


def _primitives(mesh: Row) -> list[Row]:
    rows = mesh.get("primitives")
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _attributes(primitive: Row) -> Row:
    found = primitive.get("attributes")
    return found if isinstance(found, dict) else {}


def _shapes(primitive: Row) -> int:
    targets = primitive.get("targets")
    return len(targets) if isinstance(targets, list) else 0


def _mesh_bytes(tree: Row, accessors: Sequence[Row]) -> int:
    """Of all meshes: a mesh is made anew for each skin, and for each set of weights, that a node gives it.

    Where one primitive has an attribute or a shape, Blender fills it in for all others of the mesh.
    """
    given: dict[int, set[tuple[Any, str]]] = {}
    for node in tree.get("nodes", ()):
        if "mesh" in node:
            given.setdefault(node["mesh"], set()).add((node.get("skin"), str(node.get("weights"))))
    total = 0
    for number, mesh in enumerate(tree.get("meshes", ())):
        rows = _primitives(mesh)
        widths: dict[str, int] = {}
        vertices = corners = shapes = 0
        for row in rows:
            for name, place in _attributes(row).items():
                widths[name] = max(widths.get(name, 0), _width(_at(accessors, place)))
            count = _at(accessors, _attributes(row).get("POSITION")).get("count", 0)
            turned = _at(accessors, row.get("indices")).get("count", count)
            vertices, corners = vertices + count, corners + turned * (3 if row.get("mode") in _STRIPS else 1)
            shapes = max(shapes, _shapes(row))
        of_corner = sum(width for name, width in widths.items() if name.startswith(_PER_CORNER))
        of_vertex = sum(widths.values()) - of_corner + shapes * 3 * _NUMBER
        total += (vertices * of_vertex + corners * (of_corner + _NUMBER)) * len(given.get(number, {None}))
    return total


def _motion_bytes(tree: Row, accessors: Sequence[Row]) -> int:
    """Of all channels of all animations: each reads its sampler's times and values for itself."""
    total = 0
    for animation in tree.get("animations", ()):
        sizes = [
            _bytes_of(_at(accessors, row["input"])) + _bytes_of(_at(accessors, row["output"]))
            for row in animation["samplers"]
        ]
        total += sum(sizes[row["sampler"]] for row in animation["channels"])
    return total


def _skin_bytes(tree: Row, accessors: Sequence[Row]) -> int:
    places = (row["inverseBindMatrices"] for row in tree.get("skins", ()) if "inverseBindMatrices" in row)
    return sum(_bytes_of(_at(accessors, place)) for place in places)


def _instances(tree: Row) -> Iterator[Row]:
    """By name the accessors of what a node says of its copies, for each node that has any."""
    for node in tree.get("nodes", ()):
        extensions = node.get("extensions")
        found = extensions.get(_INSTANCES) if isinstance(extensions, dict) else None
        rows = found.get("attributes") if isinstance(found, dict) else None
        if isinstance(rows, dict):
            yield rows


def _image_bytes(tree: Row) -> int:
    """Of all pictures that are in buffers: each is copied, though several may mean the same."""
    views = tree.get("bufferViews", ())
    rows = tree.get("images")
    found = (
        (_at(views, row.get("bufferView")) for row in rows if isinstance(row, dict)) if isinstance(rows, list) else ()
    )
    return sum(int(view.get("byteLength", 0)) for view in found)
