# SPDX-License-Identifier: GPL-3.0-or-later
"""The engines, one file each. The only place where an engine's own axes, order and names are known."""

from dataclasses import dataclass
from importlib import import_module

from ...errors import EngineMissing
from ..engine import Engine


@dataclass(frozen=True)
class EngineRow:
    """An engine in the table. factory: its module and class here, imported on demand.

    requires: the module that the worker's Python must have for it. label: what menus and reports call it.
    library: what it simulates with, in a sentence.
    """

    factory: str
    requires: str
    label: str
    library: str


# Fastest first; 'auto' takes the first that is installed.
ENGINES = {
    "mujoco": EngineRow(".mujoco:MujocoEngine", "mujoco", "MuJoCo", "MuJoCo"),
    "bullet": EngineRow(".bullet:BulletEngine", "pybullet", "Bullet", "PyBullet"),
}


def get_engine(name: str) -> Engine:
    """The engine called ``name``; imports it."""
    if name not in ENGINES:
        raise EngineMissing(f"There is no engine '{name}'", f"Choose one of: auto, {', '.join(ENGINES)}")
    module, _, class_name = ENGINES[name].factory.partition(":")
    try:
        engine: Engine = getattr(import_module(module, __package__), class_name)()
    except ImportError as error:
        raise EngineMissing(f"The engine '{name}' is not installed", "Install it for the worker's Python") from error
    return engine
