# SPDX-License-Identifier: GPL-3.0-or-later
"""Progress of long work whose parts are of different kinds: it moves from the first second on, and never back."""

import math
from collections.abc import Callable

from ..motion.take import Measurement
from .method import Run

WHOLE = 10_000
"""Steps of a whole run in reports of progress: fine enough for the first seconds of a long one to show."""

_SURE = 0.9  # of a part's expected length; what takes longer than expected slows down and does not stop


class WorkMeter:
    """Reports shares of the whole to a run, part by part; each part is so many calls, as far as one knows before.

    figures: gives the live numbers to report. doing: what is done now, in an animator's words.
    """

    def __init__(self, run: Run, figures: Callable[[], dict[str, Measurement]] = dict) -> None:
        self.figures, self.doing = figures, ""
        self._run = run
        self._begin = self._end = self._share = 0.0
        self._calls, self._expected = 0, 1.0

    @property
    def share(self) -> float:
        """What is done of the whole, 0 to 1."""
        return self._share

    @property
    def part_share(self) -> float:
        """What is done of the part under way, 0 to 1."""
        return 1.0 if self._end <= self._begin else (self._share - self._begin) / (self._end - self._begin)

    def begin(self, end: float, expected: float = 1.0, doing: str = "") -> None:
        """Begin a part that leads to the share ``end`` of the whole, in about so many calls; the one before is over."""
        self._begin = self._share = max(self._share, self._end)
        self._end, self._calls, self._expected = max(end, self._begin), 0, max(expected, 1.0)
        self.doing = doing or self.doing
        self.report()

    def skip_to(self, share: float) -> None:
        """So much of the whole was done before, or is not needed; told with what comes next."""
        self._begin = self._end = self._share = max(self._share, share)

    def step(self) -> None:
        """A call more of the part is done; also when a cancel is noticed."""
        self._calls += 1
        self.reach(self._calls / self._expected)

    def reach(self, part: float) -> None:
        """So much of the part is done, as a share of what was expected; it may be more than 1."""
        within = part if part < _SURE else 1.0 - (1.0 - _SURE) * math.exp(-(part - _SURE) / (1.0 - _SURE))
        self._share = max(self._share, self._begin + (self._end - self._begin) * within)
        self.report()

    def report(self) -> None:
        """Tell the run."""
        told = {"doing": self.doing} if self.doing else {}
        self._run.progress(min(int(WHOLE * self._share), WHOLE - 1), WHOLE, **told, **self.figures())
