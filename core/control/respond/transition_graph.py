# SPDX-License-Identifier: GPL-3.0-or-later
"""Which frames may follow each other: for every frame the nearest ones, among all, of each style, and of each turn.

A dense table of all pairs would be 10^9 numbers. Neighbours are one of each run of 8 frames, as those beside the
nearest are the same transition a moment later; and some are of every style, so that one can get from any to any other,
and some of frames that turn, to the left and to the right, which are rare and what a change of direction needs.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ...array_cache import ArrayCache, compute_digest, describe_code
from ...geometry.quaternions import Array
from ...motion.library import Library
from ..matching.database import SHORTEST_REST
from .pose_features import Floats

RUN = 8
"""Frames of which one at most is a neighbour."""
NEAR = 16
"""Neighbours among all frames."""
NEAR_OF_STYLE = 2
"""Neighbours among the frames of each style, beyond those."""
MOST_STYLES = 12

_TURN_FRAMES, _TURNS = 30, np.radians(np.array([-70.0, -30.0, 30.0, 70.0]))  # by how much a clip turns in so long
_COMPONENTS = 24  # of the features, by which neighbours are looked for; what they cost is told by all of them
_BLOCK = 256  # frames that are looked at together
_SELF_RUNS = 3  # runs around a frame's own in which there is no transition worth a blend
_THREADS = 2

Frames = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TransitionGraph:
    """targets: (M, N) int32 frames that may be gone over to, -1 for none; costs: (M, N) float32 m², inf for none.

    digest: of what it was made of.
    """

    targets: NDArray[np.int32]
    costs: Floats
    digest: str


def build_graph(library: Library, features: Floats, heading: Array) -> TransitionGraph:
    """The neighbours of every frame; made once and kept by what they are made of. heading: (M,) of the roots."""
    groups = _group_clips(library)
    told = (features, library.starts, library.mirrors, groups, heading, NEAR, NEAR_OF_STYLE)
    digest = compute_digest(describe_code(), *told)
    count = NEAR + NEAR_OF_STYLE * (int(groups.max()) + 1 + len(_TURNS))
    shape = (len(features), count)
    cache, kinds = ArrayCache("responses"), {"targets": np.int32, "costs": np.float32}
    kept = cache.load(digest, {"targets": shape, "costs": shape}, kinds)
    if kept is None:
        search = _RunSearch(library, features, groups, heading)
        targets, costs = _find_neighbours(library, features, search, count)
        kept = {"targets": targets, "costs": costs}
        cache.save(digest, kept)
    return TransitionGraph(kept["targets"], kept["costs"], digest)


def _group_clips(library: Library) -> Frames:
    """(K,) a number for each clip: that of its first given style; those of rare ones share the last."""
    names = [next((tag.name for tag in tags if not tag.is_proposal), "") for tags in library.tags]
    frames = dict.fromkeys(names, 0)
    for name, length in zip(names, np.diff(library.starts), strict=True):
        frames[name] += int(length)
    order = sorted(frames, key=lambda name: (-frames[name], name))
    return np.array([min(order.index(name), MOST_STYLES - 1) for name in names], dtype=np.int64)


def _find_neighbours(
    library: Library, features: Floats, search: "_RunSearch", count: int
) -> tuple[NDArray[np.int32], Floats]:
    """Targets and costs. Mirrored frames have the mirror images of what their originals have."""
    given = np.flatnonzero(~library.mirrored[library.clip_of_frame()])
    blocks = [given[first : first + _BLOCK] for first in range(0, len(given), _BLOCK)]
    targets = np.full((len(features), count), -1, dtype=np.int32)
    costs = np.full((len(features), count), np.inf, dtype=np.float32)
    with ThreadPoolExecutor(_THREADS) as pool:
        for block, found in zip(blocks, pool.map(search.find, blocks), strict=True):
            targets[block] = found
            away = features[block][:, None] - features[np.maximum(found, 0)]
            costs[block] = np.where(found >= 0, np.einsum("bnd,bnd->bn", away, away), np.inf)
    image = mirror_frames(library)
    copies = np.flatnonzero(library.mirrored[library.clip_of_frame()])
    if len(copies):
        own = targets[image[copies]]
        targets[copies] = np.where(own >= 0, image[np.maximum(own, 0)], -1)
        costs[copies] = costs[image[copies]]
    return targets, costs


def mirror_frames(library: Library) -> Frames:
    """(M,) the frame that is a frame's mirror image; the frame itself where it has none."""
    found = np.arange(len(library.motion))
    for clip, original in enumerate(library.mirrors):
        if original >= 0:
            here, there = library.frames_of(clip), library.frames_of(int(original))
            found[here], found[there] = np.arange(there.start, there.stop), np.arange(here.start, here.stop)
    return found


