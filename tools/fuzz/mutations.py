# SPDX-License-Identifier: GPL-3.0-or-later
"""Ways to damage a file: its bytes, its words, its JSON, the arrays of an archive. All of them from one generator."""

from __future__ import annotations

import copy
import io
import json
import math
import struct
import zipfile
import zlib
from typing import Any, Callable

import numpy as np

Rng = np.random.Generator
Mutation = Callable[[bytes, Rng], bytes]

# Names that look like terminals' commands, lists' rows, other directions of writing, or like nothing at all.
NAMES = (
    "\x1b[2J\x1b[31mred",
    "one\n20990101-000000-forged-0000 done 100%",
    "one\rtwo",
    "left\u202eright",
    "tab\tbell\x07",
    "\x9b31m",
    "\u2028line",
    "a" * 64,
    "é" * 40,
    "x" * 5000,
    "",
    " ",
    ".",
    "../../up",
    "/etc/passwd",
    "nul\x00byte",
    "\ud800",
    "%s%n{0}{}",
    "ﷺ" * 21,
)
NUMBERS = (0, -1, 1, 2**31, -(2**31) - 1, 2**63, 10**30, 1e300, -1e300, 1e-300, 1e-6, 33.333, 1e9, 0.5)
WORDS = (
    "nan inf -inf 1e300 -1e300 1e39 1e-300 -1 0 33.333 1e-9 999999999 2147483648 -2147483649 1e999 0x10 1_000 ½ { } "
    "MOTION HIERARCHY JOINT End OFFSET CHANNELS Frames: Frame"
).split()


def mutate_bytes(data: bytes, rng: Rng) -> bytes:
    """Flip, cut, repeat, insert or overwrite a few bytes, or end before the end."""
    found = bytearray(data)
    for _ in range(int(rng.integers(1, 6))):
        if not found:
            return b""
        at, length = int(rng.integers(len(found))), int(2 ** rng.uniform(0, 8))
        kind = int(rng.integers(8))
        if kind == 0:
            found[at] ^= 1 << int(rng.integers(8))
        elif kind == 1:
            del found[at : at + length]
        elif kind == 2:
            found[at:at] = found[at : at + length]
        elif kind == 3:
            found[at:at] = rng.bytes(length)
        elif kind == 4:
            found[at : at + length] = bytes([int(rng.choice([0, 255]))]) * len(found[at : at + length])
        elif kind == 5:
            number = int(rng.choice([0, 1, -1, 2**31 - 1, -(2**31), 2**20, 65536]))
            found[at : at + 4] = struct.pack("<i", number)
        elif kind == 6:
            found[at : at + 8] = struct.pack("<d", float(rng.choice([np.nan, np.inf, 1e300, -1.0, 1e-300])))
        elif rng.random() < 0.3:
            del found[at:]
    return bytes(found)


def mutate_text(data: bytes, rng: Rng) -> bytes:
    """Replace words, and delete, repeat or swap lines."""
    lines = data.split(b"\n")
    for _ in range(1 if rng.random() < 0.6 else int(rng.integers(2, 5))):
        at = _early(len(lines), rng)
        kind = int(rng.integers(7))
        if kind <= 2:
            words = lines[at].split(b" ")
            words[int(rng.integers(len(words)))] = _word(rng)
            lines[at] = b" ".join(words)
        elif kind == 3:
            del lines[at]
        elif kind == 4:
            lines[at:at] = [lines[at]] * int(2 ** rng.uniform(0, 9))
        elif kind == 5:
            other = int(rng.integers(len(lines)))
            lines[at], lines[other] = lines[other], lines[at]
        else:
            lines[at] = lines[at] + b" " + _word(rng)
        if not lines:
            return b""
    return b"\n".join(lines)


def _word(rng: Rng) -> bytes:
    if rng.random() < 0.6:
        return str(rng.choice(WORDS)).encode()
    return pick(NAMES, rng).encode("utf-8", "surrogatepass")


