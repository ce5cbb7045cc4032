# SPDX-License-Identifier: GPL-3.0-or-later
"""The engines that are installed here: MuJoCo everywhere, and PyBullet where it has a wheel.

One that is installed and cannot be used is a failure, and no reason to skip anything.
"""

import importlib.util

import pytest

from sinew.core.sim import engines
from sinew.core.sim.engine import Engine

HAS_BULLET = importlib.util.find_spec("pybullet") is not None
needs_bullet = pytest.mark.skipif(not HAS_BULLET, reason="needs PyBullet, which has no wheel for Windows and macOS")


def engine_here(name: str) -> Engine:
    """The engine of that name; skips whoever asks for PyBullet where it cannot be installed."""
    if name == "bullet" and not HAS_BULLET:
        pytest.skip(needs_bullet.kwargs["reason"])
    return engines.get_engine(name)
