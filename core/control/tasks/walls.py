# SPDX-License-Identifier: GPL-3.0-or-later
"""Walls as seen from above: what rays along the ground hit. Cheaper than an engine's rays, and the same for all."""

import numpy as np

from ...geometry.quaternions import Array
from ...sim.stage import Stage

LOWEST_M = 0.5
"""What is lower is no wall."""
_MOST = 48  # edges that one character looks at


class Walls:
    """The upright sides of obstacles: edges (E, 2, 2), metres."""

    def __init__(self, stage: Stage) -> None:
        found = [np.zeros((0, 2, 2))]
        for obstacle in stage.obstacles:
            for piece in obstacle.pieces:
                if piece[:, 2].max() >= LOWEST_M:
                    corners = outline(piece[:, :2])
                    found.append(np.stack([corners, np.roll(corners, -1, axis=0)], axis=1))
        self.edges = np.concatenate(found)

    @property
    def extent(self) -> Array:
        """(2, 2) least and most metres of all of them."""
        corners = self.edges.reshape(-1, 2)
        return np.stack([corners.min(axis=0), corners.max(axis=0)])

    def cast(self, origin: Array, directions: Array, length: float) -> Array:
        """(N, R) metres from (N, 2) along unit vectors (N, R, 2) to the first wall, ``length`` where there is none."""
        if not len(self.edges):
            return np.full(directions.shape[:2], length)
        near = self._nearest(origin)
        begin, along = near[:, :, 0] - origin[:, None], near[:, :, 1] - near[:, :, 0]
        cross = _cross(directions[:, :, None], along[:, None])
        with np.errstate(divide="ignore", invalid="ignore"):
            far = _cross(begin, along)[:, None] / cross
            where = _cross(begin[:, None], directions[:, :, None]) / cross
        hits = (far >= 0.0) & (where >= 0.0) & (where <= 1.0)
        return np.asarray(np.where(hits, np.minimum(far, length), length).min(axis=2))

    def _nearest(self, origin: Array) -> Array:
        """(N, K, 2, 2) the edges that are nearest to (N, 2)."""
        if len(self.edges) <= _MOST:
            return np.broadcast_to(self.edges, (len(origin), *self.edges.shape))
        begin, along = self.edges[:, 0], self.edges[:, 1] - self.edges[:, 0]
        apart = origin[:, None] - begin
        share = (apart * along).sum(-1) / np.maximum((along**2).sum(-1), 1e-12)
        apart -= np.clip(share, 0.0, 1.0)[..., None] * along
        chosen = np.argpartition((apart**2).sum(-1), _MOST, axis=1)[:, :_MOST]
        return self.edges[chosen]


def outline(points: Array) -> Array:
    """(K, 2) the corners of the hull of points (V, 2), one after the other."""
    ordered = sorted({(float(x), float(y)) for x, y in points})
    if len(ordered) < 3:
        return np.array(ordered)

    def chain(corners: list[tuple[float, float]]) -> list[tuple[float, float]]:
        kept: list[tuple[float, float]] = []
        for point in corners:
            while len(kept) > 1 and _turn(kept[-2], kept[-1], point) <= 0.0:
                kept.pop()
            kept.append(point)
        return kept[:-1]

    return np.array(chain(ordered) + chain(ordered[::-1]))


def _turn(first: tuple[float, float], second: tuple[float, float], third: tuple[float, float]) -> float:
    return (second[0] - first[0]) * (third[1] - first[1]) - (second[1] - first[1]) * (third[0] - first[0])


def _cross(first: Array, second: Array) -> Array:
    return np.asarray(first[..., 0] * second[..., 1] - first[..., 1] * second[..., 0])