def _early(count: int, rng: Rng) -> int:
    """A place among so many, near the beginning more often than not: that is where files say what they are."""
    return int(count * rng.random() ** (3 if rng.random() < 0.7 else 1)) % max(count, 1)


def pick(choices: Any, rng: Rng) -> Any:
    """One of them, as it is."""
    return choices[int(rng.integers(len(choices)))]


def junk(rng: Rng, depth: int = 0) -> Any:
    """A value that nobody expects, as JSON may hold it."""
    kind = int(rng.integers(9))
    if kind <= 2:
        return pick(NAMES, rng)
    if kind <= 4:
        return pick(NUMBERS, rng)
    if kind == 5:
        return pick((None, True, False, math.nan, math.inf, [], {}), rng)
    if kind == 6 and depth < 3:
        return [junk(rng, depth + 1) for _ in range(int(rng.integers(4)))]
    if kind == 7 and depth < 3:
        return {str(pick(NAMES, rng)): junk(rng, depth + 1)}
    return [] if depth < 3 else None


def mutate_value(value: Any, rng: Rng) -> Any:
    """JSON's values with a few of them exchanged, renamed, left out or repeated."""
    found = copy.deepcopy(value)
    for _ in range(1 if rng.random() < 0.7 else int(rng.integers(2, 4))):
        found = _mutate_somewhere(found, rng)
    return found


def _mutate_somewhere(value: Any, rng: Rng) -> Any:
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = pick(list(value), rng)
        kind = rng.random()
        if kind < 0.12:
            del value[key]
        elif kind < 0.18:
            value[str(pick(NAMES, rng))] = value.pop(key)
        else:
            value[key] = _mutate_somewhere(value[key], rng)
        return value
    if isinstance(value, list) and value and rng.random() < 0.85:
        at, kind = int(rng.integers(len(value))), rng.random()
        if kind < 0.15:
            del value[at]
        elif kind < 0.25:
            value[at:at] = [value[at]] * int(2 ** rng.uniform(0, 6))
        else:
            value[at] = _mutate_somewhere(value[at], rng)
        return value
    return junk(rng)


def mutate_json(data: bytes, rng: Rng) -> bytes:
    """Valid JSON of other values, sometimes nested beyond reason, sometimes no JSON at all."""
    if rng.random() < 0.2:
        return mutate_bytes(data, rng)
    if rng.random() < 0.03:
        deep = int(rng.choice([200, 5000, 100_000]))
        return b"[" * deep + b"]" * deep
    try:
        value = json.loads(data)
    except ValueError:
        return mutate_bytes(data, rng)
    return json.dumps(mutate_value(value, rng)).encode()


def mutate_json_lines(data: bytes, rng: Rng) -> bytes:
    """The same with one JSON a line: a line exchanged, mutated, repeated often, or torn."""
    lines = data.splitlines() or [b"{}"]
    at = int(rng.integers(len(lines)))
    kind = int(rng.integers(6))
    if kind <= 2:
        lines[at] = mutate_json(lines[at], rng)
    elif kind == 3:
        lines[at:at] = [mutate_json(lines[at], rng)] * int(2 ** rng.uniform(0, 12))
    elif kind == 4:
        lines[at] = lines[at] * int(2 ** rng.uniform(0, 10))
    else:
        return mutate_bytes(data, rng)
    return b"\n".join(lines) + b"\n"


def mutate_archive(data: bytes, rng: Rng) -> bytes:
    """An ``.npz`` with other arrays, other headers, entries that are missing, or that unpack to far more."""
    if rng.random() < 0.15:
        return mutate_bytes(data, rng)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    if rng.random() < 0.8:
        _drop_checksum(entries)
    name = pick(list(entries), rng)
    if rng.random() < 0.35 and "meta.npy" in entries:
        name = "meta.npy"
    kind = rng.random()
    if kind < 0.1:
        del entries[name]
    elif kind < 0.15:
        entries[str(pick(NAMES, rng)) + ".npy"] = entries.pop(name)
    elif kind < 0.3:
        entries[name] = mutate_bytes(entries[name], rng)
    elif kind < 0.45:
        entries[name] = _lying_header(entries[name], rng)
    else:
        entries[name] = _other_array(name, entries[name], rng)
    packing = zipfile.ZIP_DEFLATED if rng.random() < 0.3 else zipfile.ZIP_STORED
    return _zipped(entries, packing)


