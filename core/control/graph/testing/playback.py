# SPDX-License-Identifier: GPL-3.0-or-later
"""Playing learned characters only to see what becomes of them: nothing is kept but who did what when."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ....geometry.quaternions import Array
from ....sim.engine import World
from ...tracking.reference import CONTROL_FPS
from ..model.control_graph import ControlGraph
from ..model.fragments import Indices
from ..playing.baking import Place, start_state
from ..playing.player import MotionPlanner, PlayedCharacter, Player

PlayedCallback = Callable[[float], None]
"""Called with the seconds that were played so far."""


@dataclass(frozen=True, eq=False)
class Playback:
    """What was seen of characters that were played. trails: by character (K,) fragments, -1 while down."""

    trails: tuple[Indices, ...]
    falls: tuple[int, ...]
    wall_s: float

    @property
    def seconds(self) -> float:
        """How long."""
        return (len(self.trails[0]) - 1) / CONTROL_FPS


def single_character_player(world: World, graph: ControlGraph, plan: MotionPlanner, skill: str) -> Player:
    """One character on a stage by itself, about to begin a skill."""
    first = graph.layout.chain(skill).first
    state = start_state(world, [graph], [Place(np.zeros(2), 0.0)], [first])
    return Player(world, [PlayedCharacter(graph, plan, first)], state)


def play_and_record(
    player: Player,
    seconds: float,
    forces: Callable[[int], Array | None] | None = None,
    told: PlayedCallback | None = None,
    over: Callable[[Sequence[Sequence[int]]], bool] | None = None,
) -> Playback:
    """Play for so many seconds, or until it is ``over``, and keep only who did what.

    forces: newtons (L, 3) on all links at a control step. over: given the trails so far.
    """
    begin = time.perf_counter()
    trails = [[_now(actor)] for actor in player.actors]
    for step in range(round(seconds * CONTROL_FPS)):
        if over is not None and over(trails):
            break
        player.step(None if forces is None else forces(step))
        for trail, actor in zip(trails, player.actors, strict=True):
            trail.append(_now(actor))
        if told is not None:
            told(player.time_s)
    return Playback(
        tuple(np.array(trail, dtype=np.int64) for trail in trails),
        tuple(actor.falls for actor in player.actors),
        time.perf_counter() - begin,
    )


def _now(actor: PlayedCharacter) -> int:
    return actor.fragment if actor.down_s is None else -1
