# SPDX-License-Identifier: GPL-3.0-or-later
"""The bones of a character at rest."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadMotion
from ..geometry.quaternions import Array, multiply, normalize, rotate
from ..limits import LARGEST_M, MOST_BONES
from ..texts import is_encodable

_MANY = 30_000  # numbers from which on it is quicker to go bone by bone


@dataclass(frozen=True, eq=False)
class Skeleton:
    """Bones in an order where every parent comes before its children.

    names: B bone names, all different.
    parents: (B,) index of the parent, -1 for a root. There may be several roots.
    rest_pos: (B, 3) metres, the bone's head in its parent's rest frame (a root's: in the world).
    rest_quat_wxyz: (B, 4) the bone's rest rotation in its parent's rest frame (a root's: in the world, Z up).
    lengths: (B,) metres. A bone runs from its head along its own +Y axis, as in Blender.
    """

    names: tuple[str, ...]
    parents: NDArray[np.int64]
    rest_pos: Array
    rest_quat_wxyz: Array
    lengths: Array

    def __post_init__(self) -> None:
        count = len(self.names)
        object.__setattr__(self, "names", tuple(self.names))
        if count > MOST_BONES:
            raise BadMotion(f"The skeleton has {count} bones, and {MOST_BONES} is the most", "Choose another armature")
        object.__setattr__(self, "parents", self._own("parents", (count,), np.int64))
        object.__setattr__(self, "rest_pos", self._own("rest_pos", (count, 3)))
        quats = self._own("rest_quat_wxyz", (count, 4))
        object.__setattr__(self, "rest_quat_wxyz", freeze_array(normalize(quats)))
        object.__setattr__(self, "lengths", self._own("lengths", (count,)))
        if count == 0:
            raise BadMotion("The skeleton has no bones")
        for name in self.names:
            if not is_encodable(name):
                raise BadMotion(f"A bone is called '{name}', which is no text", "Rename it with plain letters")
        if len(set(self.names)) != count:
            twice = Counter(self.names).most_common(1)[0][0]
            raise BadMotion(f"Two bones are called '{twice}'", "Rename one of them")
        for bone, parent in enumerate(self.parents):
            if not -1 <= parent < bone:
                raise BadMotion(f"Bone '{self.names[bone]}' comes before its parent", "Put parents first")

    def _own(self, name: str, shape: tuple[int, ...], dtype: type = np.float64) -> NDArray[Any]:
        """A frozen copy of the array called ``name``, if it is sound."""
        array: NDArray[Any] = np.array(getattr(self, name), dtype=dtype)
        if array.shape != shape:
            raise BadMotion(f"Skeleton {name} has shape {array.shape}, not {shape}")
        for bone, values in zip(self.names, array, strict=True):
            if not np.isfinite(values).all():
                raise BadMotion(f"Skeleton {name} of bone '{bone}' is not a number", "Repair its rest pose")
            if np.abs(values).max(initial=0.0) > LARGEST_M:
                much = f"{np.abs(values).max():g}"
                raise BadMotion(f"Skeleton {name} of bone '{bone}' is {much}", "Repair its rest pose")
        return freeze_array(array)

    def __len__(self) -> int:
        return len(self.names)

    def index(self, name: str) -> int:
        """The bone's place in the arrays."""
        try:
            return self.names.index(name)
        except ValueError:
            raise BadMotion(f"There is no bone '{name}'", f"The bones are: {', '.join(self.names)}") from None

    def children(self, bone: int) -> list[int]:
        """Indices of the bones whose parent is ``bone``."""
        return [int(child) for child in np.flatnonzero(self.parents == bone)]

    def rest_world(self) -> tuple[Array, Array]:
        """Rest pose in the world: heads (B, 3) and rotations (B, 4)."""
        return to_world(self.parents, self.rest_pos, self.rest_quat_wxyz)

    def same_bones(self, other: "Skeleton") -> bool:
        """Whether names and hierarchy agree, which is what lets motions be exchanged."""
        return self.names == other.names and bool(np.array_equal(self.parents, other.parents))


def to_world(parents: Sequence[int] | NDArray[np.int64], local_pos: Array, local_quat: Array) -> tuple[Array, Array]:
    """Forward kinematics: local (..., B, 3) and (..., B, 4) to world arrays of the same shapes."""
    pos, quat = np.array(local_pos, dtype=float), np.array(local_quat, dtype=float)
    if pos.size > _MANY:
        for bone, parent in enumerate(parents):
            if parent >= 0:
                pos[..., bone, :] = pos[..., parent, :] + rotate(quat[..., parent, :], local_pos[..., bone, :])
                quat[..., bone, :] = multiply(quat[..., parent, :], local_quat[..., bone, :])
        return pos, quat
    # The same numbers in fewer calls, which is what a short clip costs.
    for bones, above in _generations(np.asarray(parents, dtype=np.int64).tobytes()):
        pos[..., bones, :] = pos[..., above, :] + rotate(quat[..., above, :], local_pos[..., bones, :])
        quat[..., bones, :] = multiply(quat[..., above, :], local_quat[..., bones, :])
    return pos, quat


@lru_cache(maxsize=64)
def _generations(parents: bytes) -> tuple[tuple[NDArray[np.int64], NDArray[np.int64]], ...]:
    """Bones that are as many steps from a root, with their parents, roots' children first: each is one product."""
    above = np.frombuffer(parents, dtype=np.int64)
    depth = np.zeros(len(above), dtype=np.int64)
    for bone, parent in enumerate(above):
        depth[bone] = depth[parent] + 1 if parent >= 0 else 0
    rows = (np.flatnonzero(depth == step) for step in range(1, int(depth.max(initial=0)) + 1))
    return tuple((bones, above[bones]) for bones in rows)


def to_local(parents: Sequence[int] | NDArray[np.int64], pos: Array, quat: Array) -> tuple[Array, Array]:
    """The inverse of ``to_world``: world arrays (..., B, 3) and (..., B, 4) to local ones."""
    parents = np.asarray(parents)
    local_pos, local_quat = np.array(pos, dtype=float), np.array(quat, dtype=float)
    child = np.flatnonzero(parents >= 0)
    inverse = quat[..., parents[child], :] * np.array([1.0, -1.0, -1.0, -1.0])
    local_pos[..., child, :] = rotate(inverse, pos[..., child, :] - pos[..., parents[child], :])
    local_quat[..., child, :] = multiply(inverse, quat[..., child, :])
    return local_pos, local_quat


def freeze_array(array: NDArray[Any]) -> NDArray[Any]:
    """The array, made read-only because it is shared."""
    array.setflags(write=False)
    return array
