# SPDX-License-Identifier: GPL-3.0-or-later
"""From a playback to a take with a clock of its own, and a trace to measure."""

from dataclasses import replace

from ...motion import Take
from ..method import Run
from ..tracking.recording import collect_prop_motions, make_take
from .playback import PolicyPlayback


def make_playback_take(played: PolicyPlayback, fps: float, run: Run) -> Take:
    """The take at ``fps``, with the props in it."""
    take, trace, _ = make_take(played.film, 0, played.subject, fps)
    run.add_trace(trace)
    figures = {"left_bounds_steps": sum(played.violations.values())}
    return replace(take, own_clock=True, measurements=figures, props=collect_prop_motions(played.film, take.motion))
