# SPDX-License-Identifier: GPL-3.0-or-later
"""Load the launcher and its tools, which are no part of the package."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]


def load(name: str) -> ModuleType:
    """A module of tools/, such as ``tools.environment``."""
    if str(ROOT) not in sys.path:
        sys.path.append(str(ROOT))
    return importlib.import_module(name)
