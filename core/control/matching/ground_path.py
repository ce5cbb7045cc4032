# SPDX-License-Identifier: GPL-3.0-or-later
"""A path on the ground, by the way along it."""

from dataclasses import dataclass

import numpy as np

from ...errors import BadSettings
from ...geometry.quaternions import Array

_STEP_M = 0.02
_SHORTEST_M = 0.1
_NEAR_M = 1e-6
_BLEND_M = 0.15  # over which directions change at a corner, on either side
_CUSP = np.cos(np.radians(150.0))  # a corner that turns by more than this turns back


@dataclass(frozen=True, eq=False)
class GroundPath:
    """Points every 2 cm. points: (K, 2) metres, ahead: (K, 2) directions of length one. closed: ends where it begins.

    cusps: metres along it at which it turns back on itself.
    """

    points: Array
    ahead: Array
    closed: bool
    cusps: tuple[float, ...] = ()

    @property
    def length_m(self) -> float:
        """From its beginning to its end."""
        return (len(self.points) - 1) * _STEP_M

    def index_at(self, along_m: Array) -> Array:
        """Places in the arrays at metres along it; round and round where it is closed, else held at its ends."""
        index = np.rint(np.asarray(along_m) / _STEP_M).astype(np.int64)
        last = len(self.points) - 1
        return np.mod(index, last) if self.closed else np.clip(index, 0, last)

    def progress(self, pos: Array, along_m: float, most_m: float) -> float:
        """Metres along it that are nearest to a place (2,), from ``along_m`` on and no further than by ``most_m``.

        It never goes back, and it does not take a short cut where the path comes near itself.
        """
        steps = np.arange(int(most_m / _STEP_M) + 1)
        index = self.index_at(along_m + steps * _STEP_M)
        away = self.points[index] - pos
        return along_m + float(np.argmin(np.einsum("kd,kd->k", away, away))) * _STEP_M


def make_path(points: Array, closed: bool = False) -> GroundPath:
    """A path through points (P, 2) in metres; one of no length is refused."""
    points = np.asarray(points, dtype=float).reshape(-1, np.shape(points)[-1])[:, :2]
    if not np.isfinite(points).all():
        raise BadSettings("A point of the path is not a number", "Give points such as 0,0 3,0 3,3")
    if closed and len(points) > 2 and np.linalg.norm(points[0] - points[-1]) > _NEAR_M:
        points = np.concatenate([points, points[:1]])
    apart = np.linalg.norm(np.diff(points, axis=0), axis=-1)
    points = points[np.concatenate([[True], apart > _NEAR_M])]
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=-1))])
    if along[-1] < _SHORTEST_M:
        raise BadSettings(
            f"The path is only {along[-1]:.2f} m long", f"Give it points that are at least {_SHORTEST_M:g} m apart"
        )
    places = np.arange(round(along[-1] / _STEP_M) + 1) * (along[-1] / round(along[-1] / _STEP_M))
    dense = np.stack([np.interp(places, along, column) for column in points.T], axis=-1)
    return GroundPath(dense, _directions(dense, closed), closed, _find_cusps(points, along))


def _directions(points: Array, closed: bool) -> Array:
    reach = max(int(_BLEND_M / _STEP_M), 1)
    index = np.arange(len(points))
    if closed:
        last = len(points) - 1
        way = points[(index + reach) % last] - points[(index - reach) % last]
    else:
        way = points[np.minimum(index + reach, len(points) - 1)] - points[np.maximum(index - reach, 0)]
    length = np.linalg.norm(way, axis=-1, keepdims=True)
    # Right on a cusp there is no direction: it keeps the one before.
    for k in np.flatnonzero(length[:, 0] < 1e-9):
        way[k], length[k] = way[k - 1], length[k - 1]
    return way / np.maximum(length, 1e-9)


def _find_cusps(points: Array, along: Array) -> tuple[float, ...]:
    way = np.diff(points, axis=0)
    way /= np.linalg.norm(way, axis=-1, keepdims=True)
    back = np.einsum("kd,kd->k", way[:-1], way[1:]) < _CUSP
    return tuple(float(place) for place in along[1:-1][back])
