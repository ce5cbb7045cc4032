# SPDX-License-Identifier: GPL-3.0-or-later
"""Playing learned characters and recording only their fragments and falls."""

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
    """A record of played characters. fragment_rows: by character (K,) fragments at the control rate, -1 while down."""

    fragment_rows: tuple[Indices, ...]
    falls: tuple[int, ...]
    wall_s: float

    @property
    def seconds(self) -> float:
        """Seconds that were played."""
        return (len(self.fragment_rows[0]) - 1) / CONTROL_FPS


def single_character_player(world: World, graph: ControlGraph, planner: MotionPlanner, skill: str) -> Player:
    """One character on a stage by itself, about to begin a skill."""
    first = graph.structure.chain(skill).first
    state = start_state(world, [graph], [Place(np.zeros(2), 0.0)], [first])
    return Player(world, [PlayedCharacter(graph, planner, first)], state)


def play_and_record(
    player: Player,
    seconds: float,
    forces: Callable[[int], Array | None] | None = None,
    on_played: PlayedCallback | None = None,
    over: Callable[[Sequence[Sequence[int]]], bool] | None = None,
) -> Playback:
    """Play for so many seconds, or until it is ``over``, and record fragments and falls.

    forces: newtons (L, 3) on all links at a control step. over: given the fragments so far.
    """
    begin = time.perf_counter()
    fragment_rows = [[_now(character)] for character in player.characters]
    for step in range(round(seconds * CONTROL_FPS)):
        if over is not None and over(fragment_rows):
            break
        player.step(None if forces is None else forces(step))
        for fragment_row, character in zip(fragment_rows, player.characters, strict=True):
            fragment_row.append(_now(character))
        if on_played is not None:
            on_played(player.time_s)
    return Playback(
        tuple(np.array(fragment_row, dtype=np.int64) for fragment_row in fragment_rows),
        tuple(character.falls for character in player.characters),
        time.perf_counter() - begin,
    )


def _now(character: PlayedCharacter) -> int:
    return character.fragment if character.down_s is None else -1
