# SPDX-License-Identifier: GPL-3.0-or-later
"""The stock clips that are installed here. They come with PyBullet, whose only wheels are for Linux.

Where they are installed, one that cannot be read is a failure, and no reason to skip anything.
"""

import importlib.util
import os

import pytest

from sinew.core.motion import Clip
from sinew.core.motion.io import stock

_REASON = "needs the stock clips, which come with PyBullet: it has no wheel for Windows and macOS"
_HERE = "SINEW_STOCK" in os.environ or importlib.util.find_spec("pybullet_data") is not None

NAMES = stock.stock_names() if _HERE else ()
needs_stock = pytest.mark.skipif(not _HERE, reason=_REASON)


def stock_clip(name: str, start: int = 0, stop: int | None = None) -> Clip:
    """A stock clip, or some frames of it; skips whoever asks for it where PyBullet cannot be installed."""
    if not _HERE:
        pytest.skip(_REASON)
    clip = stock.load_stock(name)
    return clip if stop is None else clip.frames(start, stop)
