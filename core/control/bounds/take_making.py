# SPDX-License-Identifier: GPL-3.0-or-later
"""What comes home of a controller at work: a take with a clock of its own, and a trace to measure."""

from dataclasses import replace

from ...motion import Take
from ..method import Run
from ..tracking.film import props_of, take_of
from .playing import Played


def home_of(played: Played, fps: float, run: Run) -> Take:
    """The take at ``fps``, with the props in it."""
    take, trace, _ = take_of(played.film, 0, played.subject, fps)
    run.add_trace(trace)
    figures = {"left_bounds_steps": sum(played.left.values())}
    return replace(take, own_clock=True, measurements=figures, props=props_of(played.film, take.motion))
