# SPDX-License-Identifier: GPL-3.0-or-later
"""Learning curves as SVG (the paper's figure 9): change of policies and maximal recoverable push, by iteration."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

_WIDTH, _HEIGHT = 360, 200
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 52, 30, 30
_CHANGE, _PUSH, _INK, _GRID = "#2a6fb0", "#c2571a", "#555555", "#dddddd"
_TICKS = 4


def draw_learning_curve(title: str, curve: Sequence[Mapping[str, Any]], floor_n: float | None = None) -> str:
    """An SVG of the curve: changes fall (left scale), pushes rise (right scale); a dashed line is the floor.

    A fall without any push is a ring on the ground line.
    """
    steps = np.arange(1, len(curve) + 1)
    changes, pushes = ([one.get(name) for one in curve] for name in ("change", "push_n"))
    most_change, most_push = _round_up(changes), _round_up([*pushes, floor_n])
    size = f'viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="10">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        _text(_WIDTH / 2, 16, _escaped(title), "middle", _INK, 12),
        _text(_LEFT - 6, 14, "change", "end", _CHANGE),
        _text(_WIDTH - _RIGHT + 6, 14, "push", "start", _PUSH),
    ]
    for tick in range(_TICKS + 1):
        share = tick / _TICKS
        parts.append(_line([(0.0, share), (1.0, share)], _GRID, 1))
        y = _y(share) + 3.5
        parts.append(_text(_LEFT - 6, y, f"{share * most_change:.3g}", "end", _CHANGE))
        parts.append(_text(_WIDTH - _RIGHT + 6, y, f"{share * most_push:.0f} N", "start", _PUSH))
    across = _across(len(curve))
    labelled = steps[:: max(int(np.ceil(len(steps) / 12)), 1)]
    parts += [_text(_x(across[step - 1]), _HEIGHT - _BOTTOM + 14, str(step), "middle", _INK) for step in labelled]
    parts.append(_text(_WIDTH / 2, _HEIGHT - 4, "iteration", "middle", _INK))
    if floor_n is not None:
        parts.append(_line([(0.0, floor_n / most_push), (1.0, floor_n / most_push)], _PUSH, 1, "4 3"))
    for values, most, colour in ((changes, most_change, _CHANGE), (pushes, most_push, _PUSH)):
        points = [(x, value / most) for x, value in zip(across, values, strict=True) if value is not None]
        if points:
            parts.append(_line([(x, max(y, 0.0)) for x, y in points], colour, 2))
            parts += [_mark(x, y, colour) for x, y in points]
    return "\n".join([*parts, "</svg>", ""])


def _across(count: int) -> list[float]:
    return [0.5] if count == 1 else [index / (count - 1) for index in range(count)]


def _round_up(values: Sequence[float | None]) -> float:
    """The next of 1, 2, 4, 6, 8, 10 times a power of ten at or above all values; 1 where there are none."""
    most = max((value for value in values if value is not None), default=0.0)
    if most <= 0.0:
        return 1.0
    ten = 10.0 ** np.floor(np.log10(most))
    return float(next(ten * step for step in (1, 2, 4, 6, 8, 10) if ten * step >= most * (1.0 - 1e-9)))


def _x(share: float) -> float:
    return _LEFT + share * (_WIDTH - _LEFT - _RIGHT)


def _y(share: float) -> float:
    return _HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM)


def _line(points: Sequence[tuple[float, float]], colour: str, width: float, dashes: str = "") -> str:
    places = " ".join(f"{_x(x):.1f},{_y(y):.1f}" for x, y in points)
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<polyline points="{places}" fill="none" stroke="{colour}" stroke-width="{width}"{dashed}/>'


def _mark(x: float, y: float, colour: str) -> str:
    """A dot; a ring at 0 for what is less than that."""
    dot = f'fill="{colour}"' if y >= 0.0 else f'fill="white" stroke="{colour}" stroke-width="1.5"'
    return f'<circle cx="{_x(x):.1f}" cy="{_y(max(y, 0.0)):.1f}" r="2.5" {dot}/>'


def _text(x: float, y: float, words: str, anchor: str, colour: str, size: int = 10) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}" font-size="{size}">{words}</text>'


def _escaped(words: str) -> str:
    return words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
