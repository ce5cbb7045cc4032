# SPDX-License-Identifier: GPL-3.0-or-later
"""A picture of a library: how fast frames go against how fast they turn, coloured by style. Gaps show what is missing.

Drawn with NumPy alone, so that the command line, the panel and any thread have the same picture.
"""

import numpy as np
from numpy.typing import NDArray

from ..body import BodyModel
from ..body.style_proposals import measure_travel
from ..geometry.bitmap_font import render_text
from ..geometry.quaternions import Array
from ..motion.library import Library

WIDTH, HEIGHT = 640, 420
_BRIGHT = (
    (66, 146, 224),
    (232, 120, 44),
    (88, 184, 104),
    (176, 120, 208),
    (224, 84, 112),
    (60, 190, 182),
    (212, 180, 56),
    (150, 150, 150),
    (120, 100, 230),
    (180, 140, 100),
    (240, 160, 200),
    (130, 200, 60),
)
COLOURS = (*_BRIGHT, *((red * 3 // 5, green * 3 // 5, blue * 3 // 5) for red, green, blue in _BRIGHT))
"""Of the tags in their order; after the last it begins again."""

_PAPER, _GRID, _INK = (30, 30, 32), (58, 58, 62), (200, 200, 198)
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 130, 16, 34
_MOST_DEGREES_S, _LEAST_M_S = 200.0, 2.0
_STEP = 3  # of how many frames one is drawn

Pixels = NDArray[np.uint8]


def draw_library(body: BodyModel, library: Library) -> Pixels:
    """(H, W, 3) the picture, top row first. Upwards m/s, backwards below zero; across degrees/s to the left."""
    turning, speed = _measure(body, library)
    low, high = min(0.0, float(speed.min())) - 0.2, max(_LEAST_M_S, float(speed.max())) + 0.2
    pixels = np.empty((HEIGHT, WIDTH, 3), dtype=np.uint8)
    pixels[:] = _PAPER
    _draw_axes(pixels, low, high)
    across = _LEFT + (turning + _MOST_DEGREES_S) / (2.0 * _MOST_DEGREES_S) * (WIDTH - _LEFT - _RIGHT - 1)
    up = _TOP + (high - speed) / (high - low) * (HEIGHT - _TOP - _BOTTOM - 1)
    colours = np.full((len(speed), 3), 96, dtype=np.uint8)
    names = library.tag_names()
    for index, name in enumerate(names):
        colours[library.find_frames(name) & _is_shown(library, name)] = COLOURS[index % len(COLOURS)]
    x, y = np.round(across).astype(int), np.round(up).astype(int)
    order = np.random.default_rng(0).permutation(len(x))[::_STEP]  # so that no tag lies on top of all others
    for right, down in ((0, 0), (1, 0), (0, 1), (1, 1)):
        pixels[np.clip(y[order] + down, 0, HEIGHT - 1), np.clip(x[order] + right, 0, WIDTH - 1)] = colours[order]
    for index, name in enumerate(names):
        _draw_key(pixels, index, name, library)
    return pixels


def _measure(body: BodyModel, library: Library) -> tuple[Array, Array]:
    """(F,) degrees/s to the left, within the picture, and (F,) m/s, below zero where the body goes backwards."""
    turning: list[Array] = []
    speed: list[Array] = []
    for index, original in enumerate(library.mirrors):
        if original >= 0:
            turning.append(-turning[original])
            speed.append(speed[original])
            continue
        one = measure_travel(body, library.clip(index))
        turning.append(np.degrees(one.turning_rad_s))
        speed.append(np.where(one.forward_m_s < -0.5 * one.speed_m_s, -one.speed_m_s, one.speed_m_s))
    return np.clip(np.concatenate(turning), -_MOST_DEGREES_S, _MOST_DEGREES_S), np.concatenate(speed)


def _is_shown(library: Library, name: str) -> NDArray[np.bool_]:
    """(F,) where a tag decides the colour: one that is only proposed does where nobody has given another."""
    if not library.is_only_proposed(name):
        return np.ones(len(library.motion), dtype=bool)
    given = [other for other in library.tag_names() if not library.is_only_proposed(other)]
    taken = np.zeros(len(library.motion), dtype=bool)
    for other in given:
        taken |= library.find_frames(other)
    return ~taken


def _draw_axes(pixels: Pixels, low: float, high: float) -> None:
    right, bottom = WIDTH - _RIGHT - 1, HEIGHT - _BOTTOM - 1
    for speed in range(int(np.ceil(low)), int(np.floor(high)) + 1):
        row = round(_TOP + (high - speed) / (high - low) * (bottom - _TOP))
        pixels[row, _LEFT : right + 1] = _INK if speed == 0 else _GRID
        _draw_text(pixels, _LEFT - 22, row - 4, f"{speed:>2}")
    for degrees in range(-180, 181, 90):
        column = round(_LEFT + (degrees + _MOST_DEGREES_S) / (2.0 * _MOST_DEGREES_S) * (right - _LEFT))
        pixels[_TOP : bottom + 1, column] = _INK if degrees == 0 else _GRID
        _draw_text(pixels, column - 12, bottom + 5, str(degrees))
    _draw_text(pixels, 2, 2, "m/s")
    _draw_text(pixels, _LEFT, HEIGHT - 12, "turning to the left, degrees/s")


def _draw_key(pixels: Pixels, index: int, name: str, library: Library) -> None:
    row = _TOP + 14 * index
    if row + 14 > HEIGHT:
        return
    left = WIDTH - _RIGHT + 8
    pixels[row + 1 : row + 8, left : left + 7] = COLOURS[index % len(COLOURS)]
    seconds = library.find_frames(name).sum() / library.motion.fps
    mark = "?" if library.is_only_proposed(name) else ""
    _draw_text(pixels, left + 11, row, f"{name[:11]}{mark} {seconds:.0f}s")


def _draw_text(pixels: Pixels, left: int, top: int, text: str) -> None:
    """Draw a line of text; what is beyond the edge is left out."""
    letters = render_text(text)
    room = pixels[top : top + letters.shape[0], left : left + letters.shape[1]]
    room[letters[: room.shape[0], : room.shape[1]]] = _INK
