# SPDX-License-Identifier: GPL-3.0-or-later
"""Styles one after the other, from a text such as 'walk 3, run 2, crouch'."""

import numpy as np
from numpy.typing import NDArray

from ...errors import BadSettings
from .features import FPS

Styles = tuple[tuple[str, ...], ...]


def parse_styles(text: str, frames: int) -> tuple[Styles, NDArray[np.int64]]:
    """The lists of tags that are named, and (T,) which of them each frame has; the last one goes on to the end.

    A style is a tag, or several with '+' between. All but the last have the seconds behind them that they last.
    """
    style = np.zeros(frames, dtype=np.int64)
    words = [word.strip() for word in text.split(",") if word.strip()]
    if not words:
        return ((),), style
    found: list[tuple[str, ...]] = []
    begin_s = 0.0
    for number, word in enumerate(words):
        name, _, last = word.rpartition(" ")
        seconds = _seconds(last) if name else None
        tags = tuple(part.strip() for part in (name if seconds is not None else word).split("+") if part.strip())
        if not tags or (seconds is None and number < len(words) - 1):
            raise BadSettings(
                f"'{word}' does not say for how long", "Write seconds behind all styles but the last: walk 3, run"
            )
        style[round(begin_s * FPS) :] = number
        found.append(tags)
        begin_s += seconds or 0.0
    return tuple(found), style


def _seconds(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if np.isfinite(value) and value > 0.0 else None
