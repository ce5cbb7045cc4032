# SPDX-License-Identifier: GPL-3.0-or-later
"""The desk with a window: real mouse and keyboard on a virtual screen, and a picture of every step."""

from __future__ import annotations

import os
import time

import numpy as np

from . import dropping, seeing
from .desk import Desk, Wrong
from .screen import SIZE, Screen

# Where buttons without words stand in the sidebar: pixels from its left edge, or from its right one if negative.
_COLUMNS = (-48, 22, 40, -70, -92, 120)
_SETTLE_S = 0.6


class WindowDesk(Desk):
    """Everything with a click to it is clicked."""

    has_window = True

    def __init__(self, command: list[str], work: str, archive: str, display: str = ":77") -> None:
        super().__init__(command, work, archive)
        self.screen = Screen(display)
        self.variables["DISPLAY"] = display
        self.shots = os.path.join(work, "shots")
        os.makedirs(self.shots)
        self.taken = 0

    def start(self, blend: str = "") -> None:
        """Start Blender over the whole screen and wait until it has drawn itself."""
        geometry = ["--window-geometry", "0", "0", *map(str, SIZE)]
        bare, self.command = self.command, [*self.command, *geometry]
        super().start(blend)
        self.command = bare
        time.sleep(2.0)
        self.rest()

    def rest(self) -> None:
        """Leave the mouse in the middle of the 3D view, over nothing."""
        x, y, width, height = self.ask("box", "VIEW_3D", "WINDOW")
        self.screen.glide(x + width // 3, y + height // 4)
        time.sleep(0.1)

    def install(self) -> None:
        """Drop the zip on the window, and say OK."""
        self.rest()
        dropping.drop(self.archive, self.screen.display)
        self.screen.clicks += 1
        time.sleep(_SETTLE_S)
        self.look("drop")
        self.click_text("OK", scroll=False)
        self.wait(lambda found: bool(found["package"]), "the zip is installed", 60.0)

    def open_tab(self) -> None:
        """Press N over the view, and click the tab if it is not open by then."""
        self.rest()
        if not self.ask("sidebar")["shown"]:
            self.screen.key("n")
            time.sleep(_SETTLE_S)
        self.look("sidebar")
        if self.ask("sidebar")["tab"] != "Sinew":
            score, x, y = self._find("Sinew", turns=3)
            if score < seeing.GOOD:
                raise Wrong("There is no tab 'Sinew'")
            self.screen.click(x, y)
            time.sleep(_SETTLE_S)
        if self.ask("sidebar")["tab"] != "Sinew":
            raise Wrong("The tab 'Sinew' does not open")

    def press(self, label: str, operator: str, **named: object) -> None:
        """Click what reads ``label`` in the sidebar; there must be that operator behind it."""
        x, y = self.place_of(label)
        self.screen.glide(x, y)
        time.sleep(0.15)
        if ("bpy.ops.%s(" % operator) not in self.ask("hovered", "VIEW_3D", "UI"):
            raise Wrong("'%s' is no button for %s but '%s'" % (label, operator, self.ask("hovered", "VIEW_3D", "UI")))
        self.screen.click(x, y)
        self.rest()

    def press_icon(self, operator: str, **named: object) -> None:
        """Look for the button as one does who knows only its tooltip, and click it."""
        wanted = ["bpy.ops.%s(" % operator, *("%s=%s" % (key, _said(value)) for key, value in named.items())]
        left, top, width, height = self.ask("sidebar")["box"]
        for column in _COLUMNS:
            x = left + column + (width if column < 0 else 0)
            for y in range(top + 6, top + height - 4, 9):
                self.screen.glide(x, y)
                time.sleep(0.03)
                found = self.ask("hovered", "VIEW_3D", "UI")
                if all(word in found for word in wanted):
                    self.screen.click(x, y + 3)
                    self.rest()
                    return
        raise Wrong("There is no button for %s in sight" % " ".join(wanted))

    def fold(self, *titles: str) -> None:
        """Click on the panels' titles."""
        for title in titles:
            x, y = self.place_of(title)
            self.screen.click(x, y, counts=False)
            time.sleep(_SETTLE_S)
        self.rest()

    def click_text(self, text: str, *, scroll: bool = True) -> None:
        """Click on a text anywhere."""
        if scroll:
            x, y = self.place_of(text)
        else:
            score, x, y = self._find(text, whole=True)
            if score < seeing.GOOD:
                raise Wrong("'%s' is not on the screen (%.2f)" % (text, score))
        self.screen.click(x, y)

    def place_of(self, text: str) -> tuple[int, int]:
        """Where the text stands in the sidebar, which is scrolled until it is in sight."""
        left, top, width, height = self.ask("sidebar")["box"]
        middle = (left + width // 2, top + height // 2)
        for notches in (0, 4, 4, 4, 4, 4, -40, 4, 4, 4, 4):
            if notches:
                self.screen.scroll(*middle, notches)
                time.sleep(0.4)
            score, x, y = self._find(text)
            if score >= seeing.GOOD and top < y < top + height - 12:
                return x, y
        raise Wrong("'%s' is nowhere in the sidebar" % text)

    def undo(self) -> None:
        """Ctrl Z over the view."""
        self._chord("ctrl+z")

    def redo(self) -> None:
        """Shift Ctrl Z over the view."""
        self._chord("ctrl+shift+z")

    def scrub(self, *frames: int) -> None:
        """Hold the mouse on the timeline's ruler and drag it through the frames."""
        if self.ask("is_playing"):
            self._chord("Escape")
        self.screen.drag([tuple(self.ask("frame_place", frame)) for frame in frames])
        self.rest()

    def save(self) -> None:
        """Ctrl S, once the file has a name."""
        if not self.facts()["file"]:
            super().save()
            return
        self._chord("ctrl+s")
        self.wait(lambda found: not found["unsaved"], "the file is saved", 20.0)

    def quit(self) -> None:
        """Ctrl Q; a question that is asked then is seen, and answered by its first button."""
        assert self.blender is not None
        self.rest()
        self.screen.key("ctrl+q")
        if not self.blender.gone(4.0):
            self.look("question")
            self.screen.key("Return")
            if not self.blender.gone(30.0):
                raise Wrong("Blender does not quit")
        self.blender.close()
        self.blender = None

    def look(self, name: str, *, at: str = "") -> None:
        """Take a numbered picture, the panel ``at`` scrolled into sight."""
        if at:
            self.place_of(at)
            self.rest()
        time.sleep(_SETTLE_S)
        self.taken += 1
        self.screen.shot(os.path.join(self.shots, "%02d_%s.png" % (self.taken, name)))

    def close(self) -> None:
        """Take Blender and the screen away."""
        super().close()
        self.screen.close()

    def _chord(self, keys: str) -> None:
        self.rest()
        self.screen.key(keys)
        time.sleep(_SETTLE_S)

    def _find(self, text: str, *, turns: int = 0, whole: bool = False) -> tuple[float, int, int]:
        """How sure we are, and where on the screen the text is: in the sidebar, or anywhere."""
        path = os.path.join(self.work, "look.png")
        self.screen.shot(path)
        left, top, width, height = (0, 0, *SIZE) if whole else self.ask("sidebar")["box"]
        seen = seeing.grey(path)[top : top + height, left : left + width]
        score, x, y = seeing.best(seen, np.rot90(np.array(self.ask("lettering", text), float), turns))
        return score, left + x, top + y


def _said(value: object) -> str:
    """As Blender writes it in Python."""
    return '"%s"' % value if isinstance(value, str) else repr(value)
