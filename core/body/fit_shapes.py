# SPDX-License-Identifier: GPL-3.0-or-later
"""Capsules and boxes laid over clouds of vertices by CMA-ES (DReCon, section 4.2)."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..geometry.quaternions import Array, from_matrix, from_rotation_vector, multiply, to_matrix
from .model import Shape

_MOST_POINTS = 400  # of a cloud, for the search; the error that is reported is over all of them
_SMALLEST_M = 0.004
_WITHIN = 0.1  # what a point that should be held counts, if all vertices together count 1
_TURN_RAD = 0.8  # how far a box may be turned from its cloud's axes, about
# A limb's mesh is open where the next one begins, and a box may have vertices at its corners alone, so the length is
# not determined by the vertices: of two shapes that fit about as well, the shorter is taken. This much squared error
# (m²) is a whole cloud's length worth.
_LENGTH_PRICE_M2 = 0.003**2


@dataclass(frozen=True)
class FittedShape:
    """A shape and how far it is from the vertices that it stands for: root mean square, metres."""

    shape: Shape
    rms_m: float


def fit_capsule(points: Array, weights: Array | None = None, within: Array | None = None) -> FittedShape:
    """The capsule whose surface is nearest to ``points`` (V, 3), in their frame; weights: (V,) how much each counts.

    within: (K, 3) points that it should hold, such as those on the bone. Vertices alone do not say how far a tube that
    is open at both ends goes on, nor on which side of half a tube its axis is.
    """
    cloud = _Cloud.of(points, weights, within)
    centre, axes, spread = _principal(points, cloud.all_weights)
    radius = max(float(np.sqrt(spread[1] + spread[2])), _SMALLEST_M)
    reach = max(float(np.sqrt(3.0 * spread[0])) - radius, 0.25 * radius)
    start = np.concatenate([centre - reach * axes[:, 0], centre + reach * axes[:, 0], [radius]])

    def distances(candidates: Array, cloud: Array) -> Array:
        return _capsule_distance(candidates[:, :3], candidates[:, 3:6], np.abs(candidates[:, 6]), cloud)

    def length(candidates: Array) -> Array:
        return np.linalg.norm(candidates[:, 3:6] - candidates[:, :3], axis=-1) + 2.0 * np.abs(candidates[:, 6])

    best = _search(distances, length, start, np.full(7, max(radius, 0.01)), cloud)
    a, b, radius = best[:3], best[3:6], max(abs(float(best[6])), _SMALLEST_M)
    shape = capsule_between(a, b, radius)
    return FittedShape(shape, _rms(_capsule_distance(a, b, np.array(radius), points)))


def fit_box(points: Array, weights: Array | None = None, level: Array | None = None) -> FittedShape:
    """The box whose surface is nearest to ``points`` (V, 3), in their frame; weights: (V,) how much each counts.

    level: (3,) unit, a direction that must stay one of the box's own axes (the ground's normal, for a sole).
    """
    cloud = _Cloud.of(points, weights)
    centre, axes, _ = _principal(points, cloud.all_weights)
    if level is not None:
        flat = axes[:, int(np.argmin(np.abs(level @ axes)))]
        side = np.cross(level, flat - level * (flat @ level))
        side /= np.linalg.norm(side)
        axes = np.stack([np.cross(side, level), side, level], axis=1)
    if np.linalg.det(axes) < 0:
        axes = axes * np.array([1.0, 1.0, -1.0])
    local = (points - centre) @ axes
    low, high = np.percentile(local, [3, 97], axis=0)
    base = from_matrix(axes)
    middle = centre + axes @ ((low + high) / 2)
    half = np.maximum((high - low) / 2, _SMALLEST_M)
    free = 3 if level is None else 1
    start = np.concatenate([middle, half, np.zeros(free)])

    def turned(candidates: Array) -> Array:
        turn = candidates[..., 6:]
        if level is not None:
            turn = turn * np.array([0.0, 0.0, 1.0])  # about the box's own third axis, which is the level
        return multiply(base, from_rotation_vector(turn))

    def distances(candidates: Array, cloud: Array) -> Array:
        return _box_distance(candidates[:, :3], np.abs(candidates[:, 3:6]), turned(candidates), cloud)

    def length(candidates: Array) -> Array:
        return 2.0 * np.abs(candidates[:, 3:6]).sum(-1)

    steps = np.concatenate([np.full(6, float(half.mean())), np.full(free, _TURN_RAD)])
    best = _search(distances, length, start, steps, cloud)
    half = np.maximum(np.abs(best[3:6]), _SMALLEST_M)
    quat = turned(best)
    return FittedShape(Shape("box", half, best[:3], quat), _rms(_box_distance(best[:3], half, quat, points)))


def capsule_between(a: Array, b: Array, radius: float) -> Shape:
    """The capsule around the line from ``a`` to ``b`` (3,)."""
    along = b - a
    length = float(np.linalg.norm(along))
    z = along / length if length > 1e-9 else np.array([0.0, 0.0, 1.0])
    x = np.cross(z, np.eye(3)[int(np.argmin(np.abs(z)))])
    x /= np.linalg.norm(x)
    quat = from_matrix(np.stack([x, np.cross(z, x), z], axis=1))
    return Shape("capsule", np.array([radius, length / 2, 0.0]), (a + b) / 2, quat)


def _capsule_distance(a: Array, b: Array, radius: Array, points: Array) -> Array:
    """(..., V) signed metres from points (V, 3) to the surface of capsules from ``a`` to ``b`` (..., 3)."""
    along = (b - a)[..., None, :]
    away = points - a[..., None, :]
    share = np.sum(away * along, -1) / np.maximum(np.sum(along * along, -1), 1e-12)
    away = away - np.clip(share, 0.0, 1.0)[..., None] * along
    return np.asarray(np.sqrt(np.sum(away * away, -1)) - radius[..., None])


def _box_distance(centre: Array, half: Array, quat: Array, points: Array) -> Array:
    """(..., V) signed metres from points (V, 3) to the surface of boxes: centre, half (..., 3), quat (..., 4)."""
    excess = np.abs((points - centre[..., None, :]) @ to_matrix(quat)) - half[..., None, :]
    beyond = np.maximum(excess, 0.0)
    return np.asarray(np.sqrt(np.sum(beyond * beyond, -1)) + np.minimum(excess.max(-1), 0.0))


def shape_distance(shape: Shape, points: Array) -> Array:
    """(V,) signed metres from points (V, 3), in the shape's link frame, to its surface; negative inside."""
    if shape.kind == "box":
        return _box_distance(shape.pos, shape.size, shape.quat_wxyz, points)
    half = to_matrix(shape.quat_wxyz)[:, 2] * (shape.size[1] if shape.kind == "capsule" else 0.0)
    return _capsule_distance(shape.pos - half, shape.pos + half, np.array(shape.size[0]), points)


