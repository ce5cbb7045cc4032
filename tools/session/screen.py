# SPDX-License-Identifier: GPL-3.0-or-later
"""A virtual screen with a mouse, a keyboard and a camera: Xvfb, xdotool and ImageMagick."""

from __future__ import annotations

import subprocess
import time

import numpy as np

SIZE = (1600, 900)
# xdotool holds Alt for a function key that it is given by its name; by these codes it does not.
_CODES = {"F%d" % number: 66 + number for number in range(1, 11)}


class Screen:
    """A screen of its own; it is there until ``close``. Places are pixels from the upper left corner."""

    def __init__(self, display: str = ":77") -> None:
        self.display = display
        self.clicks = 0
        self.clicked_s = 0.0
        size = "%dx%dx24" % SIZE
        command = ["Xvfb", display, "-screen", "0", size, "+extension", "GLX"]
        self._server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(2.0)
        if self._server.poll() is not None:
            raise RuntimeError("The screen %s cannot be had: another one may be using it" % display)

    def close(self) -> None:
        """Take the screen away."""
        self._server.terminate()
        self._server.wait(10)

    def move(self, x: int, y: int) -> None:
        """Put the mouse there."""
        self._do("mousemove", x, y)

    def glide(self, x: int, y: int) -> None:
        """Move the mouse there in a way that Blender notices: a first step, then the last pixel."""
        self._do("mousemove", x - 1, y, "sleep", 0.02, "mousemove", x, y)

    def click(self, x: int, y: int, *, counts: bool = True) -> None:
        """Press and release the left button there, not too fast to be seen."""
        self.glide(x, y)
        time.sleep(0.15)
        self._do("mousedown", 1, "sleep", 0.08, "mouseup", 1)
        self.clicked_s = time.monotonic()
        self.clicks += counts

    def drag(self, places: list[tuple[int, int]], pause_s: float = 0.06) -> None:
        """Hold the left button from the first place to the last."""
        self.glide(*places[0])
        time.sleep(0.1)
        self._do("mousedown", 1)
        for x, y in places[1:]:
            time.sleep(pause_s)
            self._do("mousemove", x, y)
        time.sleep(pause_s)
        self._do("mouseup", 1)
        self.clicks += 1

    def scroll(self, x: int, y: int, notches: int) -> None:
        """Turn the wheel there, downwards for positive notches."""
        self.glide(x, y)
        self._do("click", "--repeat", abs(notches), "--delay", 30, 5 if notches > 0 else 4)

    def hold(self, button: int) -> None:
        """Press a button of the mouse where it is."""
        self._do("mousedown", button)

    def let_go(self, button: int) -> None:
        """Release it."""
        self._do("mouseup", button)
        self.clicks += 1

    def press(self, name: str) -> None:
        """Hold a key."""
        self._do("keydown", name)

    def release(self, name: str) -> None:
        """Let go of it."""
        self._do("keyup", name)
        self.clicks += 1

    def key(self, name: str, *, counts: bool = True) -> None:
        """Press a key or a chord such as ``ctrl+z``."""
        self._do("key", _CODES.get(name, name))
        self.clicks += counts

    def shot(self, path: str) -> None:
        """Save what is seen."""
        subprocess.run(["import", "-display", self.display, "-window", "root", path], check=True)

    def grey(self, box: tuple[int, int, int, int]) -> np.ndarray:
        """(H, W) what is seen in left, top, width, height, from 0 to 255."""
        left, top, width, height = box
        part = ["-crop", "%dx%d+%d+%d" % (width, height, left, top), "-depth", "8", "gray:-"]
        command = ["import", "-display", self.display, "-window", "root", *part]
        raw = subprocess.run(command, check=True, capture_output=True).stdout
        return np.frombuffer(raw, np.uint8).reshape(height, width).astype(np.float64)

    def _do(self, *words: object) -> None:
        command = ["env", "DISPLAY=" + self.display, "xdotool", *map(str, words)]
        subprocess.run(command, check=True)
