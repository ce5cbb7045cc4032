# SPDX-License-Identifier: GPL-3.0-or-later
"""Lets the tests of this folder share ``figures_seen`` and the engines' ``bodies`` by name."""

import sys
from pathlib import Path

for folder in (Path(__file__).parent, Path(__file__).parent.parent / "sim"):
    sys.path.insert(0, str(folder))
