# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes of a bake, with their own clock, and traces to measure."""

from dataclasses import replace

from ....motion import Take
from ...method import Run
from ...tracking.recording import collect_prop_motions, make_take
from .baking import Bake


def take_of_bake(bake: Bake, fps: float, run: Run) -> Take:
    """The first character's take at ``fps``, with those of the other characters and the props in it."""
    takes = []
    for index, subject in enumerate(bake.subjects):
        take, trace, _ = make_take(bake.film, index, subject, fps)
        run.add_trace(trace)
        takes.append(replace(take, own_clock=True, measurements={"falls": bake.falls[index]}))
    return replace(takes[0], others=tuple(takes[1:]), props=collect_prop_motions(bake.film, takes[0].motion))
