# SPDX-License-Identifier: GPL-3.0-or-later
"""Load the launcher and its tools, which are no part of the package."""

import importlib
import importlib.util
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]


def load(name: str) -> ModuleType:
    """A module of tools/, such as ``tools.environment``."""
    if str(ROOT) not in sys.path:
        sys.path.append(str(ROOT))
    return importlib.import_module(name)


def load_launcher() -> ModuleType:
    """The file ``sinew``, which has no ending."""
    loader = SourceFileLoader("sinew_launcher", str(ROOT / "sinew"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module
