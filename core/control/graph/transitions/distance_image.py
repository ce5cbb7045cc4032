# SPDX-License-Identifier: GPL-3.0-or-later
"""The distance matrix of all skills as an image, with candidate and accepted transitions marked.

Every row is a moment at which a skill could be left, every column one at which a skill could be entered; bright is
near. Get-ups are not entered by transitions, and have no columns.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ....body.model import BodyModel
from ....files import write_whole
from ....geometry.bitmap_font import HEIGHT, WIDTH, render_text
from ....geometry.png import encode_png
from ....geometry.quaternions import Array
from .distances import Candidate, find_candidates, point_cloud_distances, point_clouds_of
from .motion_graph import FRAGMENT_S, MotionGraph, Skill, Transition

Pixels = NDArray[np.uint8]
Colour = tuple[int, int, int]

_PAPER, _INK, _FAINT = (24, 26, 31), (230, 232, 236), (120, 124, 134)
_CANDIDATE, _ACCEPTED, _RIM = (255, 158, 42), (64, 214, 122), (8, 30, 16)
_BRIGHT = np.array([250.0, 250.0, 245.0])
# Metres after which what is left of the brightness is a third; in between is what one can tell apart.
_DIMS_M = 0.3
_LEGEND_M = (0.0, 0.1, 0.2, 0.3, 0.5, 0.8)
_SIDE = 1100  # pixels that all moments together should have
_CELLS = (1, 16)
_GAP, _MARGIN, _TEXT, _TICK = 4, 14, 2, 6
_TICK_S = 0.5
_LINE = HEIGHT * _TEXT + 4
_HEADING = (
    "rows: when a skill is left    columns: when one is entered",
    f"a square is {FRAGMENT_S:g} s, a tick {_TICK_S:g} s, bright is near",
)
_LONGEST = "  0  0.1  0.2  0.3  0.5  0.8 m" + 10 * " "  # the legend of distances


def write_distance_image(
    path: Path, body: BodyModel, graph: MotionGraph, found: Sequence[Candidate] | None = None
) -> None:
    """Write the distance matrix of a graph as a PNG; its transitions are the accepted ones."""
    write_whole(path, encode_png(draw_distance_image(body, graph.skills, graph.transitions, found)))


def draw_distance_image(
    body: BodyModel,
    skills: Sequence[Skill],
    accepted: Sequence[Transition] = (),
    found: Sequence[Candidate] | None = None,
) -> Pixels:
    """(H, W, 3) bytes, the top row first: all distances, candidates as rings and accepted transitions as dots.

    found: the candidates, looked for if None.
    """
    graph = MotionGraph(tuple(skills), tuple(accepted))
    found = find_candidates(body, skills) if found is None else found
    layout = _PixelLayout(graph.skills)
    pixels = np.empty((*layout.size, 3), dtype=np.uint8)
    pixels[:] = _PAPER
    clouds = {skill.name: point_clouds_of(body, skill) for skill in graph.skills}
    for source in graph.skills:
        for target in layout.entered:
            far = point_cloud_distances(clouds[source.name], clouds[target.name])[
                : layout.count(source), : layout.count(target)
            ]
            block = np.repeat(np.repeat(_grey(_shade(far)), layout.cell, axis=0), layout.cell, axis=1)
            _paste(pixels, block, layout.y[source.name], layout.x[target.name])
    _label(pixels, layout)
    transitions = set(graph.transitions)
    for one in found:
        if one.transition not in transitions:
            _ring(pixels, *layout.place(one.transition), layout.dot, _CANDIDATE)
    for transition in graph.transitions:
        _dot(pixels, *layout.place(transition), layout.dot)
    _explain(pixels, layout)
    return pixels


class _PixelLayout:
    """Where everything is in the image, in pixels.

    left, entered: the skills that have rows and columns. cell: pixels a moment. x, y: where each skill begins.
    size: (H, W). foot: what is below all skills. dot: radius of a mark. upright: whether names above stand on end.
    """

    def __init__(self, skills: Sequence[Skill]) -> None:
        self.left = tuple(skills)
        self.entered = tuple(skill for skill in skills if skill.kind != "rise") or self.left
        self.cell = int(np.clip(_SIDE // sum(self.count(skill) for skill in skills), *_CELLS))
        self.dot = max(5, round(0.6 * self.cell))
        widest = max(_wide(skill.name) for skill in skills)
        self.upright = any(_wide(skill.name) > self.count(skill) * self.cell for skill in self.entered)
        first_y = _MARGIN + len(_HEADING) * _LINE + (widest if self.upright else _LINE) + _TICK + _GAP
        self.y, self.foot = self._row(self.left, first_y)
        self.x, right = self._row(self.entered, _MARGIN + widest + _TICK + _GAP)
        least = max(_wide(line) for line in (*_HEADING, _LONGEST)) + 2 * _MARGIN
        self.size = self.foot + 3 * _LINE + _MARGIN, max(right + _MARGIN, least)

    def count(self, skill: Skill) -> int:
        """How many moments a skill has; the end of a cycle is its beginning and not there twice."""
        return skill.fragments + (skill.kind != "cycle")

    def _row(self, skills: Sequence[Skill], first: int) -> tuple[dict[str, int], int]:
        """By name where skills side by side begin, and where the last ends."""
        starts = {}
        for skill in skills:
            starts[skill.name] = first
            first += self.count(skill) * self.cell + _GAP
        return starts, first

    def place(self, transition: Transition) -> tuple[int, int]:
        """The middle of a transition's moment: y, x."""
        by_name = {skill.name: skill for skill in self.left}
        row = by_name[transition.source].boundary_near(transition.leave_s)
        column = by_name[transition.target].boundary_near(transition.enter_s)
        half = self.cell // 2
        return self.y[transition.source] + row * self.cell + half, self.x[transition.target] + column * self.cell + half


