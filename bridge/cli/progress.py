# SPDX-License-Identifier: GPL-3.0-or-later
"""A line of progress that rewrites itself on a terminal and stays short in a log."""

from typing import TextIO

from ...core.jobs import JobStatus
from ...core.texts import one_line


class ProgressLine:
    """Shows a job's progress on a stream: one moving line on a terminal, a line every tenth in a log."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._moving = stream.isatty()
        self._shown: tuple[int, bool] | None = None

    def show(self, status: JobStatus) -> None:
        """Show the job's state if it has changed enough to be worth a line."""
        percent = int(100 * status.fraction)
        mark = (percent if self._moving else percent // 10, status.message.startswith("Waiting"))
        if not status.alive or mark == self._shown:
            return
        self._shown = mark
        left = "" if status.eta_s is None else f", {_duration(status.eta_s)} left"
        doing = status.measurements.get("doing") or (status.message if status.message.startswith("Waiting") else "")
        self.say(f"{percent:3d} %{left}{f': {doing}' if doing else ''}")

    def say(self, text: str) -> None:
        """Put a text in the line's place."""
        text = one_line(text)
        self._stream.write(f"\r\x1b[K{text}" if self._moving else f"{text}\n")
        self._stream.flush()

    def end(self) -> None:
        """Leave the stream at the beginning of an empty line."""
        if self._moving:
            self._stream.write("\r\x1b[K")
            self._stream.flush()


def _duration(seconds: float) -> str:
    whole = int(seconds + 0.5)
    return f"{whole} s" if whole < 90 else f"{whole // 60} min {whole % 60:02d} s"
