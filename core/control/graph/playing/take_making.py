# SPDX-License-Identifier: GPL-3.0-or-later
"""What comes home of a bake: takes with a clock of their own, and traces to measure."""

from dataclasses import replace

from ....motion import Take
from ...method import Run
from ...tracking.recording import collect_prop_motions, make_take
from .baking import Bake


def take_of_bake(bake: Bake, fps: float, run: Run) -> Take:
    """The main character's take at ``fps``, with everybody else's and the props in it."""
    takes = []
    for who, subject in enumerate(bake.subjects):
        take, trace, _ = make_take(bake.film, who, subject, fps)
        run.add_trace(trace)
        takes.append(replace(take, own_clock=True, measurements={"falls": bake.falls[who]}))
    return replace(takes[0], others=tuple(takes[1:]), props=collect_prop_motions(bake.film, takes[0].motion))
