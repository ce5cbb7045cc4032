# SPDX-License-Identifier: GPL-3.0-or-later
"""The live numbers of any job as small curves, ready to draw: those that its method declares to be worth watching."""

from collections.abc import Sequence
from dataclasses import dataclass

from ...core.control import registry
from ...core.control.method import Watched
from ...core.errors import UnknownMethod
from ..takes.report_texts import measure_text
from .job_views import JobView

_BARS = "▁▂▃▄▅▆▇█"
_WIDEST = 8
_MOST = 3


@dataclass(frozen=True)
class LiveCurve:
    """How a number goes while a job runs: its name, its newest value, and its way so far as small bars."""

    name: str
    value: str
    bars: str


def live_curves(view: JobView, *, advanced: bool = False) -> tuple[LiveCurve, ...]:
    """What is worth a line of what the job reports; nothing for one that reports no numbers.

    advanced: the numbers for those who know the method, instead of those for everybody.
    """
    reported = {name: points for name, points in view.curves if points}
    watched = _watched(view.method_name) or [Watched(name) for name in list(reported)[:_MOST]]
    return tuple(
        _curve(one, reported[one.name]) for one in watched if one.name in reported and one.advanced == advanced
    )


def _watched(method: str) -> tuple[Watched, ...]:
    try:
        return registry.get_method(method).watched
    except UnknownMethod:
        return ()


def _curve(watched: Watched, points: Sequence[float]) -> LiveCurve:
    name, value = measure_text(watched.name, points[-1])
    if watched.label:
        name, value = watched.label, watched.form.format(points[-1])
    return LiveCurve(name, value, curve_bars(points))


def curve_bars(points: Sequence[float]) -> str:
    """A curve as a few small bars, from its lowest to its highest point."""
    count = min(len(points), _WIDEST)
    if count < 2:
        return ""
    chosen = [points[round(i * (len(points) - 1) / (count - 1))] for i in range(count)]
    low, span = min(chosen), max(chosen) - min(chosen)
    if span <= 0.0:
        return _BARS[0] * count
    return "".join(_BARS[min(int((value - low) / span * len(_BARS)), len(_BARS) - 1)] for value in chosen)
