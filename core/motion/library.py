# SPDX-License-Identifier: GPL-3.0-or-later
"""Many clips on one skeleton as flat arrays with ranges: what a method takes that learns from all of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import BadMotion
from .clip import Clip
from .io.npz import clip_from_arrays, clip_to_arrays
from .skeleton import freeze_array

LIBRARY = "library"
"""What a job calls its attachment with a library."""


@dataclass(frozen=True, eq=False)
class Library:
    """Clips one after the other, at one frame rate.

    motion: all their frames as one clip. names: of each clip. starts: (K + 1,) first frame of each, then their number.
    """

    motion: Clip
    names: tuple[str, ...]
    starts: np.ndarray

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[Clip]:
        return (self.clip(index) for index in range(len(self)))

    def clip(self, index: int) -> Clip:
        """One of the clips."""
        frames, motion = slice(int(self.starts[index]), int(self.starts[index + 1])), self.motion
        pos, quat = motion.local_pos[frames], motion.local_quat_wxyz[frames]
        return Clip(motion.skeleton, motion.fps, pos, quat, self.names[index])

    def to_arrays(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """(arrays, meta) as a job attaches it."""
        arrays, meta = clip_to_arrays(self.motion)
        return {**arrays, "starts": self.starts}, {**meta, "clips": list(self.names)}


def make_library(clips: Sequence[Clip]) -> Library:
    """A library of clips that share one skeleton and one frame rate; others are refused by name."""
    if not clips:
        raise BadMotion("There are no clips for a library", "Choose at least one Action")
    first = clips[0]
    for clip in clips:
        if clip.skeleton.names != first.skeleton.names:
            raise BadMotion(f"'{clip.name}' has other bones than '{first.name}'", "Choose Actions of one armature")
        if clip.fps != first.fps:
            raise BadMotion(
                f"'{clip.name}' has {clip.fps:g} frames a second and '{first.name}' {first.fps:g}",
                "Bring them to one frame rate",
            )
    pos = np.concatenate([clip.local_pos for clip in clips])
    quat = np.concatenate([clip.local_quat_wxyz for clip in clips])
    starts = freeze_array(np.cumsum([0, *(len(clip) for clip in clips)]))
    motion = Clip(first.skeleton, first.fps, pos, quat, LIBRARY)
    return Library(motion, tuple(clip.name for clip in clips), starts)


def library_from_arrays(arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> Library:
    """The inverse of ``to_arrays``; what is no library is refused."""
    motion = clip_from_arrays({name: array for name, array in arrays.items() if name != "starts"}, dict(meta))
    names, starts = meta.get("clips"), np.asarray(arrays.get("starts", ()), dtype=np.int64)
    if not isinstance(names, list) or not names or starts.shape != (len(names) + 1,):
        raise BadMotion("The library does not say where its clips are", "Make the library again")
    if starts[0] != 0 or starts[-1] != len(motion) or (np.diff(starts) < 1).any():
        raise BadMotion("The library's clips do not fill its frames", "Make the library again")
    return Library(motion, tuple(str(name) for name in names), freeze_array(starts))
