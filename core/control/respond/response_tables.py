# SPDX-License-Identifier: GPL-3.0-or-later
"""The tables of section 5.2.1: D(i, t), the least cost to be at a goal in exactly t from frame i, and T(i, t).

Time goes in steps of 8 frames, and frames one by one: who has 100 frames plays 4 and has 12 steps left. So a key moment
falls exactly on the asked frame, and transitions are 0.13 s apart. T has both what the paper's has, the
turn and the way of the cheapest path, and the frame that it goes over to.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...array_cache import ArrayCache, compute_digest, describe_code
from ...motion.library import Library
from ..matching.features import FPS, RootTrack
from ..matching.matching import Complex, to_complex
from .pose_features import Floats
from .transition_graph import Frames, TransitionGraph

STEP = 8
"""Frames of a step: how far transitions are apart at least."""
HORIZON_S = 3.0
"""How far ahead tables look."""
STEPS = round(HORIZON_S * FPS) // STEP
LEAST_LEAD = 2
"""Steps before a key moment in which there is no transition: its pose is to be the clip's own by then."""
TRANSITION_M2 = 0.008
"""What a transition costs beyond its distance: few are better than many."""
UNASKED_M2 = 0.3
"""What it costs to come through the key moment of a deed that nobody asked for."""
DRIFT_S = 0.2
"""For how long, in sum, a root goes on as before after a transition, while its velocity fades into the new one."""

_NONE = -1
_FAR = 1_000_000
_FREE = np.float16(np.inf)


@dataclass(frozen=True, eq=False)
class ResponseTable:
    """What it takes to get to a goal, from every frame in 0 to ``STEPS`` steps.

    cost: (STEPS + 1, M) float16 m², inf where there is no way. jump: (STEPS + 1, M) int32 the frame that is gone over
    to, -1 to go on. way: (STEPS + 1, M) complex64 metres, and turn: (STEPS + 1, M) float32 radians, of the root along
    the cheapest path, in the frame of the root at its beginning.
    """

    cost: NDArray[np.float16]
    jump: NDArray[np.int32]
    way: NDArray[np.complex64]
    turn: Floats


class Roots:
    """How roots move when frames are played: the library's track in complex numbers, which turn by a product."""

    def __init__(self, track: RootTrack) -> None:
        self.pos: Complex = to_complex(track.pos)
        self.heading = np.asarray(track.heading)
        self.vel: Complex = to_complex(track.vel)
        self.turn_rate = np.asarray(track.turn)

    def play(self, first: Frames, last: Frames) -> tuple[Complex, NDArray[np.float64]]:
        """(way, turn) from frames to later ones of the same clips, in the frame of the root at the first."""
        way = np.exp(-1j * self.heading[first]) * (self.pos[last] - self.pos[first])
        return way, self.heading[last] - self.heading[first]

    def drift(self, before: Frames, after: Frames) -> tuple[Complex, NDArray[np.float64]]:
        """(way, turn) that come on top when one frame is gone over to from another."""
        way = (self.vel[before] - self.vel[after]) * complex(DRIFT_S)
        return way, DRIFT_S * (self.turn_rate[before] - self.turn_rate[after])


def build_table(
    library: Library,
    features: Floats,
    graph: TransitionGraph,
    roots: Roots,
    goals: Frames,
    *,
    most_m2: float,
    is_deed: bool,
) -> ResponseTable:
    """The table of a goal. goals: (G,) frames that are one. most_m2: a transition that costs more is none.

    is_deed: goals are key moments, which are gone straight to as well; else frames of a style.
    """
    digest = compute_digest(describe_code(), graph.digest, goals, most_m2, is_deed, count_to_keys(library))
    cache, shape = ArrayCache("responses"), (STEPS + 1, len(features))
    kinds = {"cost": np.float16, "jump": np.int32, "way": np.complex64, "turn": np.float32}
    kept = cache.load(digest, dict.fromkeys(kinds, shape), kinds)
    if kept is None:
        kept = _fill(library, features, graph, roots, goals, most_m2, is_deed)
        cache.save(digest, kept)
    return ResponseTable(kept["cost"], kept["jump"], kept["way"], kept["turn"])