def _wide(text: str) -> int:
    return WIDTH * _TEXT * len(text)


def _label(pixels: Pixels, layout: _PixelLayout) -> None:
    """What is seen, and names and seconds along the two sides."""
    for line, text in enumerate(_HEADING):
        _write(pixels, text, _MARGIN + line * _LINE, _MARGIN, _INK if line == 0 else _FAINT)
    top, left = min(layout.y.values()) - _GAP, min(layout.x.values()) - _GAP
    for skill in layout.left:
        name, first, length = render_text(skill.name, _TEXT), layout.y[skill.name], layout.count(skill) * layout.cell
        _stamp(pixels, name, first + (length - name.shape[0]) // 2, left - _TICK - name.shape[1], _INK)
        for at, long in _ticks(layout, skill):
            pixels[first + at, left - long : left] = _FAINT
    for skill in layout.entered:
        name, first, length = render_text(skill.name, _TEXT), layout.x[skill.name], layout.count(skill) * layout.cell
        name = np.rot90(name) if layout.upright else name
        _stamp(pixels, name, top - _TICK - name.shape[0], first + (length - name.shape[1]) // 2, _INK)
        for at, long in _ticks(layout, skill):
            pixels[top - long : top, first + at] = _FAINT


def _ticks(layout: _PixelLayout, skill: Skill) -> list[tuple[int, int]]:
    """Where a skill's ticks are, and how long they are; whole seconds have longer ones."""
    times_s = np.arange(0.0, skill.duration_s + 1e-6, _TICK_S)
    ticks = np.round(times_s / skill.duration_s * skill.fragments * layout.cell).astype(int)
    return [
        (int(at), _TICK if number % 2 == 0 else _TICK // 2)
        for number, at in enumerate(ticks)
        if at < layout.count(skill) * layout.cell
    ]


def _explain(pixels: Pixels, layout: _PixelLayout) -> None:
    """What brightness and marks mean, below."""
    x = _MARGIN
    for metres in _LEGEND_M:
        _paste(pixels, np.broadcast_to(_grey(_shade(np.array([[metres]]))), (_LINE - 4, 20, 3)), layout.foot, x)
        x += 24
        x = _write(pixels, f"{metres:g}" + (" m" if metres == _LEGEND_M[-1] else ""), layout.foot, x, _FAINT) + 8
    y, middle = layout.foot + round(1.5 * _LINE), layout.foot + 2 * _LINE - 2
    x = _MARGIN + layout.dot
    _ring(pixels, middle, x, layout.dot, _CANDIDATE)
    x = _write(pixels, "candidate", y, x + layout.dot + 8, _INK) + 24 + layout.dot
    _dot(pixels, middle, x, layout.dot)
    _write(pixels, "accepted", y, x + layout.dot + 8, _INK)


def _shade(far: Array) -> Array:
    """0 to 1: the nearer the brighter."""
    return np.exp(-far / _DIMS_M)


def _grey(shade: Array) -> Pixels:
    return np.asarray(np.round(shade[..., None] * _BRIGHT), dtype=np.uint8)


def _paste(pixels: Pixels, block: Pixels, y: int, x: int) -> None:
    pixels[y : y + block.shape[0], x : x + block.shape[1]] = block


def _write(pixels: Pixels, text: str, y: int, x: int, colour: Colour) -> int:
    """Write a line of text with its upper left corner there; gives where it ends."""
    letters = render_text(text, _TEXT)
    _stamp(pixels, letters, y, x, colour)
    return x + letters.shape[1]


def _stamp(pixels: Pixels, shape: NDArray[np.bool_], y: int, x: int, colour: Colour) -> None:
    """Colour the pixels of a shape (h, w) whose upper left corner is there; what is outside of the picture is cut."""
    rows, columns = np.nonzero(shape)
    rows, columns = rows + y, columns + x
    inside = (rows >= 0) & (rows < pixels.shape[0]) & (columns >= 0) & (columns < pixels.shape[1])
    pixels[rows[inside], columns[inside]] = colour


def _disc(radius: float) -> Array:
    """(2 r + 1, 2 r + 1) how far pixels are from the middle."""
    reach = int(np.ceil(radius))
    line = np.arange(-reach, reach + 1)
    return np.hypot(line[:, None], line[None])


def _ring(pixels: Pixels, y: int, x: int, radius: int, colour: Colour) -> None:
    for outer, inner, tone in ((radius + 1, radius - 3, _PAPER), (radius, radius - 2, colour)):
        away = _disc(outer)
        _stamp(pixels, (away <= outer + 0.3) & (away >= inner), y - outer, x - outer, tone)


def _dot(pixels: Pixels, y: int, x: int, radius: int) -> None:
    for outer, tone in ((radius + 2, _RIM), (radius, _ACCEPTED)):
        _stamp(pixels, _disc(outer) <= outer + 0.3, y - outer, x - outer, tone)
