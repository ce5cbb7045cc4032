# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that ask for far more than they have: small on the disk, sound in their form, huge to who believes them."""

from __future__ import annotations

import io
import json
import math
import struct
import zipfile
import zlib
from typing import Any, Callable

import numpy as np

from .mutations import Rng, mutate_bytes, pick, saved_array

Fatten = Callable[[bytes, Rng], bytes]

_NARROW = ("i1", "u1", "?", "i2", "f2", "f4")
_MOST_BYTES = 256 << 20  # of zeros that are packed into an archive: more takes too long to make
_MOST_TEXT = 20_000_000  # letters of entries that are said again and again: more takes gigabytes here, to be made


def many(rng: Rng, least: int, most: int) -> int:
    """A number between two, as often of the size of the one as of the other."""
    return int(np.exp(rng.uniform(np.log(least), np.log(most))))


def fatten_archive(data: bytes, rng: Rng) -> bytes:
    """An ``.npz`` of narrow numbers that are many, or with a description that is."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    if rng.random() < 0.4 and "meta.npy" in entries:
        entries["meta.npy"] = saved_array(np.array(_fatten_text(_meta_of(entries), rng)))
    else:
        _lengthen(entries, rng)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
        if rng.random() < 0.7:  # so that it does not look as if it were packed so well
            padding = saved_array(np.frombuffer(rng.bytes(many(rng, 10_000, 10_000_000)), np.uint8))
            archive.writestr("padding.npy", padding, zipfile.ZIP_STORED)
    return stream.getvalue()


def _meta_of(entries: dict) -> Any:
    meta = json.loads(str(np.load(io.BytesIO(entries["meta.npy"]))))
    meta.pop("checksum", None)  # else that would be all that is found
    return meta


def _lengthen(entries: dict, rng: Rng) -> None:
    """Let everything that has a row a frame have far more of them, in fewer bytes each."""
    arrays = {name: np.load(io.BytesIO(content)) for name, content in entries.items()}
    rows = [len(array) for array in arrays.values() if array.ndim > 1]
    if not rows:
        return
    length = pick(rows, rng)
    kind, chosen = pick(_NARROW, rng), [name for name, array in arrays.items() if array.ndim and len(array) == length]
    widest = max(np.dtype(kind).itemsize, 8 if rng.random() < 0.1 else 0)
    row_bytes = sum(widest * math.prod(arrays[name].shape[1:]) for name in chosen)  # some have no row to be measured by
    count = many(rng, 1000, max(2000, _MOST_BYTES // max(row_bytes, 1)))
    for name in chosen:
        narrow = kind if widest < 8 else arrays[name].dtype
        if arrays[name].dtype.kind != "U":
            entries[name] = saved_array(np.zeros((count, *arrays[name].shape[1:]), narrow))
    if "starts.npy" in entries:
        entries["starts.npy"] = saved_array(np.array([0, count]))
    if "meta.npy" in entries:
        meta = _meta_of(entries)
        if isinstance(meta.get("clips"), list):
            meta["clips"] = meta["clips"][:1]
        entries["meta.npy"] = saved_array(np.array(json.dumps(meta)))


def fatten_json(data: bytes, rng: Rng) -> bytes:
    """JSON with a great many values of nothing somewhere in it."""
    return _fatten_text(json.loads(data), rng).encode()


def _fatten_text(value: Any, rng: Rng) -> str:
    owner = value
    while isinstance(owner, dict) and rng.random() < 0.5:
        inner = [one for one in owner.values() if isinstance(one, dict)]
        if not inner:
            break
        owner = pick(inner, rng)
    if isinstance(owner, dict):
        owner["fat"] = "FAT"
    nothing = pick(("[]", "{}", "0", '"a"', '{"a":0}', "[[]]"), rng)
    return json.dumps(value).replace('"FAT"', "[" + ",".join([nothing] * many(rng, 1000, 15_000_000)) + "]")


def fatten_stock(data: bytes, rng: Rng) -> bytes:
    """A stock clip of another rate and length, or with a great many values."""
    if rng.random() < 0.3:
        return fatten_json(data, rng)
    value = json.loads(data)
    durations = [10.0 ** rng.uniform(-9, -2)] * len(value["Frames"])
    durations[int(rng.integers(len(durations)))] = 10.0 ** rng.uniform(-2, 4)
    value["Frames"] = [[duration, *row[1:]] for duration, row in zip(durations, value["Frames"])]
    return json.dumps(value).encode()


def fatten_bvh(data: bytes, rng: Rng) -> bytes:
    """A BVH with very long lines, or a great many lines, ends of joints, or joints that do not move."""
    lines = data.split(b"\n")
    kind, count = int(rng.integers(5)), many(rng, 1000, 10_000_000)
    at = int(rng.integers(len(lines)))
    if kind == 0:
        lines[at] += b" " + b"00 " * count
    elif kind == 1:
        lines[at:at] = [b""] * count
    elif kind == 2:
        return b" ".join(lines * max(1, min(200, count // max(len(data), 1))))
    else:
        first = next((place for place, line in enumerate(lines) if line.strip().startswith(b"JOINT")), at)
        names = [b"End Site" if kind == 3 else b"JOINT still%d" % number for number in range(min(count, 12_000))]
        lines[first:first] = [line for name in names for line in (name, b"{", b"OFFSET 0 0 1", b"}")]
        if kind == 4:
            lines += [line for line in lines[-3:] if line] * many(rng, 10, 20_000)
    return b"\n".join(lines)


def fatten_gltf(data: bytes, rng: Rng) -> bytes:
    """A glTF whose entries mean what is nowhere, or mean the same again and again."""
    value = json.loads(data)
    kind, count = int(rng.integers(9)), many(rng, 1000, 2_000_000)
    accessors, nodes = value.setdefault("accessors", []), value.setdefault("nodes", [])
    if kind == 0:
        return fatten_json(data, rng)
    if kind <= 2:  # nothing is there, and much of it
        for row in accessors:
            if rng.random() < 0.5:
                row.pop("bufferView", None)
            row["count"] = count
    elif kind == 3 and value.get("animations"):
        rows = value["animations"]
        rows[:] = _repeat(rows, min(count, 5000))
    elif kind == 4 and value.get("animations"):
        its = value["animations"][0]
        channels = [
            {"sampler": int(rng.integers(len(its["samplers"]))), "target": {"node": node, "path": path}}
            for node in range(len(nodes))
            for path in ("translation", "rotation", "scale")
        ]
        its["channels"] = _repeat(channels, min(count, 500))
    else:
        _add_meshes(value, kind, count, rng)
    return json.dumps(value).encode()


def _repeat(entries: list, times: int) -> list:
    """The entries so often, or as often as their text may."""
    return entries * max(1, min(times, _MOST_TEXT // max(len(json.dumps(entries)), 1)))


def _add_meshes(value: dict, kind: int, count: int, rng: Rng) -> None:
    """Meshes of what there is: many parts, shapes, materials, copies, or skins."""
    accessors, nodes = value["accessors"], value["nodes"]
    accessors.append({"componentType": 5126, "type": "VEC3", "count": many(rng, 3, 3_000_000)})
    part: dict[str, Any] = {"attributes": {"POSITION": len(accessors) - 1}}
    mesh: dict[str, Any] = {"primitives": [part]}
    node: dict[str, Any] = {"mesh": len(value.setdefault("meshes", []))}
    value["meshes"].append(mesh)
    few = min(count, 30_000)
    if kind == 5:
        mesh["primitives"] = [part] * few
    elif kind == 6:
        value["materials"] = [{"name": str(number)} for number in range(few)]
        mesh["primitives"] = [{**part, "material": number} for number in range(few)]
    elif kind == 7:
        part["targets"] = [{"POSITION": len(accessors) - 1}] * few
    else:
        accessors.append({"componentType": 5126, "type": "VEC3", "count": count})
        node["extensions"] = {"EXT_mesh_gpu_instancing": {"attributes": {"TRANSLATION": len(accessors) - 1}}}
    first = len(nodes)
    nodes += [dict(node) for _ in range(few if rng.random() < 0.3 else 1)]
    for scene in value.get("scenes", ()):
        scene.setdefault("nodes", []).extend(range(first, len(nodes)))


def fatten_glb(data: bytes, rng: Rng) -> bytes:
    """The same in a binary glTF."""
    length = int.from_bytes(data[12:16], "little")
    text = fatten_gltf(data[20 : 20 + length], rng)
    text += b" " * (-len(text) % 4)
    rest = data[20 + length :]
    return data[:8] + struct.pack("<II", 20 + len(text) + len(rest), len(text)) + data[16:20] + text + rest


def fatten_fbx(data: bytes, rng: Rng) -> bytes:
    """A binary FBX with one more node at its end: of zeros that are packed well, or of a great many small nodes."""
    at = _end_of_nodes(data)
    head, rest = data[:at], data[at:]
    if rng.random() < 0.5:
        count = many(rng, 100_000, _MOST_BYTES // 8)
        packed = zlib.compress(bytes(8 * count), 1)
        array = b"d" + struct.pack("<III", count, 1, len(packed)) + packed
        return head + _fbx_node(b"Zeros", [array] * int(rng.integers(1, 4)), b"", at) + rest
    name = pick((b"Model", b"C", b"Material", b"Note"), rng)
    children, place = [], at + 13 + len(b"Objects")
    for number in range(many(rng, 1000, 500_000)):
        children.append(_fbx_node(name, [b"L" + struct.pack("<q", number)], b"", place))
        place += len(children[-1])
    return head + _fbx_node(b"Objects", [], b"".join(children) + bytes(13), at) + rest


def _fbx_node(name: bytes, properties: list[bytes], children: bytes, at: int) -> bytes:
    content = b"".join(properties)
    end = at + 13 + len(name) + len(content) + len(children)
    return struct.pack("<IIIB", end, len(properties), len(content), len(name)) + name + content + children


def _end_of_nodes(data: bytes) -> int:
    """Where the outermost nodes of a file of version 7400 end."""
    at = 27
    while end := int.from_bytes(data[at : at + 4], "little"):
        at = end
    return at


def fatten_safetensors(data: bytes, rng: Rng) -> bytes:
    """A controller of numbers of one byte that are many, or with a description that is."""
    length = int.from_bytes(data[:8], "little")
    header, numbers = json.loads(data[8 : 8 + length]), data[8 + length :]
    if rng.random() < 0.5:
        about = json.loads(header["__metadata__"]["sinew"])
        header["__metadata__"]["sinew"] = _fatten_text(about, rng)
    else:
        names = [name for name in header if name != "__metadata__"]
        row, extra = header[pick(names, rng)], many(rng, 1000, _MOST_BYTES)
        row.update(dtype="U8", shape=[len(numbers) + extra], data_offsets=[0, len(numbers) + extra])
        for name in names:
            if header[name] is not row:
                header[name].update(shape=[0], data_offsets=[len(numbers) + extra] * 2)
        numbers += bytes(extra)
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + numbers


def or_fattened(mutate: Fatten, fatten: Fatten, share: float = 0.15) -> Fatten:
    """Damage in the one way, and so often in the other."""

    def mutated(data: bytes, rng: Rng) -> bytes:
        if rng.random() >= share:
            return mutate(data, rng)
        try:
            return fatten(data, rng)
        except (ValueError, KeyError, TypeError, AttributeError):  # what is to be fattened is none
            return mutate_bytes(data, rng)

    return mutated
