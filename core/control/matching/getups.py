# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a library's clips lie on the ground and get up again: no frames to walk over into, but to find when down."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...body import BodyModel
from ...body.poses import link_transforms, pose_of_clip
from ...geometry.quaternions import Array, rotate
from ...motion.library import Library
from ..tracking.library_building import PreparedClip
from .features import find_head

_LIES, _UP = 0.45, 0.9  # of how high the head is when one stands
_HIPS_LOW = 0.5
_STANDS_PERCENTILE = 75.0  # most of a library is done upright


@dataclass(frozen=True)
class GetUpRun:
    """A stretch of a library's frames from lying on; at ``stop`` it is up, and its clip goes on."""

    first: int
    stop: int


@dataclass(frozen=True)
class GetUpMatch:
    """Where a get-up goes on from a lying body. frame: of the library. stop: where it is up.

    yaw: radians by which the library's motion is turned about Z to lie as the body does. place: (2,) metres in the
    world of the frame's root link. apart_m: how far links are from the body's then, root mean square.
    """

    frame: int
    stop: int
    yaw: float
    place: Array
    apart_m: float


def find_lying_clips(body: BodyModel, clips: Sequence[PreparedClip]) -> NDArray[np.bool_]:
    """(K,) clips in which the hips come half as low as they mostly are: who lies is among them. It takes no time."""
    heights = [place_hips(body, clip)[:, 2] for clip in clips]
    low = _HIPS_LOW * float(np.median(np.concatenate(heights)))
    return np.array([height.min() < low for height in heights])


def place_hips(body: BodyModel, clip: PreparedClip) -> Array:
    """(T, 3) metres, of the first link's bone in the world."""
    parents, bone = body.skeleton.parents, body.skeleton.index(body.links[0].bone)
    pos = clip.local_pos[:, bone].astype(float)
    while (bone := int(parents[bone])) >= 0:
        pos = clip.local_pos[:, bone] + rotate(clip.local_quat_wxyz[:, bone].astype(float), pos)
    return np.asarray(pos)


def find_grounded(body: BodyModel, library: Library, world: tuple[Array, Array]) -> NDArray[np.bool_]:
    """(M,) frames that lie, or come from or go to lying without standing between. world: as ``Clip.world`` gives it."""
    height = world[0][:, body.skeleton.index(body.links[find_head(body)].bone), 2]
    stands = float(np.percentile(height, _STANDS_PERCENTILE))
    low, lies = height < _UP * stands, height < _LIES * stands
    found = np.zeros(len(height), dtype=bool)
    for first, stop in _find_runs(low, library):
        found[first:stop] = lies[first:stop].any()
    return found


class GetUpLibrary:
    """The get-ups of a library, by how links lie in each of their frames. grounded: (M,), see ``find_grounded``."""

    def __init__(self, body: BodyModel, library: Library, grounded: NDArray[np.bool_]) -> None:
        self._body = body
        self.runs = tuple(
            GetUpRun(first, stop) for first, stop in _find_runs(grounded, library) if stop not in library.starts
        )
        clip_of, frames, stops, places = library.clip_of_frame(), [], [], []
        for run in self.runs:
            clip = int(clip_of[run.first])
            begin = run.first - int(library.starts[clip])
            pos = link_transforms(body, pose_of_clip(body, library.clip(clip))[0])[0]
            pos = pos[begin : begin + run.stop - run.first]
            head = pos[:, find_head(body), 2]
            lies = np.flatnonzero(head < _LIES * pos[-1, find_head(body), 2] / _UP)  # not beyond: it is too late then
            frames.append(run.first + lies)
            stops.append(np.full(len(lies), run.stop))
            places.append(pos[lies])
        self._frames, self._stops, self._places = (
            np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64) for parts in (frames, stops, places)
        )

    def __bool__(self) -> bool:
        return len(self._frames) > 0

    def match(self, qpos: Array) -> GetUpMatch:
        """The frame in which links lie most as in a pose (nq,), turned and moved over the ground to fit best.

        The features of a path and of feet say nothing of who lies: all links are compared, as they are seen from above
        with the best turn about Z.
        """
        own = link_transforms(self._body, qpos[None])[0][0]
        centre, centres = own[:, :2].mean(axis=0), self._places[..., :2].mean(axis=1)
        here = _to_plane(own[:, :2] - centre)
        there = _to_plane(self._places[..., :2] - centres[:, None])
        shared = (here * there.conj()).sum(axis=-1)
        flat = (np.abs(here) ** 2).sum() + (np.abs(there) ** 2).sum(axis=-1) - 2.0 * np.abs(shared)
        high = ((self._places[..., 2] - own[:, 2]) ** 2).sum(axis=-1)
        best = int((flat + high).argmin())
        yaw = float(np.angle(shared[best]))
        root = np.exp(1j * yaw) * _to_plane(self._places[best, 0, :2] - centres[best])
        place = centre + np.array([root.real, root.imag])
        apart = float(np.sqrt(max(flat[best] + high[best], 0.0) / len(own)))
        return GetUpMatch(int(self._frames[best]), int(self._stops[best]), yaw, place, apart)


def _to_plane(vectors: Array) -> NDArray[np.complex128]:
    """(...) complex numbers of (..., 2)."""
    found: NDArray[np.complex128] = vectors[..., 0] + 1j * vectors[..., 1]
    return found


def _find_runs(chosen: NDArray[np.bool_], library: Library) -> list[tuple[int, int]]:
    """First frames and stops of what is chosen without a break, clip by clip."""
    before = np.concatenate([[False], chosen[:-1]])
    before[library.starts[:-1]] = False
    after = np.concatenate([chosen[1:], [False]])
    after[library.starts[1:] - 1] = False
    firsts, lasts = np.flatnonzero(chosen & ~before), np.flatnonzero(chosen & ~after)
    return list(zip(firsts.tolist(), (lasts + 1).tolist(), strict=True))
