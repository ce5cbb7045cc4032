# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the session works: what every step may do, here without a window, by the operators behind the buttons."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from typing import Any

from .blender import Blender


class Wrong(Exception):
    """Something is not as it should be after a step."""


class Desk:
    """A Blender with an empty user folder, and hands.

    work: a folder for all that comes of it; emptied, unless the session goes on where it was saved.
    light: jobs that only need to be seen running are made of nothing.
    """

    has_window = False

    def __init__(
        self, command: list[str], work: str, archive: str, *, light: bool = False, goes_on: bool = False
    ) -> None:
        self.command, self.work, self.archive, self.light = command, work, archive, light
        if not goes_on:
            shutil.rmtree(work, ignore_errors=True)
            os.makedirs(work)
        self.blend = os.path.join(work, "session.blend")
        self.log = os.path.join(work, "blender.log")
        own = {
            "BLENDER_USER_RESOURCES": os.path.join(work, "user"),
            "SINEW_JOBS": os.path.join(work, "data", "jobs"),
            "XDG_DATA_HOME": os.path.join(work, "data"),
        }
        self.variables = {**os.environ, **own}
        self.kept: dict[str, Any] = {}  # what one step tells a later one
        self.expected: list[str] = []  # warnings that a step was to be given
        self.blender: Blender | None = None

    # What Blender is asked for.

    def start(self, blend: str = "") -> None:
        """Start Blender, with that file."""
        self.blender = Blender(self.command, self.variables, self.log, blend)

    def ask(self, call: str, *args: object, **named: object) -> Any:
        """Ask Blender for what ``inside.py`` or ``places.py`` knows."""
        assert self.blender is not None
        return self.blender.ask(call, *args, **named)

    def facts(self) -> dict[str, Any]:
        """All that can be seen."""
        return self.ask("facts")

    def wait(self, reached: Callable[[dict[str, Any]], bool], what: str, seconds: float = 120.0) -> dict[str, Any]:
        """Wait until the facts are such; gives them."""
        stop = time.monotonic() + seconds
        while True:
            found = self.facts()
            if reached(found):
                return found
            if time.monotonic() > stop:
                raise Wrong("It never came to that: %s. There is %s" % (what, found))
            time.sleep(0.2)

    def check(self, is_so: object, what: str) -> None:
        """Stop the session unless it is so."""
        if not is_so:
            raise Wrong("%s. There is %s" % (what, self.facts()))

    # What is done by hand, where there is a window.

    def install(self) -> None:
        """Put the zip into Blender."""
        self.ask("install", self.archive)

    def open_tab(self) -> None:
        """Open the sidebar at Sinew's tab; where there is none, ask for what its first line says."""
        self.ask("call", "sinew.check_ready")

    def press(self, label: str, operator: str, **named: object) -> None:
        """Press the button that reads ``label``."""
        self.ask("call", operator, **named)

    def press_icon(self, operator: str, below: str, **named: object) -> None:
        """Press a button that has no words on it, somewhere below a text."""
        self.ask("call", operator, **named)

    def press_row(self, number: int) -> None:
        """Click on a row of the list of takes."""
        self.ask("put", "scene.sinew.armature", "sinew_take_clicked", number)

    def fold(self, *titles: str) -> None:
        """Open or close panels."""

    def stop_playing(self) -> None:
        """Let the animation stand still."""

    def undo(self) -> None:
        """Take the last step back."""
        self.ask("call", "ed.undo")

    def redo(self) -> None:
        """Do it again."""
        self.ask("call", "ed.redo")

    def scrub(self, *frames: int) -> None:
        """Drag the playhead through those frames."""
        for frame in frames:
            self.ask("set_frame", frame)

    def save(self) -> None:
        """Save the file."""
        self.ask("save", self.blend)

    def quit(self) -> None:
        """Quit Blender."""
        assert self.blender is not None
        self.ask("leave")
        if not self.blender.gone(30.0):
            raise Wrong("Blender does not quit")
        self.blender.close()
        self.blender = None

    def look(self, name: str, *, at: str = "") -> None:
        """Take a picture of the screen, with the panel ``at`` in sight."""

    def close(self) -> None:
        """Clear the desk."""
        if self.blender is not None:
            self.blender.close()
