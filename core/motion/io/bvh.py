# SPDX-License-Identifier: GPL-3.0-or-later
"""Motions from BVH files, as fast as a library needs them; bones lie and turn as where Blender imports the file.

A file's joints have no axes of their own. Blender lets a bone point at its child, at the middle of several, or along
the end site, and turns it about itself by no roll; so does this, and both ways lead to the same clip.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...errors import BadFile
from ...files import open_to_read, read_bytes
from ...geometry.quaternions import Array, conjugate, from_matrix, from_rotation_vector, multiply, rotate
from ...limits import BVH_BYTES
from ..bone_lengths import replace_impossible_lengths
from ..clip import Clip
from ..frame_rates import snap_frame_rate
from ..skeleton import Skeleton
from .bvh_check import check_bvh

_HINT = "Export it again, or check that it opens in Blender by hand"
_SHORTEST = 1e-3  # of a unit: shorter bones are pointed along Y, by a tenth of a unit
_TALL = 3.0  # a skeleton so many times as long along Z as along Y stands along Z
_AXES = {"x": 0, "y": 1, "z": 2}
_PIECE = 1 << 20  # letters of the motion that are read at a time
# From Y up to Z up, as Blender does it: what was Z comes towards the viewer.
_Y_UP: Array = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
# Where a bone points straight down, its other axes are hardly defined; below these Blender goes other ways.
_SAFE, _CRITICAL = 6.1e-3, 2.5e-4


@dataclass
class _Joint:
    """A joint as the file has it. place, turn: (column, axis) of its channels in the order of the file."""

    name: str
    parent: int
    depth: int
    offset: Array = field(default_factory=lambda: np.zeros(3))
    place: list[tuple[int, int]] = field(default_factory=list)
    turn: list[tuple[int, int]] = field(default_factory=list)
    end: Array | None = None


def load_bvh(path: Path, scale: float = 1.0) -> Clip:
    """The motion in a BVH file; scale: metres a unit of it. What is no whole BVH is a ``BadFile``."""
    open_to_read(path, BVH_BYTES).close()  # what is no plain file says so
    check_bvh(path)
    text = read_bytes(path, BVH_BYTES).decode("utf-8", errors="replace")
    try:
        head, _, motion = text.partition("MOTION")
        joints, columns = _read_joints(iter(head.split()))
        fps, rows = _read_motion(motion, columns)
    except StopIteration:
        raise BadFile(f"'{path}' ends in the middle of its skeleton", _HINT) from None
    except (ValueError, KeyError, IndexError) as error:
        raise BadFile(f"'{path}' is no whole BVH: {error}", _HINT) from error
    return _make_clip(path.stem, joints, fps, rows, scale)


def _read_joints(words: Iterator[str]) -> tuple[list[_Joint], int]:
    """The joints in the order of the file, and how many columns the motion has."""
    joints: list[_Joint] = []
    names: set[str] = set()
    chain: list[int] = []
    columns, word = 0, next(words)
    if word.lower() != "hierarchy":
        raise ValueError("it does not begin with HIERARCHY")
    for word in words:
        kind = word.lower()
        if kind in ("root", "joint"):
            parent = chain[-1] if chain else -1
            name = "_".join(_until(words, "{"))
            joints.append(_Joint(_free_name(name, names), parent, len(chain)))
            names.add(joints[-1].name)
            chain.append(len(joints) - 1)
        elif kind == "end":
            list(_until(words, "{"))
            if next(words).lower() != "offset":
                raise ValueError("an end site has no offset")
            joints[chain[-1]].end = _vector(words)
            list(_until(words, "}"))
        elif kind == "offset":
            joints[chain[-1]].offset = _vector(words)
        elif kind == "channels":
            for _ in range(int(next(words))):
                channel = next(words).lower()
                own = joints[chain[-1]].place if channel.endswith("position") else joints[chain[-1]].turn
                own.append((columns, _AXES[channel[:1]]))
                columns += 1
        elif kind == "}":
            chain.pop()
        else:
            raise ValueError(f"'{word}' is unexpected")
    if chain or not joints:
        raise ValueError("its skeleton is not whole")
    return joints, columns


def _until(words: Iterator[str], stop: str) -> Iterator[str]:
    for word in words:
        if word == stop:
            return
        yield word
    raise ValueError(f"it ends where a '{stop}' should follow")


def _free_name(name: str, names: set[str]) -> str:
    number, free = 1, name
    while free in names:
        free, number = f"{name}.{number:03d}", number + 1
    return free


def _vector(words: Iterator[str]) -> Array:
    return np.array([float(next(words)) for _ in range(3)])


def _read_motion(text: str, columns: int) -> tuple[float, Array]:
    """Frames a second, and (T, columns) what the channels are."""
    begin, _, rest = text.partition("Time:")
    if not begin.split()[:1] == ["Frames:"] or not rest.strip():
        raise ValueError("it has no frames")
    dt, _, numbers = rest.strip().partition("\n")
    values = _numbers(numbers)
    if float(dt) <= 0.0:
        raise ValueError(f"a frame lasts {float(dt):g} s")
    if not len(values) or len(values) % columns:
        raise ValueError(f"it ends in the middle of frame {len(values) // columns + 1}")
    return snap_frame_rate(1.0 / float(dt)), values.reshape(-1, columns)


def _numbers(text: str) -> Array:
    """(N,) all numbers of a text, piece by piece: a word takes far more than the number that it becomes."""
    pieces, at = [np.zeros(0)], 0
    while at < len(text):
        end = min(at + _PIECE, len(text))
        while end < len(text) and not text[end].isspace():
            end += 1
        pieces.append(np.array(text[at:end].split(), dtype=float))
        at = end
    return np.concatenate(pieces)


def _make_clip(name: str, joints: list[_Joint], fps: float, rows: Array, scale: float) -> Clip:
    order = sorted(range(len(joints)), key=lambda index: joints[index].depth)
    place = {old: new for new, old in enumerate(order)}
    parents = np.array([place[joints[old].parent] if joints[old].parent >= 0 else -1 for old in order])
    chosen = [joints[old] for old in order]
    offsets = np.array([joint.offset for joint in chosen])
    heads = np.zeros_like(offsets)
    for bone, parent in enumerate(parents):
        heads[bone] = offsets[bone] + (heads[parent] if parent >= 0 else 0.0)
    ends = [head + joint.end for head, joint in zip(heads, chosen, strict=True) if joint.end is not None]
    extent = np.ptp([*heads, *ends], axis=0)
    upright = np.array([1.0, 0.0, 0.0, 0.0]) if extent[2] > _TALL * extent[1] else from_matrix(_Y_UP)
    along = _directions(chosen, parents, offsets, scale)
    rest = _bone_axes(along)
    above = np.where(parents[:, None] >= 0, conjugate(rest[parents]), upright)  # into the frame of the parent
    lengths = replace_impossible_lengths(parents, heads * scale, np.linalg.norm(along, axis=-1))
    names = tuple(joint.name for joint in chosen)
    skeleton = Skeleton(names, parents, rotate(above, offsets) * scale, multiply(above, rest), lengths)
    pos = np.broadcast_to(offsets, (len(rows), *offsets.shape)).copy()
    quat = np.broadcast_to(rest, (len(rows), *rest.shape)).copy()
    for bone, joint in enumerate(chosen):
        if joint.place:
            pos[:, bone] = 0.0
        for column, axis in joint.place:
            pos[:, bone, axis] = rows[:, column]
        turn = np.array([1.0, 0.0, 0.0, 0.0])
        for column, axis in joint.turn:
            turn = multiply(turn, from_rotation_vector(np.radians(rows[:, column, None]) * np.eye(3)[axis]))
        quat[:, bone] = multiply(turn, rest[bone])
    return Clip(skeleton, fps, rotate(above, pos) * scale, multiply(above, quat), name)


def _directions(joints: list[_Joint], parents: NDArray[np.int64], offsets: Array, scale: float) -> Array:
    """(B, 3) metres from each bone's head to its end.

    In single precision, as Blender has it: bones without a length are given one, and which are shorter than that is for
    some a matter of rounding.
    """
    scale = float(np.float32(scale))
    local = (offsets.astype(np.float32) * scale).astype(np.float32)
    heads, ends, along = local.copy(), np.zeros_like(local), np.zeros_like(local)
    for bone, parent in enumerate(parents):
        if parent >= 0:
            heads[bone] += heads[parent]
    for bone, joint in enumerate(joints):
        children = np.flatnonzero(parents == bone)
        if joint.end is not None:
            along[bone] = joint.end.astype(np.float32) * scale
            ends[bone] = heads[bone] + along[bone]
        elif len(children):
            along[bone], ends[bone] = local[children].mean(axis=0), heads[children].mean(axis=0)
        else:
            ends[bone] = heads[bone]
        if np.linalg.norm(along[bone]) <= _SHORTEST * scale:
            along[bone, 1] += scale / 10
            ends[bone, 1] += scale / 10
    lengths = np.linalg.norm(along, axis=-1)
    usual = float(lengths[lengths > 0.0].mean()) if (lengths > 0.0).any() else 0.1
    for bone, parent in enumerate(parents):
        if np.linalg.norm(ends[bone] - heads[bone]) < _SHORTEST:  # in metres this time
            straight = parent >= 0 and lengths[parent] > 0.0
            ends[bone] += along[parent] if straight else np.array([0.0, usual, 0.0])
    return np.asarray(ends - heads, dtype=np.float64)


def _bone_axes(along: Array) -> Array:
    """(B, 4) rotations of bones that point along (B, 3) and have no roll, as Blender defines it."""
    x, y, z = (along / np.linalg.norm(along, axis=-1, keepdims=True)).T
    theta, flat = 1.0 + y, x * x + z * z
    theta = np.where(theta > _SAFE, theta, 0.5 * flat + 0.125 * flat * flat)
    down = (1.0 + y <= _SAFE) & (flat <= _CRITICAL**2)
    theta = np.where(down, 1.0, theta)
    columns = np.array(
        [[1.0 - x * x / theta, -x, -x * z / theta], [x, y, z], [-x * z / theta, -z, 1.0 - z * z / theta]]
    )
    columns[:, :, down] = np.diag([-1.0, -1.0, 1.0])[:, :, None]
    return from_matrix(np.moveaxis(columns, -1, 0).swapaxes(-1, -2))
