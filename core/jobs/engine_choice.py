# SPDX-License-Identifier: GPL-3.0-or-later
"""Which physics engine a job runs on, found without importing any."""

import sys
from importlib.util import find_spec

from ..control.method import Method
from ..errors import EngineMissing
from ..sim.engines import ENGINES


def check_engine_name(engine: str) -> None:
    """Refuse an engine that Sinew does not know."""
    if engine != "auto" and engine not in ENGINES:
        raise EngineMissing(f"There is no engine '{engine}'", f"Choose one of: auto, {', '.join(ENGINES)}")


def resolve_engine(engine: str, method: Method) -> str:
    """The engine for this method on this Python: 'none' if it needs none, the fastest installed for 'auto'."""
    check_engine_name(engine)
    if not method.uses_engine:
        return "none"
    for name, row in ENGINES.items():
        if engine in ("auto", name) and find_spec(row.requires):
            return name
    missing = "No physics engine is" if engine == "auto" else f"The engine '{engine}' is not"
    package = ENGINES["mujoco" if engine == "auto" else engine].requires
    raise EngineMissing(
        f"{missing} installed for the worker's Python ({sys.executable})",
        f"Run: python -m pip install {package}, with that Python, or choose another one in Sinew's preferences",
    )
