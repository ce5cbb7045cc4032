# SPDX-License-Identifier: GPL-3.0-or-later
"""What is simulated to see whether Sinew keeps what it promises: stock clips, on both engines, and pushed."""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from ...core.control.staging import STAGE
from ...core.errors import EngineMissing
from ...core.geometry.quaternions import Array
from ...core.motion import Clip
from ...core.motion.io import stock
from ...core.motion.loops import is_cyclic, loop_clip
from ...core.sim import engines
from ...core.sim.stage_io import stage_to_arrays
from ...core.sim.stage_parts import PushPart, StageParts
from .. import engines as bench_engines
from ..run import Case

LEAST_S = 5.0
"""Cyclic clips are played on until they last this long."""
MOST_S = 10.0
"""Recorded clips are cut where they last longer."""

PUSH_N, PUSH_S, AFTER_S = 200.0, 0.1, 3.0
"""How hard and how long a walk is pushed, and how long it is watched from then on."""
SIDES = ("front", "front left", "left", "back left", "back", "back right", "right", "front right")
"""Where pushes come from, an eighth of a turn apart."""
PHASES = (0.0, 0.25, 0.5, 0.75)
TRUNK = "chest"


def stock_cases(names: Sequence[str], seeds: Sequence[int], engine: str, group: str = "stock") -> Iterator[Case]:
    """Stock clips by name, each with every seed."""
    for name in names:
        clip = long_enough(stock.load_stock(name))
        for seed in seeds:
            yield Case(group, name, clip, seed, engine)


def push_cases(names: Sequence[str], seeds: Sequence[int], engine: str) -> Iterator[Case]:
    """Cyclic stock clips pushed at the trunk in their second cycle, from every side at every phase."""
    for name in names:
        cycle = stock.load_stock(name)
        for seed in seeds:
            for phase in PHASES:
                for side, direction in zip(SIDES, push_directions(cycle), strict=True):
                    yield _pushed_case(cycle, seed, engine, phase, side, direction)


def _pushed_case(cycle: Clip, seed: int, engine: str, phase: float, side: str, direction: Array) -> Case:
    """A cyclic clip with one push towards ``direction`` (3,), ``phase`` of a cycle after its first."""
    start_s = (1.0 + phase) * cycle.duration_s
    last_s = start_s + PUSH_S + AFTER_S
    clip = loop_clip(cycle, math.ceil(last_s / cycle.duration_s))
    clip = clip.frames(0, math.ceil(last_s * clip.fps - 1e-6) + 1)
    push = PushPart(f"from the {side}", cycle.name, TRUNK, PUSH_N * direction, start_s, PUSH_S)
    stage = StageParts(characters=(cycle.name,), pushes=(push,))
    words = {"from": side, "phase": phase, "push_n": PUSH_N, "push_at_s": start_s}
    return Case("push", cycle.name, clip, seed, engine, {STAGE: stage_to_arrays(stage)}, words)


def push_directions(clip: Clip) -> Array:
    """(8, 3) unit vectors that pushes from ``SIDES`` of a character go along; it faces where the clip leads it."""
    root = clip.local_pos[:, 0]
    ahead = np.arctan2(*(root[-1] - root[0])[[1, 0]])
    # Counter-clockwise seen from above: from the front first, then from its left.
    towards = ahead + np.pi + 2.0 * np.pi * np.arange(len(SIDES)) / len(SIDES)
    return np.stack([np.cos(towards), np.sin(towards), np.zeros(len(SIDES))], axis=-1)


def long_enough(clip: Clip, least_s: float = LEAST_S) -> Clip:
    """A cyclic clip looped to at least ``least_s`` seconds; any other as it is."""
    if clip.duration_s >= least_s or not is_cyclic(clip):
        return clip
    return loop_clip(clip, math.ceil(least_s / clip.duration_s - 1e-9))


def short_enough(clip: Clip, most_s: float = MOST_S) -> Clip:
    """The clip's first ``most_s`` seconds."""
    return clip.frames(0, int(most_s * clip.fps + 1e-6) + 1)


def engines_ratio(slow: str = "bullet", fast: str = "mujoco") -> float | None:
    """How much slower one engine is by itself, without anything read from it; None where one is not installed."""
    try:
        found = [engines.get_engine(name) for name in (slow, fast)]
    except EngineMissing:
        return None
    body = bench_engines.mannequin()
    slow_speed, fast_speed = (
        bench_engines.speed(engine, body, copies=64, seconds=0.1, repeats=5)["bare_physics_steps_per_s"]
        for engine in found
    )
    return float(fast_speed / slow_speed)