class _RunSearch:
    """Nearest frames by runs: one product for each place in a run, of which the least is kept."""

    def __init__(self, library: Library, features: Floats, groups: Frames, heading: Array) -> None:
        starts = library.starts
        runs = [np.arange(first, stop, RUN) for first, stop in pairwise(starts)]
        self._first = np.concatenate(runs)  # (R,) first frame of each run
        clip = np.repeat(np.arange(len(library)), [len(own) for own in runs])
        self._ends = starts[1:][clip]
        later = np.minimum(self._first + _TURN_FRAMES, self._ends - 1)
        turn = heading[later] - heading[self._first]
        styles = [groups[clip] == group for group in range(int(groups.max()) + 1)]
        turns = [turn / least > 1.0 for least in _TURNS]
        self._groups = [np.flatnonzero(own) for own in (*styles, *turns)]
        self._points = _reduce(features)
        length = 0.5 * np.einsum("md,md->m", self._points, self._points)
        rows, lengths = [], []
        for place in range(RUN):
            frame = np.minimum(self._first + place, len(features) - 1)
            usable = self._first + place + SHORTEST_REST < self._ends
            rows.append(np.ascontiguousarray(self._points[frame].T))
            lengths.append(np.where(usable, length[frame], np.inf).astype(np.float32))
        self._rows, self._lengths = rows, lengths
        self._own_run = np.searchsorted(self._first, np.arange(len(features)), side="right") - 1

    def find(self, block: Frames) -> NDArray[np.int32]:
        """(b, N) neighbours of frames (b,), -1 for none."""
        asked = self._points[block]
        best = np.full((len(block), len(self._first)), np.inf, dtype=np.float32)
        place = np.zeros(best.shape, dtype=np.int8)
        for number, (rows, lengths) in enumerate(zip(self._rows, self._lengths, strict=True)):
            score = lengths - asked @ rows
            nearer = score < best
            np.copyto(best, score, where=nearer)
            place[nearer] = number
        around = self._own_run[block][:, None] + np.arange(-_SELF_RUNS, _SELF_RUNS + 1)
        np.put_along_axis(best, np.clip(around, 0, len(self._first) - 1), np.inf, axis=1)
        chosen = [_least(best, np.arange(best.shape[1]), NEAR)]
        np.put_along_axis(best, chosen[0], np.inf, axis=1)
        for columns in self._groups:
            chosen.append(_least(best, columns if len(columns) else chosen[0][0, :1], NEAR_OF_STYLE))
        runs = np.concatenate(chosen, axis=1)
        frames = self._first[runs] + np.take_along_axis(place, runs, axis=1)
        is_one = np.isfinite(np.take_along_axis(best, runs, axis=1))
        is_one[:, :NEAR] = True  # those were taken out of the search when they were chosen
        fits = frames + SHORTEST_REST < self._ends[runs]
        return np.where(is_one & fits, frames, -1).astype(np.int32)


def _least(scores: Floats, columns: Frames, count: int) -> Frames:
    """(b, count) the columns of the least scores (b, R) among some; the first again where there are fewer."""
    own = scores[:, columns] if len(columns) < scores.shape[1] else scores
    if own.shape[1] <= count:
        found = np.argsort(own, axis=1, kind="stable")
        found = np.concatenate([found, np.repeat(found[:, -1:], count - own.shape[1], axis=1)], axis=1)
    else:
        found = np.argpartition(own, count - 1, axis=1)[:, :count]
    return columns[found]


def _reduce(features: Floats) -> Floats:
    """(M, 24) float32: the features along the directions in which they differ most, which keeps most of distances."""
    if features.shape[1] <= _COMPONENTS:
        return features
    centred = features - features.mean(axis=0)
    _, axes = np.linalg.eigh((centred.T @ centred).astype(np.float64))
    return np.ascontiguousarray(centred @ axes[:, -_COMPONENTS:].astype(np.float32))
