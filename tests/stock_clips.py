# SPDX-License-Identifier: GPL-3.0-or-later
"""The stock clips that are installed here. They come with PyBullet, whose only wheels are for Linux."""

import pytest

from sinew.core.errors import BadFile
from sinew.core.motion.io import stock

try:
    NAMES = stock.names()
except BadFile:
    NAMES = ()
needs_stock = pytest.mark.skipif(
    not NAMES, reason="needs the stock clips, which come with PyBullet: it has no wheel for Windows and macOS"
)
