# SPDX-License-Identifier: GPL-3.0-or-later
"""A node's side of calls: a function of Sinew's, called as often as it is wanted."""

import os
from importlib import import_module
from typing import Any

from ...cores import CORES


class CallHost:
    """Calls a function of a module. cores: how many it may keep busy."""

    def __init__(self, module: str, name: str, cores: int) -> None:
        os.environ[CORES] = str(cores)
        self._function = getattr(import_module(module), name)

    def call(self, *words: Any) -> Any:
        """What it returns for these words."""
        return self._function(*words)
