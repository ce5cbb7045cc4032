# SPDX-License-Identifier: GPL-3.0-or-later
"""The same dynamic programme with heading in bins: the least cost to have turned by an angle in exactly so long.

It is exact up to the bins, and so the ceiling of what any policy can do that plays frames of the library. What is left
of the angle in the end costs as equation 6 has it, for the way is bent by that much.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...array_cache import ArrayCache, compute_digest, describe_code
from .planning import PlanningData
from .response_tables import STEP, TRANSITION_M2
from .transition_graph import Frames

BINS = 36
"""Of a whole turn."""
LEFT_M2 = 0.1
"""What a squared radian costs that is not turned and has to be bent, in m² of transitions (equation 6)."""

_BIN = 2.0 * np.pi / BINS
_ROWS = 8192  # frames that are computed together, so that they stay in the cache
_THREADS = 2
_KEEPS_FRAMES, _KEEPS = 30, np.radians(20.0)  # for how long a clip goes on, and by how much it may turn meanwhile
_ASIDE = np.arange(-3, 4)  # bins beside the right one that will do as well
_ASIDE_WEIGHT = (
    0.3  # what a squared radian beside costs: roundings of steps add up, and an exact bin may be out of reach
)


@dataclass(frozen=True, eq=False)
class DirectionTable:
    """cost: (K + 1, M, 36) float16 m² to turn by so many bins to the left in so many steps, with what is left then."""

    cost: NDArray[np.float16]


def find_steady_frames(planner: PlanningData, flags: NDArray[np.bool_]) -> Frames:
    """Of the frames that are flagged (M,) those after which the clip goes on about as it heads."""
    frame = np.arange(len(flags))
    later = frame + _KEEPS_FRAMES
    fits = later <= planner.ends
    turn = np.abs(planner.roots.heading[np.minimum(later, planner.ends)] - planner.roots.heading[frame])
    return np.flatnonzero(flags & fits & (turn < _KEEPS))


def build_direction_table(planner: PlanningData, goals: Frames, steps: int) -> DirectionTable:
    """The table for frames (G,) to end in, of so many steps; made once and kept."""
    digest = compute_digest(describe_code(), planner.graph.digest, goals, steps, planner.most_m2, BINS, LEFT_M2)
    cache, shape = ArrayCache("responses"), (steps + 1, len(planner.ends), BINS)
    kept = cache.load(digest, {"cost": shape}, {"cost": np.float16})
    if kept is None:
        kept = {"cost": _fill(planner, goals, steps)}
        cache.save(digest, kept)
    return DirectionTable(kept["cost"])


def _fill(planner: PlanningData, goals: Frames, steps: int) -> NDArray[np.float16]:
    count, roots = len(planner.ends), planner.roots
    cost = np.full((steps + 1, count, BINS), np.inf, dtype=np.float16)
    cost[0, goals] = LEFT_M2 * _BIN**2 * np.minimum(np.arange(BINS), BINS - np.arange(BINS)) ** 2
    frame = np.arange(count)
    later = np.minimum(frame + STEP, planner.ends)
    goes_on = (frame + STEP <= planner.ends)[:, None]
    turned = _to_bins(roots.heading[later] - roots.heading[frame])
    targets = np.maximum(planner.graph.targets, 0).astype(np.int64)
    price = np.where(planner.graph.costs <= planner.most_m2, planner.graph.costs + TRANSITION_M2, np.inf)
    drift = _to_bins(roots.drift(np.repeat(frame, targets.shape[1]), targets.reshape(-1))[1]).reshape(targets.shape)
    bins = np.arange(BINS)

    def advance(first: int, after: NDArray[np.float32]) -> NDArray[np.float32]:
        rows = slice(first, first + _ROWS)
        best = after[rows].copy()
        flat = after.reshape(-1)
        for column in range(targets.shape[1]):
            index = targets[rows, column, None] * BINS + (bins - drift[rows, column, None]) % BINS
            np.minimum(best, price[rows, column, None] + flat[index], out=best)
        return best

    with ThreadPoolExecutor(_THREADS) as pool:
        for k in range(1, steps + 1):
            index = later[:, None] * BINS + (bins - turned[:, None]) % BINS
            after = np.where(goes_on, cost[k - 1].reshape(-1)[index].astype(np.float32), np.inf).astype(np.float32)
            firsts = range(0, count, _ROWS)
            for first, found in zip(firsts, pool.map(lambda f, a=after: advance(f, a), firsts), strict=True):
                cost[k, first : first + _ROWS] = found
    return cost


def _to_bins(angle: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.rint(angle / _BIN).astype(np.int64)


@dataclass(frozen=True, eq=False)
class TurnPlan:
    """frames: (n,) to play. cost: of transitions, in m². left_m2: what the angle costs that is left in the end."""

    frames: Frames
    cost: float
    left_m2: float


def plan_turn(planner: PlanningData, table: DirectionTable, frame: int, turn: float, count: int) -> TurnPlan | None:
    """The frames to play to have turned by an angle in exactly ``count`` frames; None where there is no way.

    Bins only say what is best: the angle that is left is told exactly, and seen to in each step anew.
    """
    steps, roots, graph = -(-count // STEP), planner.roots, planner.graph
    frames, cost, now, left_turn = [], 0.0, frame, turn
    for done in range(steps):
        left = steps - done - 1
        length = count - left * STEP if done == 0 else STEP
        options = np.concatenate([[now], np.maximum(graph.targets[now], 0)]).astype(np.int64)
        far = np.concatenate([[0.0], graph.costs[now] + TRANSITION_M2])
        far[1:][graph.costs[now] > planner.most_m2] = np.inf
        arrive = np.minimum(options + length, planner.ends[options])
        far[options + length > planner.ends[options]] = np.inf
        missing = left_turn - (roots.heading[arrive] - roots.heading[options])
        missing -= roots.drift(np.full(len(options), now), options)[1]
        bins = _to_bins(missing)[:, None] + _ASIDE
        rest = table.cost[left, arrive[:, None], bins % BINS] + _ASIDE_WEIGHT * (missing[:, None] - _BIN * bins) ** 2
        score = far + rest.min(axis=1)
        best = int(np.argmin(score))
        if not np.isfinite(score[best]):
            return None
        frames.append(np.arange(options[best] + 1, arrive[best] + 1))
        cost, now, left_turn = cost + float(far[best]), int(arrive[best]), float(missing[best])
    angle = float(np.angle(np.exp(1j * left_turn)))
    return TurnPlan(np.concatenate(frames), cost, LEFT_M2 * angle**2)
