# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of a learned skill: the maximal recoverable push, endurance, and the cost of playing it."""

import time
from collections.abc import Sequence
from contextlib import closing
from typing import Any

import numpy as np

from ....errors import GraphError
from ....sim.engine import Engine
from ....sim.stage import Character, Stage
from ...tracking.reference import CONTROL_FPS
from ..model.control_graph import ControlGraph
from ..model.fragments import fragment_reference
from ..playing.fragment_simulator import FragmentSimulator
from ..playing.planners import SequenceItem, SequencePlanner
from ..playing.push_tests import find_hardest_push
from .fall_records import falls_of
from .playback import PlayedCallback, play_and_record, single_character_player

CYCLES, STEP_N = 20, 10.0
"""Pushes grow by so many newtons, and the character must not fall for so many cycles after them."""
_COPIES = 128  # pushes of growing force that are tried at once


def measure_hardest_push(graph: ControlGraph, engine: Engine, skill: str, cycles: int = CYCLES) -> dict[str, Any]:
    """The maximal recoverable push at the trunk of a cyclic skill, as in table II.

    'stood_beyond_n' are harder pushes without a fall, although there was a fall after one in between.
    """
    chain = graph.structure.chain(skill)
    if chain.kind != "cycle":
        raise GraphError(f"'{skill}' is no cycle, so it cannot be pushed for {cycles} cycles", "Choose a cyclic skill")
    own = np.array([following[0] if following else -1 for following in graph.structure.successors])
    with closing(engine.compile(Stage((Character(graph.body),)), _COPIES)) as world:
        simulator = FragmentSimulator(graph.track, fragment_reference(graph.track, world), world, graph.features)
        push_n, stood = find_hardest_push(
            simulator, graph.policies, chain.first, lambda some: own[some], chain.count, cycles
        )
    beyond = [float(STEP_N * index) for index in np.flatnonzero(stood) if STEP_N * index > push_n]
    return {
        "push_n": max(push_n, 0.0),
        "falls_unpushed": not bool(stood[0]),
        "stood_beyond_n": beyond,
        "cycles": cycles,
    }


def measure_endurance(
    graph: ControlGraph, engine: Engine, skill: str, seconds: float, on_played: PlayedCallback | None = None
) -> dict[str, Any]:
    """One skill played on and on: whether and when it fell. Without get-ups the first fall ends it."""
    rises = any(chain.kind == "rise" for chain in graph.structure.chains)
    planner = SequencePlanner(graph, [SequenceItem(skill)])
    with closing(engine.compile(Stage((Character(graph.body),)), 1, threads=1)) as world:
        player = single_character_player(world, graph, planner, skill)

        def over(fragment_rows: Sequence[Sequence[int]]) -> bool:
            return not rises and fragment_rows[0][-1] < 0

        seen = play_and_record(player, seconds, on_played=on_played, over=over)
        went = float(np.linalg.norm(player.pose(0)[0][:2]))
    falls = falls_of(graph.structure, seen.fragment_rows[0])
    return {
        "seconds": seconds,
        "lasted_s": falls[0].fell_s if falls else seen.seconds,
        "falls": seen.falls[0],
        "went_m": went,
        "wall_s": seen.wall_s,
    }


def measure_playback_cost(graph: ControlGraph, engine: Engine, skill: str, seconds: int = 20) -> dict[str, Any]:
    """Wall seconds for each second of one character on one core, beside the bare engine in turns of a second.

    'core_s' is what this process worked for it, which others on the machine do not disturb.
    """
    planner = SequencePlanner(graph, [SequenceItem(skill)])
    with closing(engine.compile(Stage((Character(graph.body),)), 1, threads=1)) as world:
        player = single_character_player(world, graph, planner, skill)
        steps = round(CONTROL_FPS)
        walls, cores, bares = [], [], []
        for turn in range(seconds + 1):
            begin, begin_core = time.perf_counter(), time.process_time()
            for _ in range(steps):
                player.step()
            wall, core = time.perf_counter() - begin, time.process_time() - begin_core
            bare = world.bare_seconds(player.state[None], steps * player.substeps)
            if turn:  # the first also gets everything ready
                walls.append(wall)
                cores.append(core)
                bares.append(bare)
    return {
        "seconds": seconds,
        "wall_s_per_s": float(np.median(walls)),
        "best_wall_s_per_s": min(walls),
        "core_s_per_s": float(np.median(cores)),
        "bare_s_per_s": float(np.median(bares)),
        "over_bare": float(np.median(walls) / np.median(bares)),
        "falls": player.characters[0].falls,
    }
