# SPDX-License-Identifier: GPL-3.0-or-later
"""Volumes of convex hulls of a few points each, for many sets of points at once."""

from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from .quaternions import Array

MOST_POINTS = 12
"""Of a set. All triples of points are looked at: with many more, a library that builds one hull at a time is faster."""

_NUDGE = 1e-6  # of the size: four points in one plane would be two faces or none, so no four are left in one


def hull_volumes(points: Array) -> Array:
    """(...) cubic metres of the convex hulls of points (..., P, 3) with P from 4 to ``MOST_POINTS``.

    A triangle is a face where all other points are on one side of it, and the hull is the cones from its middle to its
    faces. Nobody waits for a hull to be built: 512 hulls of 7 points take a few milliseconds. NaN for points that are
    none.
    """
    count = points.shape[-2]
    if not 4 <= count <= MOST_POINTS:
        raise ValueError(f"a hull is made of 4 to {MOST_POINTS} points here, not {count}")
    triples, nudges = _tables(count)
    centred = points - points.mean(axis=-2, keepdims=True)
    size = np.abs(centred).max(axis=(-1, -2), keepdims=True)
    centred = centred + _NUDGE * size * nudges
    first = centred[..., triples[:, 0], :]
    normals = np.cross(centred[..., triples[:, 1], :] - first, centred[..., triples[:, 2], :] - first)
    heights = np.sum(normals * first, axis=-1)  # of each plane above the middle, times twice the triangle's area
    above = normals @ np.swapaxes(centred, -1, -2) - heights[..., None]
    above[..., np.arange(len(triples))[:, None], triples] = 0.0  # a triangle's own corners say nothing
    faces = (above <= 0.0).all(axis=-1) | (above >= 0.0).all(axis=-1)
    volumes = np.sum(np.where(faces, np.abs(heights), 0.0), axis=-1) / 6.0
    return np.asarray(np.where(np.isfinite(size[..., 0, 0]), volumes, np.nan))


@lru_cache(maxsize=16)
def _tables(count: int) -> tuple[NDArray[np.int64], Array]:
    """All triples (C, 3) of so many points, and a nudge (P, 3) of length about one for each, always the same."""
    triples = np.array(list(combinations(range(count), 3)), dtype=np.int64)
    return triples, np.random.default_rng(count).uniform(-1.0, 1.0, (count, 3))
