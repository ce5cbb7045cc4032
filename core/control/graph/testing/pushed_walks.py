# SPDX-License-Identifier: GPL-3.0-or-later
"""Disturbed characters: a random walk that is pushed, and two characters that run into each other (6.2)."""

import time
from collections.abc import Sequence
from contextlib import closing
from typing import Any

import numpy as np

from ....geometry.flags import find_runs
from ....geometry.quaternions import Array
from ....motion import Clip
from ....sim.engine import Engine, SensorRows, character_offsets
from ....sim.stage import Character, Stage
from ...tracking.reference import CONTROL_FPS
from ..model.control_graph import ControlGraph
from ..model.fragments import Indices
from ..playing.baking import Bake, Place, bake_characters
from ..playing.planners import ApproachPlanner, RandomWalkPlanner, SequenceItem, SequencePlanner
from .fall_records import HOLD_S, Fall, falls_of, off_its_feet, seconds_in
from .playback import PlayedCallback, play_and_record, single_character_player

PUSH_N, PUSH_S, PUSH_EVERY_S = 150.0, 0.1, 10.0
UP_WITHIN_S = 10.0
"""Seconds after a fall by which a character must be up again."""
_APART_M = 6.0  # distance at which two characters begin that are to meet
_MEET_M = 0.2  # links of two characters as near as this touch
_BY_PUSH_S = 3.0  # a fall so soon after a push is the push's
_BY_TOUCH_S = 2.0  # and one so soon after a touch, the touch's


def measure_pushed_walk(
    graph: ControlGraph, engine: Engine, seconds: float, seed: int, on_played: PlayedCallback | None = None
) -> dict[str, Any]:
    """A random walk through all skills with a push at the trunk now and then, from anywhere: falls and what came after.

    It goes on while the character is down at the end and may still get up.
    """
    planner = RandomWalkPlanner(graph, np.random.default_rng([seed, 1]))
    pushes = push_vectors(seconds, np.random.default_rng([seed, 2]))
    trunk = graph.features.trunk
    begin = next(chain.name for chain in graph.skills if chain.kind != "rise")
    with closing(engine.compile(Stage((Character(graph.body),)), 1, threads=1)) as world:
        player = single_character_player(world, graph, planner, begin)

        def forces(step: int) -> Array | None:
            push = push_at(pushes, step)
            if push is None:
                return None
            found = np.zeros((len(graph.body.links), 3))
            found[trunk] = push
            return found

        seen = play_and_record(player, seconds, forces, on_played)
        hold = round(HOLD_S * CONTROL_FPS)

        def is_up(rows: Sequence[Sequence[int]]) -> bool:
            last = np.array([*seen.fragment_rows[0][-hold:], *rows[0]])[-hold:]
            return not off_its_feet(graph.structure, last).any()

        more = play_and_record(player, UP_WITHIN_S + HOLD_S, on_played=on_played, over=is_up)
    fragment_row = np.concatenate([seen.fragment_rows[0], more.fragment_rows[0][1:]])
    falls = falls_of(graph.structure, fragment_row)
    return {
        "seconds": seconds,
        "push_n": PUSH_N,
        "pushes": len(pushes),
        "falls": player.characters[0].falls,
        "times_down": len(falls),
        "by_a_push": sum(by_push(fall, len(pushes)) for fall in falls),
        "up_within_10_s": sum(fall.within(UP_WITHIN_S) for fall in falls),
        "up_again": sum(fall.up_s is not None for fall in falls),
        "slowest_up_s": max((fall.up_s - fall.fell_s for fall in falls if fall.up_s is not None), default=None),
        "seconds_in": seconds_in(graph.structure, seen.fragment_rows[0]),
        "down": [fall.to_mapping() for fall in falls],
        "wall_s": seen.wall_s + more.wall_s,
    }


def push_vectors(seconds: float, rng: np.random.Generator) -> Array:
    """(P, 3) newtons of pushes from anywhere, level; push p begins (p + 1) times ``PUSH_EVERY_S`` after the start."""
    count = max(int(np.ceil(seconds / PUSH_EVERY_S - 1e-9)) - 1, 0)
    towards = rng.uniform(0.0, 2.0 * np.pi, size=count)
    return PUSH_N * np.stack([np.cos(towards), np.sin(towards), np.zeros(count)], axis=-1)


def push_at(pushes: Array, step: int) -> Array | None:
    """(3,) newtons during a control step, or None."""
    number, since = divmod(step, round(PUSH_EVERY_S * CONTROL_FPS))
    if not 1 <= number <= len(pushes) or since >= round(PUSH_S * CONTROL_FPS):
        return None
    return np.asarray(pushes[number - 1])


def by_push(fall: Fall, pushes: int) -> bool:
    """Whether one of so many pushes came just before a fall."""
    number, since = divmod(fall.fell_s, PUSH_EVERY_S)
    return 1 <= number <= pushes and since <= _BY_PUSH_S


def measure_collision(
    graph: ControlGraph,
    engine: Engine,
    skill: str,
    source: Clip,
    seconds: float,
    on_played: PlayedCallback | None = None,
) -> tuple[dict[str, Any], Bake]:
    """Two characters that always go for each other: when they touched, fell and were up again; and what to show of it.

    source: what bones that are no part of the body go on with.
    """
    stage = Stage((Character(graph.body), Character(graph.body)))
    planners = [ApproachPlanner(SequencePlanner(graph, [SequenceItem(skill)])) for _ in range(2)]
    half = np.array([0.5 * _APART_M, 0.0])
    places = [Place(-half, 0.0), Place(half, np.pi)]
    first = [graph.structure.chain(skill).first] * 2

    def on_progress(share: float) -> None:
        if on_played is not None:
            on_played(share * seconds)

    begin = time.perf_counter()
    with closing(engine.compile(stage, 1, threads=1)) as world:
        bake = bake_characters(world, [graph, graph], planners, places, [source, source], seconds, on_progress, first)
    wall_s = time.perf_counter() - begin
    between = distance_between(bake.film.rows, character_offsets(stage)["links"].astype(int))
    near = between < _MEET_M
    down = [falls_of(graph.structure, fragment_row) for fragment_row in bake.fragments]
    return {
        "seconds": seconds,
        "nearest_m": float(between.min()),
        "touched_s": [round(start / CONTROL_FPS, 2) for start, _ in find_runs(near)],
        "falls": list(bake.falls),
        "by_a_touch": sum(by_touch(fall, np.flatnonzero(near) / CONTROL_FPS) for falls in down for fall in falls),
        "down": [[fall.to_mapping() for fall in falls] for falls in down],
        "wall_s": wall_s,
    }, bake


def by_touch(fall: Fall, touched_s: Array) -> bool:
    """Whether a character was touched just before a fall. touched_s: (n,) all moments of contact."""
    return bool(((touched_s <= fall.fell_s) & (touched_s > fall.fell_s - _BY_TOUCH_S)).any())


def distance_between(rows: SensorRows, links: Indices) -> Array:
    """(K,) metres between the nearest links of two characters. links: (3,) where each one's begin and end."""
    pos = rows.link_pos[0]
    ours, theirs = (pos[:, links[index] : links[index + 1]] for index in range(2))
    return np.asarray(np.linalg.norm(ours[:, :, None] - theirs[:, None], axis=-1).min((1, 2)))
