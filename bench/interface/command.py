# SPDX-License-Identifier: GPL-3.0-or-later
"""``bench interface``: how long each click, timer and redraw of Sinew's keeps Blender from listening to its user.

The usual way through the panels, and then every other button, in scenes that are easy and hard (``heavy_scenes``), each
as a click does it: what is spread over a timer or given to a thread counts by its longest piece. Of several rounds the
best of each step counts, for machines have moods; ``worked_ms`` is the processor's time of Blender's main thread alone,
which hardly depends on what else a machine does. What Blender itself does after an operator, such as its undo step, is
measured alone (``undo_push``). Panels are drawn onto a layout that takes everything and shows nothing: Blender as a
Python module has no other.
"""

import argparse
import importlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import bpy

from ...bridge.scene.muted_output import mute_output
from ...bridge.setup import preferences
from ...core import jobs
from .. import heavy_scenes
from ..options import print_progress, split_words
from .clicks import (
    BLENDERS_LOOK,
    BLENDERS_LOOK_AT_BAKED,
    BLENDERS_UNDO_STEP,
    UNTIL_BAKED,
    UNTIL_BEGUN,
    Spent,
    choose_each,
    end_jobs,
)
from .rounds import BLENDERS_LOOK_AT_CHANGED, KEY_BY_HAND, UNDO_PUSH, take_round

GOAL_MS, DRAW_GOAL_MS = 100.0, 5.0
# What Blender does by itself, whoever gives an armature an Action or makes an undo step; and how long is waited while
# the interface goes on.
_NO_BLOCK = (UNDO_PUSH, BLENDERS_LOOK_AT_BAKED, BLENDERS_LOOK_AT_CHANGED, KEY_BY_HAND, UNTIL_BAKED)
_NO_BLOCK_ENDINGS = (UNTIL_BEGUN, BLENDERS_LOOK, BLENDERS_UNDO_STEP)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the benchmark's own arguments."""
    names = ", ".join(heavy_scenes.SCENES)
    parser.add_argument(
        "--only", type=split_words, default=(), metavar="SCENES", help=f"some of: {names}; if left out, all"
    )
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="the best of so many counts (default 3)")


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """Milliseconds that each step blocks, scene by scene, and which steps take longer than they should."""
    found: dict[str, dict[str, Spent]] = {}
    with mute_output(), sinew_enabled():  # Blender prints what operators report, and nothing but JSON is to come out
        jobs.find_worker_python(preferences.preferred_python())  # tried out once a session
        for name in arguments.only or heavy_scenes.SCENES:
            for number in range(max(arguments.rounds, 1)):
                print_progress(f"{name}, round {number + 1}")
                for step, spent in take_round(heavy_scenes.SCENES[name]).items():
                    known = found.setdefault(name, {})
                    known[step] = choose_each(min, known.get(step, spent), spent)
    kinds = {"blocked_ms": 0, "worked_ms": 1}
    figures = {
        kind: {name: {step: both[place] for step, both in steps.items()} for name, steps in found.items()}
        for kind, place in kinds.items()
    }
    slow = {
        name: {step: ms for step, ms in steps.items() if ms > goal_of(step) and is_sinews(step)}
        for name, steps in figures["blocked_ms"].items()
    }
    return {
        "goal_ms": GOAL_MS,
        "draw_goal_ms": DRAW_GOAL_MS,
        "blender": bpy.app.version_string,
        **figures,
        "too_long": slow,
    }


def goal_of(step: str) -> float:
    """How long a step may take: a redraw comes again and again."""
    return DRAW_GOAL_MS if step.startswith("draw,") else GOAL_MS


def is_sinews(step: str) -> bool:
    """Whether a step blocks, and by what Sinew does."""
    return step not in _NO_BLOCK and not step.endswith(_NO_BLOCK_ENDINGS)


@contextmanager
def sinew_enabled() -> Iterator[None]:
    """The whole add-on in this Blender, with jobs in a folder that goes away again."""
    package = importlib.import_module(preferences.ROOT_PACKAGE)
    was_there, before = hasattr(bpy.types.Scene, "sinew"), os.environ.get("SINEW_JOBS")
    with tempfile.TemporaryDirectory(prefix="sinew-interface-", ignore_cleanup_errors=True) as folder:
        os.environ["SINEW_JOBS"] = folder
        if not was_there:
            package.register()
        try:
            yield
        finally:
            end_jobs()
            if not was_there:
                package.unregister()
            os.environ.pop("SINEW_JOBS", None)
            if before is not None:
                os.environ["SINEW_JOBS"] = before
