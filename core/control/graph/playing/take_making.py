# SPDX-License-Identifier: GPL-3.0-or-later
"""What comes home of a bake: takes with a clock of their own, and traces to measure."""

from dataclasses import replace

from ....motion import Take
from ...method import Run
from ...tracking.film import props_of, take_of
from .baking import Bake


def home_of(bake: Bake, fps: float, run: Run) -> Take:
    """The main character's take at ``fps``, with everybody else's and the props in it."""
    takes = []
    for who, subject in enumerate(bake.subjects):
        take, trace, _ = take_of(bake.film, who, subject, fps)
        run.add_trace(trace)
        takes.append(replace(take, own_clock=True, measurements={"falls": bake.falls[who]}))
    return replace(takes[0], others=tuple(takes[1:]), props=props_of(bake.film, takes[0].motion))
