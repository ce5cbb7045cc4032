# SPDX-License-Identifier: GPL-3.0-or-later
"""What comes home of a bake: takes with a clock of their own, and traces to measure."""

from collections.abc import Sequence
from dataclasses import replace

from ...motion import Take
from ..method import Run
from ..sampling.film import props_of, take_of
from .baking import Bake


def home_of(bake: Bake, rates: Sequence[float], run: Run) -> list[Take]:
    """Everybody's takes at their frame rates, the main character's first, with the others and props in it."""
    takes = []
    for who, subject in enumerate(bake.subjects):
        take, trace, _ = take_of(bake.film, who, subject, rates[0])
        run.add_trace(trace)
        takes.append(replace(take, own_clock=True, measurements={"falls": bake.falls[who]}))
    props = props_of(bake.film, takes[0].motion)
    takes[0] = replace(takes[0], others=tuple(takes[1:]), props=props)
    return takes