def _drop_checksum(entries: dict) -> None:
    """Of a file that is kept: else every damage would be found by that, and nothing behind it be tried."""
    if b"checksum" in entries.get("meta.npy", b"").replace(b"\0", b""):
        meta = json.loads(str(np.load(io.BytesIO(entries["meta.npy"]), allow_pickle=False)))
        entries["meta.npy"] = saved_array(np.array(json.dumps({**meta, "checksum": None})))


def _zipped(entries: dict, packing: int) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", packing) as archive:
        for name, content in entries.items():
            archive.writestr(name.encode("utf-8", "replace").decode(), content)
    return stream.getvalue()


def _lying_header(content: bytes, rng: Rng) -> bytes:
    """An array whose header says another shape or kind than there is."""
    shape = tuple(int(pick((0, 1, 7, 10**6, 2**31, 2**40, 2**62), rng)) for _ in range(int(rng.integers(5))))
    stream = io.BytesIO()
    kind = str(rng.choice(["<f8", "<f4", "|O", "<U100000", "<c16", "|b1", "<M8[s]", "<i8"]))
    np.lib.format.write_array_header_1_0(stream, {"descr": kind, "fortran_order": False, "shape": shape})
    return stream.getvalue() + content[128:]


def _other_array(name: str, content: bytes, rng: Rng) -> bytes:
    array = np.load(io.BytesIO(content), allow_pickle=False)
    if array.dtype.kind == "U" and array.ndim == 0:
        return saved_array(np.array(mutate_json(str(array).encode(), rng).decode("utf-8", "replace")))
    array, kind = np.array(array), int(rng.integers(7))
    if kind == 0 and array.size:
        array = array[: int(rng.integers(len(array)))] if array.ndim else array.reshape(1)
    elif kind == 1:
        array = array.astype(str(rng.choice(["f4", "f8", "i8", "U5", "?", "c16"])))
    elif kind == 2:
        array = array.ravel()
    elif kind == 3:
        array = array[None]
    elif kind == 4 and array.ndim:
        array = np.concatenate([array] * int(rng.integers(2, 40)))
    elif array.size and array.dtype.kind in "fiu":
        few = rng.integers(array.size, size=int(rng.integers(1, 4)))
        values = NUMBERS if array.dtype.kind != "f" else (*NUMBERS, math.nan, math.inf)
        with np.errstate(all="ignore"):
            array.ravel()[few] = np.array([float(pick(values, rng)) for _ in few]).astype(array.dtype)
    return saved_array(array)


def saved_array(array: np.ndarray) -> bytes:
    """An array as it stands in an archive."""
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def mutate_safetensors(data: bytes, rng: Rng) -> bytes:
    """A header of other values before the same numbers: shapes, kinds, places that overlap or lie outside."""
    if rng.random() < 0.2:
        return mutate_bytes(data, rng)
    length = int.from_bytes(data[:8], "little")
    header, numbers = json.loads(data[8 : 8 + length]), data[8 + length :]
    if rng.random() < 0.5:
        header["__metadata__"]["sinew"] = mutate_json(header["__metadata__"]["sinew"].encode(), rng).decode(
            "utf-8", "replace"
        )
    elif rng.random() < 0.5:
        header = mutate_value(header, rng)
    else:
        at = int(rng.integers(max(len(numbers) - 8, 1)))
        numbers = numbers[:at] + struct.pack("<d", float(rng.choice([np.nan, np.inf, 1e300]))) + numbers[at + 8 :]
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + numbers


