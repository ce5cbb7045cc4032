# SPDX-License-Identifier: GPL-3.0-or-later
"""Balls and boxes for who wants to throw them: on the stage from the beginning, far away until they are asked for."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...body import Shape
from ...motion import PropMotion
from ...sim.stage import Prop, Stage

_AWAY_M, _APART_M = 5000.0, 50.0


@dataclass(frozen=True)
class Thing:
    """A ball of ``size`` metres in radius, or a box of ``size`` metres in half its width; mass in kg."""

    name: str
    kind: str
    size: float
    mass: float


THINGS = (
    *(Thing(f"Live Ball {number}", "ball", 0.11, 3.0) for number in range(1, 5)),
    *(Thing(f"Live Box {number}", "box", 0.15, 8.0) for number in range(1, 3)),
)


def add_things(stage: Stage) -> tuple[Stage, tuple[Thing, ...]]:
    """The stage with balls and boxes behind its own props, each resting far away from all else."""
    props = []
    for index, thing in enumerate(THINGS):
        ball = thing.kind == "ball"
        size = np.array([thing.size, 0.0, 0.0]) if ball else np.full(3, thing.size)
        shape = Shape("sphere" if ball else "box", size, np.zeros(3))
        place = np.array([_AWAY_M + _APART_M * index, _AWAY_M, thing.size])
        props.append(Prop(thing.name, thing.mass, place, shape=shape))
    return replace(stage, props=(*stage.props, *props)), THINGS


def show_only_used(motions: Sequence[PropMotion], shown: np.ndarray, own: int) -> tuple[PropMotion, ...]:
    """The motions (P) of things that were used, which are where they will appear until they do.

    shown: (T, P) which are on the stage in each frame of the motions. own: how many are the scene's own, and stay.
    """
    found = []
    for index, motion in enumerate(motions):
        there = shown[:, index]
        if index < own:
            found.append(motion)
        elif there.any():
            frames = np.arange(len(there))
            last = np.maximum.accumulate(np.where(there, frames, -1))
            last = np.where(last < 0, int(np.argmax(there)), last)
            found.append(PropMotion(motion.name, motion.pos[last], motion.quat_wxyz[last]))
    return tuple(found)
