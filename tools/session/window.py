# SPDX-License-Identifier: GPL-3.0-or-later
"""The desk with a window: real mouse and keyboard on a virtual screen, and a picture of every step."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import numpy as np

from . import dropping, seeing
from .desk import Desk, Wrong
from .screen import SIZE, Screen

# Where buttons without words stand in the sidebar: pixels from its left edge, or from its right one if negative.
_COLUMNS = (-48, 26, 40, -70, 120)
_BESIDE = 40  # pixels from the middle of a take's circle into its name
_REACH = 260  # pixels below a text in which its buttons are looked for
_SETTLE_S = 0.6
_STILL = 0.01  # of the sidebar's pixels that a job's bar may change meanwhile


class WindowDesk(Desk):
    """Everything with a click to it is clicked."""

    has_window = True

    def __init__(self, command: list[str], work: str, archive: str, display: str = ":77", **choices: bool) -> None:
        super().__init__(command, work, archive, **choices)
        self.screen = Screen(display)
        self.variables["DISPLAY"] = display
        self.shots = os.path.join(work, "shots")
        os.makedirs(self.shots, exist_ok=True)
        self.taken = len(os.listdir(self.shots))
        self.looking_s = 0.0  # what pictures took, which no animator waits for
        self._letters: dict[str, np.ndarray] = {}

    def start(self, blend: str = "") -> None:
        """Start Blender over the whole screen and wait until it has drawn itself."""
        geometry = ["--window-geometry", "0", "0", *map(str, SIZE)]
        bare, self.command = self.command, [*self.command, *geometry]
        super().start(blend)
        self.command = bare
        time.sleep(2.0)
        self._chord("Escape", counts=False)  # the splash is Blender's own, and takes keys that are meant for the view

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
            self._until(lambda: self.ask("sidebar")["box"][2], "The sidebar does not open")
        self.look("sidebar")
        if self.ask("sidebar")["tab"] != "Sinew":
            score, x, y = self._find("Sinew", turns=3)
            if score < seeing.GOOD:
                raise Wrong("There is no tab 'Sinew'")
            self.screen.click(x, y)
        self._until(lambda: self.ask("sidebar")["tab"] == "Sinew", "The tab 'Sinew' does not open")

    def press(self, label: str, operator: str, **named: object) -> None:
        """Click what reads ``label`` in the sidebar; there must be that operator behind it."""
        self._settle()  # rows come and go with what was chosen before, and move what is below them
        x, y = self.place_of(label)
        for _ in range(8):  # a busy Blender takes a while to notice where the mouse is
            self.screen.glide(x, y)
            time.sleep(0.15)
            hovered = self.ask("hovered", "VIEW_3D", "UI")
            if ("bpy.ops.%s(" % operator) in hovered:
                break
        else:
            raise Wrong("'%s' is no button for %s but '%s'" % (label, operator, hovered))
        self.screen.click(x, y)
        self.rest()

    def _glide_to(self, label: str) -> tuple[int, int]:
        """Move the mouse onto a text; where the panel is drawn anew for it and rows come or go, after the text."""
        for _ in range(4):
            self._settle()
            x, y = self.place_of(label)
            self.screen.glide(x, y)
            time.sleep(0.4)
            score, now_x, now_y = self._find(label)
            if score < seeing.GOOD or abs(now_x - x) + abs(now_y - y) < 4:  # under the mouse letters may look otherwise
                return x, y
        raise Wrong("'%s' does not stand still" % label)

    def press_icon(self, operator: str, below: str, **named: object) -> None:
        """Look for the button as one does who knows only its tooltip, and click it."""
        x, y = self._place_of_icon(operator, below, **named)
        self.screen.click(x, y)
        self.rest()

    def press_row(self, number: int) -> None:
        """Click on the take's name, which stands beside its circle."""
        x, y = self._place_of_icon("sinew.take_show", "Takes", index=number)
        self.screen.click(x + _BESIDE, y)
        self.rest()

    def _place_of_icon(self, operator: str, below: str, **named: object) -> tuple[int, int]:
        """Where the button is, found by going over the panel."""
        wanted = ["bpy.ops.%s(" % operator, *("%s=%s" % (key, _said(value)) for key, value in named.items())]
        self._raise(below)
        _, first = self.place_of(below)
        left, top, width, height = self.ask("sidebar")["box"]
        for column in _COLUMNS:
            x = left + column + (width if column < 0 else 0)
            for y in range(first + 12, min(top + height - 4, first + _REACH), 9):
                self.screen.glide(x, y)
                time.sleep(0.03)
                found = self.ask("hovered", "VIEW_3D", "UI")
                if all(word in found for word in wanted):
                    return x, y + 2
        raise Wrong("There is no button for %s below '%s'" % (" ".join(wanted), below))

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

    def stop_playing(self) -> None:
        """Escape over the view; for the sake of the machine alone, so that nobody counts it."""
        if self.ask("is_playing"):
            self._chord("Escape", counts=False)

    def undo(self) -> None:
        """Ctrl Z over the view."""
        self._chord("ctrl+z")

    def redo(self) -> None:
        """Shift Ctrl Z over the view."""
        self._chord("ctrl+shift+z")

    def scrub(self, *frames: int) -> None:
        """Hold the mouse on the timeline's ruler and drag it through the frames."""
        self.stop_playing()
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
            self._raise(at)
            self.rest()
        begun = time.monotonic()
        self._settle()
        self.taken += 1
        self.screen.shot(os.path.join(self.shots, "%02d_%s.png" % (self.taken, name)))
        self.looking_s += time.monotonic() - begun

    def close(self) -> None:
        """Take Blender and the screen away."""
        super().close()
        self.screen.close()

    def _raise(self, text: str) -> None:
        """Scroll until what stands below the text is seen as well, as far as the sidebar goes."""
        left, top, width, height = self.ask("sidebar")["box"]
        for _ in range(4):
            _, y = self.place_of(text)
            if y < top + height // 3:
                return
            self.screen.scroll(left + width // 2, top + height // 2, 3)
            time.sleep(0.4)

    def _settle(self, seconds: float = 6.0) -> None:
        """Wait until panels have slid to where they belong: nothing in the sidebar moves, but for a job's bar."""
        time.sleep(_SETTLE_S)
        stop, before = time.monotonic() + seconds, None
        while self.blender is not None and time.monotonic() < stop:
            box = self.ask("sidebar")["box"]
            seen = self.screen.grey(box) if box[2] else np.zeros((1, 1))
            if before is not None and before.shape == seen.shape and (before != seen).mean() < _STILL:
                return
            before = seen
            time.sleep(0.3)

    def _chord(self, keys: str, *, counts: bool = True) -> None:
        self.rest()
        self.screen.key(keys, counts=counts)
        time.sleep(_SETTLE_S)

    def _until(self, reached: Callable[[], object], complaint: str, seconds: float = 10.0) -> None:
        """Wait as a person does who sees that Blender is busy."""
        stop = time.monotonic() + seconds
        while not reached():
            if time.monotonic() > stop:
                raise Wrong(complaint)
            time.sleep(0.1)

    def _find(self, text: str, *, turns: int = 0, whole: bool = False) -> tuple[float, int, int]:
        """How sure we are, and where on the screen the text is: in the sidebar, or anywhere."""
        left, top, width, height = (0, 0, *SIZE) if whole else self.ask("sidebar")["box"]
        seen = self.screen.grey((left, top, width, height))
        if text not in self._letters:
            self._letters[text] = np.array(self.ask("lettering", text), float)
        score, x, y = seeing.best(seen, np.rot90(self._letters[text], turns))
        return score, left + x, top + y


def _said(value: object) -> str:
    """As Blender writes it in Python."""
    return '"%s"' % value if isinstance(value, str) else repr(value)