def mutate_glb(data: bytes, rng: Rng) -> bytes:
    """A binary glTF with other JSON and the same numbers, or the same JSON and other numbers."""
    if rng.random() < 0.3 or len(data) < 20:
        return mutate_bytes(data, rng)
    length = int.from_bytes(data[12:16], "little")
    first = 20 + length + 8
    if rng.random() < 0.3 and len(data) > first + 4:
        return data[:first] + _other_numbers(data[first:], "<f", rng)
    text = mutate_json(data[20 : 20 + length], rng)
    text += b" " * (-len(text) % 4)
    rest = data[20 + length :]
    whole = 20 + len(text) + len(rest)
    return data[:8] + whole.to_bytes(4, "little") + len(text).to_bytes(4, "little") + data[16:20] + text + rest


def mutate_fbx(data: bytes, rng: Rng) -> bytes:
    """A binary FBX with a name, a number or numbers of an array exchanged in place, or damaged bytes."""
    kind = rng.random()
    if kind < 0.4:
        return mutate_bytes(data, rng)
    if kind < 0.6:
        return _mutate_fbx_array(data, rng)
    words = [
        b"Limb",
        b"Model",
        b"AnimationCurve",
        b"KeyTime",
        b"Vertices",
        b"Lcl Rotation",
        b"Deformer",
        b"Lcl Translation",
    ]
    words += [b"UnitScaleFactor", b"Objects", b"Connections", b"GlobalSettings", b"thigh.L", b"pelvis", b"TimeSpanStop"]
    word = pick(words, rng)
    places = _places(data, word)
    if not places:
        return mutate_bytes(data, rng)
    at = pick(places, rng)
    if rng.random() < 0.4:
        name = pick(NAMES, rng).encode("utf-8", "surrogatepass")[: len(word)].ljust(len(word), b"\x1b")
        return data[:at] + name + data[at + len(word) :]
    at += len(word) + int(rng.integers(40))
    number = pick((b"\xff" * 4, b"\x00" * 8, struct.pack("<d", math.nan), struct.pack("<d", 1e300), b"\x7f" * 8), rng)
    return data[:at] + number + data[at + len(number) :]


def _mutate_fbx_array(data: bytes, rng: Rng) -> bytes:
    """The same with other numbers in one of its arrays; a packed one that becomes shorter is filled up."""
    kinds = {b"d": "<d", b"f": "<f", b"l": "<q", b"i": "<i"}
    for _ in range(200):
        at = int(rng.integers(27, max(len(data) - 20, 28)))
        at = next(
            (place for place in range(at, min(at + 4000, len(data) - 20)) if data[place : place + 1] in kinds), at
        )
        length, packing, size = struct.unpack_from("<III", data, at + 1)
        kind, content = kinds.get(data[at : at + 1], ""), data[at + 13 : at + 13 + size]
        if not kind or packing not in (0, 1) or not 0 < length < 10**6 or len(content) != size:
            continue
        try:
            plain = zlib.decompress(content) if packing else content
        except zlib.error:
            continue
        if len(plain) != length * struct.calcsize(kind):
            continue
        other = _other_numbers(plain, kind, rng)
        other = zlib.compress(other, 9) if packing else other
        if len(other) <= size:
            return data[: at + 13] + other.ljust(size, b"\0") + data[at + 13 + size :]
    return mutate_bytes(data, rng)


def _other_numbers(data: bytes, kind: str, rng: Rng) -> bytes:
    """A few numbers in a row of them exchanged for such as nobody expects."""
    width, changed = struct.calcsize(kind), bytearray(data)
    odd = (
        (math.nan, math.inf, -math.inf, 1e38, -1e38, 1e9, -1.0, 0.0)
        if kind[1] in "fd"
        else (0, -1, 2**31 - 1, -(2**31))
    )
    odd += (2**63 - 1, -(2**63), 46186158000 * 10**6) if kind == "<q" else ()
    for _ in range(int(rng.integers(1, 6))):
        place = int(rng.integers(max(len(changed) // width, 1)))
        if (place + 1) * width <= len(changed):
            struct.pack_into(kind, changed, place * width, pick(odd, rng))
    return bytes(changed)


def _places(data: bytes, word: bytes) -> list[int]:
    found, at = [], data.find(word)
    while at >= 0:
        found.append(at)
        at = data.find(word, at + 1)
    return found