def _fill(
    library: Library,
    features: Floats,
    graph: TransitionGraph,
    roots: Roots,
    goals: Frames,
    most_m2: float,
    is_deed: bool,
) -> dict[str, np.ndarray]:
    """Dynamic programming over time (equations 10 and 11), for all frames at once."""
    count = len(features)
    cost = np.full((STEPS + 1, count), _FREE)
    jump = np.full((STEPS + 1, count), _NONE, dtype=np.int32)
    way, turn = np.zeros(cost.shape, dtype=np.complex64), np.zeros(cost.shape, dtype=np.float32)
    cost[0, goals] = 0.0
    ends = library.starts[1:][library.clip_of_frame()] - 1
    frame = np.arange(count)
    later = np.minimum(frame + STEP, ends)
    goes_on = frame + STEP <= ends
    unasked = np.where(count_to_keys(library) < STEP, UNASKED_M2, 0.0).astype(np.float32)
    step_way, step_turn = roots.play(frame, later)
    targets = np.maximum(graph.targets, 0)
    price = np.where(graph.costs <= most_m2, graph.costs + TRANSITION_M2, np.inf).astype(np.float32)
    length = np.einsum("md,md->m", features, features)
    first_of_goal = library.starts[library.clip_of_frame()[goals]]
    for k in range(1, STEPS + 1):
        after = np.where(goes_on, cost[k - 1, later].astype(np.float32) + unasked, np.inf)
        best, choice = after.copy(), np.full(count, _NONE, dtype=np.int32)
        if k > LEAST_LEAD or not is_deed:
            for column in range(targets.shape[1]):
                target = targets[:, column]
                _take_better(best, choice, price[:, column] + after[target], target)
            if is_deed:
                straight = goals - k * STEP
                straight = straight[straight >= first_of_goal]
                straight = straight[np.isfinite(after[straight])]
                if len(straight):
                    _take_better(best, choice, *_go_straight(features, length, straight, after, most_m2))
        cost[k], jump[k] = np.minimum(best, 60000.0), choice
        cost[k][~np.isfinite(best)] = np.inf
        played = np.where(choice >= 0, choice, frame)
        drift_way, drift_turn = roots.drift(frame, played)  # nothing, for who goes on
        heading = np.exp(1j * (step_turn[played] + drift_turn))
        way[k] = drift_way + step_way[played] + heading * way[k - 1, later[played]]
        turn[k] = drift_turn + step_turn[played] + turn[k - 1, later[played]]
    return {"cost": cost, "jump": jump, "way": way, "turn": turn}


def _go_straight(
    features: Floats, length: Floats, targets: Frames, after: Floats, most_m2: float
) -> tuple[Floats, NDArray[np.int32]]:
    """(M,) what it costs to go over to the best of targets (G,), and (M,) which that is."""
    far = length[:, None] + length[targets] - 2.0 * (features @ features[targets].T)
    far = np.where(far <= most_m2, np.maximum(far, 0.0) + TRANSITION_M2, np.inf) + after[targets]
    found = far.argmin(axis=1)
    return far[np.arange(len(far)), found], targets[found].astype(np.int32)


def _take_better(best: Floats, choice: NDArray[np.int32], offered: Floats, target: NDArray[np.int32]) -> None:
    better = offered < best
    np.copyto(best, offered, where=better, casting="same_kind")
    np.copyto(choice, target, where=better)


def count_to_keys(library: Library) -> NDArray[np.int64]:
    """(M,) frames from each frame to the next key moment of its clip, at least one; very many where none follows."""
    found = np.full(len(library.motion), _FAR)
    for start, deeds in zip(library.starts[:-1], library.deeds, strict=True):
        for deed in sorted(deeds, key=lambda one: -one.key):
            frames = slice(int(start), int(start) + deed.key)
            found[frames] = np.arange(deed.key, 0, -1)
    return found
