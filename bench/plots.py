# SPDX-License-Identifier: GPL-3.0-or-later
"""Plain drawings as SVG: lines and dots over two axes, and a field of values as shades."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..core.geometry.quaternions import Array

COLOURS = ("#2a6fb0", "#c2571a", "#3a8f4d", "#8a5aa8", "#777777", "#b03a5b", "#2f9c95", "#a38a1f")
_WIDTH, _HEIGHT = 400, 230
_LEFT, _RIGHT, _TOP, _BOTTOM = 48, 14, 30, 40
_INK, _GRID = "#555555", "#dddddd"
_TICKS = 4
_LEGEND, _LETTER = 14, 6.2
_LIGHT, _DARK = np.array([245.0, 247.0, 250.0]), np.array([24.0, 68.0, 120.0])


@dataclass(frozen=True, eq=False)
class Series:
    """A line through points, or the points as dots: x, y of the same length, in the axes' own units."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    dots: bool = False
    dashed: bool = False


def draw_axes(title: str, across: str, up: str, marks: Sequence[Series], level: float | None = None) -> str:
    """An SVG of marks over two axes that begin at 0 where nothing is less; a dashed line is a level to be reached."""
    known = [one for one in marks if len(one.x)]
    low_x, high_x = _ends([value for one in known for value in one.x])
    low_y, high_y = _ends([value for one in known for value in one.y] + ([] if level is None else [level]))
    parts = [*_frame(title, across, up), *_ticks((low_x, high_x), (low_y, high_y))]
    place = _Place((low_x, high_x), (low_y, high_y))
    if level is not None:
        parts.append(_path(place, [low_x, high_x], [level, level], _INK, "4 3"))
    for index, one in enumerate(marks):
        colour = COLOURS[index % len(COLOURS)]
        if one.dots:
            parts += [
                f'<circle cx="{place.x(x):.1f}" cy="{place.y(y):.1f}" r="1.6" fill="{colour}"/>'
                for x, y in zip(one.x, one.y, strict=True)
            ]
        elif len(one.x):
            parts.append(_path(place, one.x, one.y, colour, "5 3" if one.dashed else ""))
    return "\n".join([*parts, *_legend(marks), "</svg>", ""])


def draw_heatmap(title: str, across: str, up: str, values: Array, x: Sequence[float], y: Sequence[float]) -> str:
    """An SVG of values (M, S) as shades: M columns at x (M,), S rows between y (S + 1,). The darkest is the largest."""
    shown = np.asarray(values, dtype=float)
    low, high = (float(shown.min()), float(shown.max())) if shown.size else (0.0, 0.0)
    share = (shown - low) / (high - low) if high > low else np.zeros_like(shown)
    edges = np.concatenate([[0.0], np.asarray(x, dtype=float)])
    place = _Place((0.0, float(edges[-1]) or 1.0), (float(y[0]), float(y[-1])))
    parts = [*_frame(title, across, up)]
    for column in range(len(shown)):
        for row in range(shown.shape[1]):
            left, right = place.x(edges[column]), place.x(edges[column + 1])
            top, bottom = place.y(y[row + 1]), place.y(y[row])
            parts.append(
                f'<rect x="{left:.1f}" y="{top:.1f}" width="{right - left + 0.3:.1f}" height="{bottom - top + 0.3:.1f}"'
                f' fill="{_shade(float(share[column, row]))}"/>'
            )
    parts += _ticks((0.0, float(edges[-1]) or 1.0), (float(y[0]), float(y[-1])), lines=False)
    parts.append(_text(_WIDTH - _RIGHT, 26, f"{low:.3g} (light) to {high:.3g} (dark)", "end"))
    return "\n".join([*parts, "</svg>", ""])


def running_mean(values: Sequence[float], count: int = 60) -> list[float]:
    """The values as running means, so that about ``count`` of them would be independent."""
    shown = np.asarray(values, dtype=float)
    width = max(1, len(shown) // count)
    if width == 1:
        return [float(value) for value in shown]
    weights = np.ones(2 * (width // 2) + 1)
    total = np.convolve(shown, weights, mode="same")
    number = np.convolve(np.ones_like(shown), weights, mode="same")
    return [float(value) for value in total / number]


@dataclass(frozen=True)
class _Place:
    """Where values are on the drawing."""

    across: tuple[float, float]
    up: tuple[float, float]

    def x(self, value: float) -> float:
        share = (value - self.across[0]) / (self.across[1] - self.across[0])
        return float(_LEFT + share * (_WIDTH - _LEFT - _RIGHT))

    def y(self, value: float) -> float:
        share = (value - self.up[0]) / (self.up[1] - self.up[0])
        return float(_HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM))


def _ends(values: Sequence[float]) -> tuple[float, float]:
    """From where to where an axis goes: round numbers around all values."""
    finite = [float(value) for value in values if np.isfinite(value)]
    low, high = min([0.0, *finite]), max([0.0, *finite])
    if high <= low:
        return low, low + 1.0
    step = 10.0 ** np.floor(np.log10((high - low) / _TICKS))
    for times in (1.0, 2.0, 2.5, 5.0, 10.0, 20.0):
        first = float(np.floor(low / (step * times) + 1e-9) * step * times)
        if first + _TICKS * step * times >= high * (1.0 - 1e-9):
            break
    return first, first + _TICKS * float(step * times)


def _frame(title: str, across: str, up: str) -> list[str]:
    size = f'viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}"'
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="10">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        _text(_WIDTH / 2, 14, title, "middle", size=12),
        _text(_WIDTH - _RIGHT, _HEIGHT - _BOTTOM + 26, across, "end"),
        _text(6, 26, up, "start"),
    ]


def _ticks(across: tuple[float, float], up: tuple[float, float], lines: bool = True) -> list[str]:
    parts, place = [], _Place(across, up)
    for tick in range(_TICKS + 1):
        x, y = (ends[0] + (ends[1] - ends[0]) * tick / _TICKS for ends in (across, up))
        if lines:
            parts.append(_path(place, across, (y, y), _GRID))
        parts.append(_text(_LEFT - 5, place.y(y) + 3.5, f"{y:.3g}", "end"))
        parts.append(_text(place.x(x), _HEIGHT - _BOTTOM + 13, f"{x:.3g}", "middle"))
    return parts


def _legend(marks: Sequence[Series]) -> list[str]:
    parts, x = [], float(_LEFT)
    for index, one in enumerate(marks):
        if one.name:
            parts.append(f'<rect x="{x:.1f}" y="{_HEIGHT - 12}" width="8" height="8" fill="{_colour(index)}"/>')
            parts.append(_text(x + 11, _HEIGHT - 4, one.name, "start"))
            x += _LEGEND + 11 + _LETTER * len(one.name)
    return parts


def _colour(index: int) -> str:
    return COLOURS[index % len(COLOURS)]


def _shade(share: float) -> str:
    return "#" + "".join(f"{round(float(value)):02x}" for value in _LIGHT + share * (_DARK - _LIGHT))


def _path(place: _Place, x: Sequence[float], y: Sequence[float], colour: str, dashes: str = "") -> str:
    points = " ".join(f"{place.x(a):.1f},{place.y(b):.1f}" for a, b in zip(x, y, strict=True) if np.isfinite(b))
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    width = 1 if colour in (_GRID, _INK) else 1.5
    return f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="{width}"{dashed}/>'


def _text(x: float, y: float, words: str, anchor: str, size: int = 10) -> str:
    safe = words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{_INK}" font-size="{size}">{safe}</text>'
