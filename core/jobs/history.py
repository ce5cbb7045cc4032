# SPDX-License-Identifier: GPL-3.0-or-later
"""What the events say so far about a job's newest run."""

import math
import time
from pathlib import Path
from typing import Any

from .. import limits
from .event_checks import Event
from .events import TERMINAL, EventReader

# The rate of progress forgets what is older than about this many seconds, or than this share of the time so far: of a
# long run the parts are longer, too.
_MEMORY_S, _MEMORY_SHARE = 10.0, 0.3
# A curve of more points than this is thinned out: it is there to be looked at.
_MOST_POINTS = 512


class History:
    """The events of a job, added up. ``refresh`` reads only what is new."""

    def __init__(self, path: Path) -> None:
        self._reader = EventReader(path)
        self.total = 0
        self._begin(0)

    def _begin(self, run: int) -> None:
        # The total stays: a resumed run has the same way to go, and its bar should not jump to zero.
        self.run = run
        self.launched: Event | None = None
        self.started: Event | None = None
        self.end: Event | None = None
        self.step = 0
        self.measurements: dict[str, Any] = {}
        self.curves: dict[str, list[float]] = {}
        self.findings: list[dict[str, str]] = []
        self.paused: Event | None = None
        self.waiting = ""  # for what
        self._last_time = 0.0
        self._rested_s = 0.0
        self._progressed: tuple[float, int] | None = None
        self._recent_steps = self._recent_s = self._moved_s = 0.0

    @property
    def next_run(self) -> int:
        """The number of a run that starts now: a launch that never came to start does not count."""
        return self.run if self.run and not self.started and not self.end else self.run + 1

    @property
    def behind(self) -> bool:
        """Whether there is more to read, so that nobody knows yet how the job stands."""
        return self._reader.behind

    def refresh(self, until_s: float = math.inf) -> bool:
        """Read new events; True if there were any. until_s: a ``time.monotonic()`` after which no more is begun."""
        found = False
        self._reader.look()
        slices = self._reader.slices()
        while time.monotonic() < until_s and (events := next(slices, None)) is not None:
            for event in events:
                self._add(event)
            found |= bool(events)
        return found

    def _add(self, event: Event) -> None:
        if event["run"] > self.run:
            self._begin(event["run"])
        if event["run"] < self.run:
            return
        self._last_time = event["time"]
        kind = event["kind"]
        self.waiting = event.get("message", "") if kind == "waiting" else ""
        if kind == "launched":
            self.launched = event
        elif kind == "started":
            self.started = event
        elif kind == "resumed":
            self.step = event["step"]
        elif kind == "progress":
            self._advance(event)
        elif kind == "paused":
            self.paused = event
        elif kind == "continued":
            self._go_on(event)
        elif kind == "finding" and len(self.findings) < limits.FINDINGS:
            self.findings.append(event["finding"])
        elif kind in TERMINAL and self.end is None:
            self.end = event
            self.measurements = event.get("measurements", self.measurements)

    def _go_on(self, event: Event) -> None:
        """A rest is over: neither the rate of progress nor the time it took knows of it."""
        if self.paused is not None:
            rest_s = max(0.0, event["time"] - self.paused["time"])
            self._rested_s += rest_s
            if self._progressed is not None:
                self._progressed = (self._progressed[0] + rest_s, self._progressed[1])
        self.paused = None

    def _advance(self, event: Event) -> None:
        now, step = event["time"], event["step"]
        if self._progressed is not None:
            passed_s = max(0.0, now - self._progressed[0])
            keep = math.exp(-passed_s / max(_MEMORY_S, _MEMORY_SHARE * self._moved_s))
            self._moved_s += passed_s
            self._recent_s = self._recent_s * keep + passed_s
            self._recent_steps = self._recent_steps * keep + step - self._progressed[1]
        self._progressed = (now, step)
        self.step, self.total = step, event.get("total", 0)
        found = event.get("measurements", {})
        self.measurements = dict([*self.measurements.items(), *found.items()][: limits.MEASUREMENTS])
        for name, value in found.items():
            drawn = name in self.curves or len(self.curves) < limits.CURVES
            if drawn and isinstance(value, float | int) and not isinstance(value, bool):
                self._draw(self.curves.setdefault(name, []), float(value))

    @staticmethod
    def _draw(curve: list[float], value: float) -> None:
        """Add a point to a curve; what is reported twice is one point."""
        if not curve or curve[-1] != value:
            curve.append(value)
        if len(curve) > _MOST_POINTS:
            del curve[1:-1:2]

    def wall_s(self, alive: bool) -> float:
        """Seconds since the run was started, or that it took, without its pauses."""
        first = self.started or self.launched
        if first is None:
            return 0.0
        began: float = first["time"]
        return max(0.0, (self._now() if alive else self._last_time) - began - self._rested_s)

    def eta_s(self) -> float | None:
        """Seconds to go at the recent rate, or None while there is no rate yet."""
        if self._progressed is None or self._recent_steps <= 0.0:
            return None
        left_s = min((self.total - self.step) * self._recent_s / self._recent_steps, limits.MOMENT_S)
        return max(0.0, left_s - max(0.0, self._now() - self._progressed[0]))

    def _now(self) -> float:
        """The time, which stands still during a pause."""
        paused_at: float | None = self.paused["time"] if self.paused is not None else None
        return time.time() if paused_at is None else paused_at
