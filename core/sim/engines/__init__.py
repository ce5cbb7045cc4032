# SPDX-License-Identifier: GPL-3.0-or-later
"""The engines, one file each. The only place where an engine's own axes, order and names are known."""

from importlib import import_module

from ...errors import EngineMissing
from ..engine import Engine

# Fastest first; 'auto' takes the first that is installed.
_ENGINES = {
    "mujoco": ".mujoco:MujocoEngine",
    "bullet": ".bullet:BulletEngine",
}


def get_engine(name: str) -> Engine:
    """The engine called 'mujoco' or 'bullet'; imports it."""
    if name not in _ENGINES:
        raise EngineMissing(f"There is no engine '{name}'", f"Choose one of: auto, {', '.join(_ENGINES)}")
    module, _, class_name = _ENGINES[name].partition(":")
    try:
        engine: Engine = getattr(import_module(module, __package__), class_name)()
    except ImportError as error:
        raise EngineMissing(f"The engine '{name}' is not installed", "Install it for the worker's Python") from error
    return engine
