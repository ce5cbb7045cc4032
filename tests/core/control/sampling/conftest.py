# SPDX-License-Identifier: GPL-3.0-or-later
"""Lets the tests of this folder share ``toys`` and ``stages``, and the engines' ``bodies``, by name."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "sim")]
