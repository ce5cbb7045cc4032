# SPDX-License-Identifier: GPL-3.0-or-later
"""The tree of bones at rest, measured: what roles, plans and solids are all read from."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..geometry.quaternions import Array, rotate
from ..motion import Skeleton

UP: Array = np.array([0.0, 0.0, 1.0])
UP.setflags(write=False)


@dataclass(frozen=True, eq=False)
class SkeletonTree:
    """A skeleton at rest in the world.

    heads: (B, 3) metres, quats: (B, 4). Lengths of bones are not to be trusted: importers guess them for the ends
    of chains, and some files have them a hundred times too long; see ``tail``.
    """

    skeleton: Skeleton
    heads: Array
    quats: Array

    @classmethod
    def of(cls, skeleton: Skeleton) -> "SkeletonTree":
        """The skeleton as it rests."""
        return cls(skeleton, *skeleton.rest_world())

    def __len__(self) -> int:
        return len(self.skeleton)

    @property
    def parents(self) -> NDArray[np.int64]:
        """(B,) each bone's parent, -1 for a root."""
        return self.skeleton.parents

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The children of every bone."""
        return tuple(tuple(self.skeleton.children(bone)) for bone in range(len(self)))

    @cached_property
    def size(self) -> float:
        """Metres: the diagonal of the box around all heads but far-off controls (the outer hundredth)."""
        low, high = np.quantile(self.heads, [0.01, 0.99], axis=0)
        return max(float(np.linalg.norm(high - low)), 1e-9)

    def ancestors(self, bone: int) -> list[int]:
        """The bone itself, its parent, and so on up to its root."""
        found = [bone]
        while self.parents[found[-1]] >= 0:
            found.append(int(self.parents[found[-1]]))
        return found

    def under(self, bone: int, top: int) -> bool:
        """Whether ``bone`` is ``top`` or hangs below it."""
        return top in self.ancestors(bone)

    def subtree(self, bone: int) -> list[int]:
        """The bone and all that hangs below it, parents first."""
        found = [bone]
        for each in found:
            found.extend(self.children[each])
        return found

    def common_ancestor(self, bones: list[int]) -> int:
        """The lowest bone that all of them are or hang below, -1 where there is none."""
        shared = set(self.ancestors(bones[0])).intersection(*(self.ancestors(bone) for bone in bones[1:]))
        return next((bone for bone in self.ancestors(bones[0]) if bone in shared), -1)

    def distance(self, a: int, b: int) -> float:
        """Metres between two heads."""
        return float(np.linalg.norm(self.heads[a] - self.heads[b]))

    def tail(self, bone: int) -> Array | None:
        """(3,) where a bone without children ends, or None where its length is plainly an importer's guess.

        A guess is the parent's own length again, or something out of all proportion to the way from the parent.
        """
        length, parent = float(self.skeleton.lengths[bone]), int(self.parents[bone])
        if parent >= 0:
            span = self.distance(bone, parent)
            copied = abs(length - float(self.skeleton.lengths[parent])) < 1e-4 * length
            if copied or not 0.1 * span <= length <= 2.0 * max(span, 0.02 * self.size):
                return None
        if not 0.005 * self.size < length < 0.5 * self.size:
            return None
        return self.heads[bone] + rotate(self.quats[bone], np.array([0.0, length, 0.0]))

    @cached_property
    def _reaches(self) -> Array:
        reaches = np.zeros(len(self))
        for bone in range(len(self) - 1, -1, -1):
            parent = int(self.parents[bone])
            if parent >= 0:
                reaches[parent] = max(reaches[parent], reaches[bone] + self.distance(bone, parent))
        return reaches

    def reach(self, bone: int) -> float:
        """Metres of the longest way down from the bone's head, ends of chains not counted."""
        return float(self._reaches[bone])

    def main_chain(self, bone: int) -> list[int]:
        """From the bone down, always by the child with the longest way still before it."""
        chain = [bone]
        while kids := self.children[chain[-1]]:
            here = chain[-1]
            chain.append(max(kids, key=lambda kid: (self.reach(kid) + self.distance(kid, here), -kid)))
        return chain


def normalize_vectors(vector: Array) -> Array:
    """(..., 3) scaled to length one; a vector without length stays as it is."""
    return vector / np.maximum(np.linalg.norm(vector, axis=-1, keepdims=True), 1e-12)


def flatten_direction(vector: Array) -> Array:
    """(3,) the vector without its vertical part, of length one."""
    return normalize_vectors(vector - np.dot(vector, UP) * UP)
