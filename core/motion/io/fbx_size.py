# SPDX-License-Identifier: GPL-3.0-or-later
"""How much Blender's importer would take for an FBX file, counted while its nodes are walked through.

Nodes and their properties are small in the file and objects of Python when they were read. Objects refer to each other
in a list of connections: a curve that is connected a thousand times is keyed a thousand times, and a shape has as many
points as its mesh, however few it moves.
"""

from collections import defaultdict
from dataclasses import dataclass, field

from ...limits import (
    FBX_ARRAY_BYTES,
    FBX_KEYS_REPEATED,
    FBX_MATERIALS,
    FBX_MODELS,
    FBX_NODES,
    FBX_PACKED_TO,
    FBX_PROPERTIES,
    FBX_SHAPES,
    FBX_SHAPES_BYTES,
    MIB,
    PACKED_FREE_BYTES,
)

OBJECT, PROPERTY = b"OO", b"OP"
_POINT = 12  # bytes of a point of a shape


@dataclass
class FbxSize:
    """What was counted so far. size: bytes of the file.

    keys: of curves, by id. shapes: ids of what moves points of a mesh. points: of the largest mesh.
    connections: by id and kind of connection, what it is connected to.
    """

    size: int
    nodes: int = 0
    properties: int = 0
    unpacked: int = 0
    models: int = 0
    materials: int = 0
    points: int = 0
    keys: dict[int, int] = field(default_factory=dict)
    shapes: list[int] = field(default_factory=list)
    connections: dict[tuple[int, bytes], list[int]] = field(default_factory=lambda: defaultdict(list))

    def too_much(self) -> str:
        """What is too much of what was counted so far, as the end of a sentence that begins with 'it has'."""
        for count, most, what in (
            (self.nodes, FBX_NODES, "nodes"),
            (self.properties, FBX_PROPERTIES, "properties"),
            (self.models, FBX_MODELS, "models"),
            (self.materials, FBX_MATERIALS, "materials"),
            (len(self.shapes), FBX_SHAPES, "shapes"),
        ):
            if count > most:
                return f"more than {most} {what}"
        allowed = min(FBX_ARRAY_BYTES, max(PACKED_FREE_BYTES, FBX_PACKED_TO * self.size))
        if self.unpacked > allowed:
            return f"arrays of more than {allowed / MIB:.0f} MB, which is the most for a file of its size"
        return ""

    def too_often(self) -> str:
        """The same for what is connected more often than it is there; asked when all nodes were walked through."""
        there = sum(self.keys.values())
        keyed = sum(count * self._times_keyed(curve) for curve, count in self.keys.items())
        if keyed > 2 * there + FBX_KEYS_REPEATED:
            return f"{there} keys, which its connections make {keyed} of"
        moved = sum(max(1, len(self.connections.get((shape, OBJECT), ()))) for shape in self.shapes)
        if moved * self.points * _POINT > FBX_SHAPES_BYTES:
            most = FBX_SHAPES_BYTES // (self.points * _POINT)
            return f"{moved} shapes of a mesh of {self.points} points, where {most} are the most"
        return ""

    def _times_keyed(self, curve: int) -> int:
        """A curve is keyed for every layer of every stack, and for every object, that its nodes are connected to."""
        return sum(
            len(self.connections.get((node, PROPERTY), ()))
            * sum(len(self.connections.get((layer, OBJECT), ())) for layer in self.connections.get((node, OBJECT), ()))
            for node in self.connections.get((curve, PROPERTY), ())
        )
