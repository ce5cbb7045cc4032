# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds a text on a picture of the screen, by how well what is there correlates with what it should look like."""

from __future__ import annotations

import numpy as np

GOOD = 0.9  # of 1: the same word has 0.98, underlined letters cost a little, another word far more


def best(seen: np.ndarray, wanted: np.ndarray) -> tuple[float, int, int]:
    """How alike the most alike place is, and the pixel in its middle (x, y).

    seen: (H, W), wanted: (h, w), both grey; light on dark and dark on light are two different things.
    """
    h, w = wanted.shape
    pattern = wanted - wanted.mean()
    spread = np.sqrt((pattern**2).sum())
    around = [n + m for n, m in zip(seen.shape, wanted.shape)]
    turned = np.fft.rfft2(pattern[::-1, ::-1], around)
    product = np.fft.irfft2(np.fft.rfft2(seen, around) * turned, around)[h - 1 : seen.shape[0], w - 1 : seen.shape[1]]
    total, squares = _sums(seen, h, w), _sums(seen**2, h, w)
    lively = np.maximum(squares - total**2 / (h * w), 1.0)
    alike = product / (spread * np.sqrt(lively))
    alike[lively < 0.02 * spread**2] = 0.0  # an empty wall is like everything
    y, x = np.unravel_index(int(alike.argmax()), alike.shape)
    return float(alike[y, x]), int(x) + w // 2, int(y) + h // 2


def _sums(values: np.ndarray, h: int, w: int) -> np.ndarray:
    """Of all windows of h by w."""
    added = np.pad(values, ((1, 0), (1, 0))).cumsum(0).cumsum(1)
    return added[h:, w:] - added[:-h, w:] - added[h:, :-w] + added[:-h, :-w]
