# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that tests write by hand, and how they are refused."""

import json
import struct
import zlib

import pytest

from sinew.core.errors import BadFile

BVH = """HIERARCHY
ROOT Hips
{
  OFFSET 0.0 0.9 0.0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Left Arm
  {
    OFFSET 0.1 0.4 0.0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0.3 0.0 0.0
    }
  }
}
MOTION
Frames: 2
Frame Time: 0.0333333
0 0.9 0 1 2 3 4 5 6
0 0.9 0 1 2 3 4 5 6
"""


def refused(check, path, *words):
    with pytest.raises(BadFile) as caught:
        check(path)
    said = str(caught.value)
    assert "\n" not in said
    for word in words:
        assert word in said, said


def gltf():
    return {
        "asset": {"version": "2.0"},
        "nodes": [{"name": "Hips", "children": [1]}, {"name": "Arm", "rotation": [0, 0, 0, 1]}],
        "skins": [{"joints": [0, 1]}],
        "scenes": [{"nodes": [0]}],
        "buffers": [{"byteLength": 32, "uri": "data:application/octet-stream;base64," + "A" * 44}],
        "bufferViews": [{"buffer": 0, "byteLength": 8}, {"buffer": 0, "byteOffset": 8, "byteLength": 24}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 2, "type": "SCALAR"},
            {"bufferView": 1, "componentType": 5126, "count": 2, "type": "VEC3"},
        ],
        "animations": [
            {
                "samplers": [{"input": 0, "output": 1}],
                "channels": [{"sampler": 0, "target": {"node": 1, "path": "translation"}}],
            }
        ],
    }


def written(path, tree):
    path.write_text(tree if isinstance(tree, str) else json.dumps(tree), encoding="utf-8")
    return path


def fbx_node(name, properties=(), children=b"", at=0):
    """A node of an FBX of version 7400 that begins at byte ``at``."""
    content = b"".join(properties)
    end = at + 13 + len(name) + len(content) + len(children)
    return struct.pack("<IIIB", end, len(properties), len(content), len(name)) + name + content + children


def fbx(properties=(), objects=(), connections=()):
    """A whole file; objects, connections: (name, properties, children) of what is within those, as is each child."""
    found = b"Kaydara FBX Binary  \x00\x1a\x00" + struct.pack("<I", 7400)
    for name, its, children in (
        (b"Objects", properties, objects),
        (b"GlobalSettings", (), ()),
        (b"Connections", (), connections),
    ):
        found += fbx_tree(name, its, children, len(found))
    return found + b"\0" * 13


def fbx_tree(name, properties, children, at):
    first, content = at + 13 + len(name) + len(b"".join(properties)), b""
    for child in children:
        content += fbx_tree(*child, first + len(content))
    return fbx_node(name, properties, content + (b"\0" * 13 if children else b""), at)


def number(value):
    return b"L" + struct.pack("<q", value)


def text(value):
    return b"S" + struct.pack("<I", len(value)) + value


def packed(values, says=None):
    data = zlib.compress(struct.pack(f"<{len(values)}d", *values))
    return b"d" + struct.pack("<III", len(values) if says is None else says, 1, len(data)) + data
