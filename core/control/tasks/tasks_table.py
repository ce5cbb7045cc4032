# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of tasks: a new one is a row here."""

from importlib import import_module

from ...errors import BadSettings
from .task import Task

# name -> module and class
_TASKS = {
    "point_goal": ".point_goal:PointGoal",
    "joystick": ".joystick:Joystick",
    "path": ".path_follower:PathFollower",
    "maze": ".maze:Maze",
    "terrain": ".terrain:RoughTerrain",
    "peaks": ".terrain:FivePeaks",
    "circle": ".crowd:Circle",
    "carrefour": ".crowd:Carrefour",
    "corridor": ".crowd:Corridor",
    "bag": ".boxing_bag:BoxingBag",
}


def task_names() -> tuple[str, ...]:
    """Every task there is, in the order of the table."""
    return tuple(_TASKS)


def get_task(name: str) -> type[Task]:
    """The task called ``name``; hyphens and underscores are the same."""
    known = name.replace("-", "_")
    if known not in _TASKS:
        raise BadSettings(f"There is no task '{name}'", f"Choose one of: {', '.join(_TASKS)}")
    module, _, class_name = _TASKS[known].partition(":")
    found: type[Task] = getattr(import_module(module, __package__), class_name)
    return found
