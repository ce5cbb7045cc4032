# SPDX-License-Identifier: GPL-3.0-or-later
"""A session with its past: which commands were given, and whole moments of the last minute to go on from."""

from collections import deque
from typing import Any

from .commands import FPS, MOST_COMMANDS, BadCommand, Command, DragBone, LiveRecording
from .method import digest_state
from .session import LiveMoment, LiveSession, LiveStep

_EVERY = 6  # frames from one kept moment to the next
_KEPT_S = 60


class Timeline:
    """A session from its beginning on. commands: all that were given so far and still hold, by their frames.

    Going on from an earlier moment forgets what was done after it: what is left is always one way from the beginning.
    """

    def __init__(self, session: LiveSession) -> None:
        self.session = session
        self.commands: list[Command] = []
        self._due: list[Command] = []
        self._moments: deque[LiveMoment] = deque([session.moment], maxlen=_KEPT_S * FPS // _EVERY)
        self._digests: dict[int, str] = {}

    def add(self, command: Command) -> None:
        """Give a command, for the next step; one that cannot be is refused before it is noted."""
        self.session.check(command)
        if len(self.commands) >= MOST_COMMANDS:
            raise BadCommand("The session has too many commands", "Begin a new one")
        if isinstance(command, DragBone):  # of several in a frame the last one counts
            self._due = [one for one in self._due if not isinstance(one, DragBone)]
        self._due.append(command)

    def step(self) -> LiveStep:
        """One control step, with the commands that were given since the last."""
        due, self._due = self._due, []
        held = []
        for command in due:
            try:
                self.session.check(command)
                held.append(command)
            except BadCommand:
                continue
        self.commands += held
        step = self.session.step(held)
        if step.frame % _EVERY == 0:
            self._moments.append(self.session.moment)
        return step

    def look_back(self, frame: int) -> LiveStep:
        """Be at the last kept moment that is not after a frame; nothing is forgotten before ``go_on``."""
        found = self._moments[0]
        for moment in self._moments:
            if moment.frame <= frame:
                found = moment
        self.session.go_to(found)
        return self.session.look()

    def go_on(self) -> None:
        """Go on from here: what was after it has not been."""
        frame = self.session.frame
        self.commands = [command for command in self.commands if command.frame < frame]
        while len(self._moments) > 1 and self._moments[-1].frame > frame:
            self._moments.pop()

    def describe_recording(self, begin: int, end: int) -> dict[str, Any]:
        """The recording from ``begin`` to now, or to ``end`` if that is earlier; and a digest of the state now."""
        end = min(end, self.session.frame) if end > 0 else self.session.frame
        commands = tuple(command for command in self.commands if command.frame < end)
        recording = LiveRecording(commands, max(0, min(begin, end - 1)), end)
        digest = digest_state(self.session) if end == self.session.frame else ""
        return {"text": recording.to_text(), "begin": recording.begin, "end": end, "state_sha256": digest}