@dataclass(frozen=True)
class _Cloud:
    """Points (N, 3) to search with and how much each counts (N,), sum 1; ``all_weights`` (V,) for all there were."""

    points: Array
    weights: Array
    all_weights: Array
    within: Array

    @classmethod
    def of(cls, points: Array, weights: Array | None, within: Array | None = None) -> "_Cloud":
        held = np.zeros((0, 3)) if within is None else within
        whole = np.ones(len(points)) if weights is None or not np.any(weights) else np.asarray(weights, dtype=float)
        whole = whole / whole.sum()
        if len(points) <= _MOST_POINTS:
            return cls(points, whole, whole, held)
        chosen = np.sort(np.random.default_rng(0).choice(len(points), _MOST_POINTS, replace=False))
        part = whole[chosen] if whole[chosen].any() else np.ones(len(chosen))
        return cls(points[chosen], part / part.sum(), whole, held)


def _search(
    distances: Callable[[Array, Array], Array],
    length: Callable[[Array], Array],
    start: Array,
    steps: Array,
    cloud: _Cloud,
) -> Array:
    """The candidate with the least mean square distance, by CMA-ES from ``start``; the same every time.

    steps: the size of each of the candidate's numbers; the search begins with a quarter of that.
    """
    extent = float(np.linalg.norm(np.ptp(cloud.points, axis=0)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns that its plots need another library
        import cma

    # Numbers of its own, so that neither the search nor anyone else depends on NumPy's global ones.
    rng = np.random.default_rng(1)
    options: dict[str, Any] = {"verbose": -9, "maxiter": 160, "tolfun": 1e-9, "tolx": 1e-5, "popsize": 12}
    options["randn"] = lambda *shape: rng.standard_normal(shape)
    search = cma.CMAEvolutionStrategy(np.zeros(len(start)), 0.25, options)
    while not search.stop():
        asked = search.ask()
        candidates = start + np.array(asked) * steps
        error = distances(candidates, cloud.points) ** 2 @ cloud.weights
        if len(cloud.within):
            error += _WITHIN * np.mean(np.maximum(distances(candidates, cloud.within), 0.0) ** 2, axis=-1)
        search.tell(asked, (error + _LENGTH_PRICE_M2 * length(candidates) / extent).tolist())
    return np.asarray(start + search.result.xbest * steps)


def _principal(points: Array, weights: Array) -> tuple[Array, Array, Array]:
    """Centre (3,), axes in columns (3, 3) from the longest on, and their variances (3,)."""
    centre = weights @ points
    away = points - centre
    values, vectors = np.linalg.eigh((away * weights[:, None]).T @ away)
    return centre, vectors[:, ::-1], np.maximum(values[::-1], 1e-10)


def _rms(distance: Array) -> float:
    return float(np.sqrt(np.mean(distance**2)))
