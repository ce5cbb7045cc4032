# SPDX-License-Identifier: GPL-3.0-or-later
"""``bounds test``: how long a controller stays within its bounds by itself, and in what style, as JSON."""

import argparse
import json
from contextlib import closing, suppress
from pathlib import Path

from ....core.control import registry
from ....core.control.bounds.course import CONTROL_FPS
from ....core.control.bounds.files import ENDING, load_controller
from ....core.control.bounds.playing import endured
from ....core.errors import BadSettings, BoundsError
from ....core.jobs.engine_choice import resolve_engine
from ....core.measure.style import performed
from ....core.sim import engines
from ....core.sim.stage import Character, Stage
from ..outputs import require_outputs, write_report

_MOST = 4096


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    add = parser.add_argument
    add("file", type=Path, metavar=f"FILE{ENDING}", help="what was learned")
    add("--seconds", type=float, default=20.0, metavar="S", help="how long it must last (default 20)")
    add("--copies", type=int, default=32, metavar="N", help="how many begin, spread over the course (default 32)")
    add("--engine", default="auto", help="auto, mujoco or bullet (default auto: the fastest installed)")
    add("--json", action="store_true", help="print JSON alone (the default; for scripts that say so)")
    add("--report", type=Path, metavar="FILE.json", help="write it to a file as well")


def run(arguments: argparse.Namespace) -> int:
    """Test and print; what does not last is no error."""
    if arguments.seconds < 1.0 or not 1 <= arguments.copies <= _MOST:
        raise BadSettings(
            "A test of nobody, or of no length, is none", f"Give --seconds of at least 1, --copies to {_MOST}"
        )
    arguments.out, arguments.preview = None, []
    require_outputs(arguments)
    controller = load_controller(arguments.file.resolve())
    engine = resolve_engine(arguments.engine, registry.get("bounds_bake"))
    with closing(engines.get(engine).compile(Stage((Character(controller.body),)), arguments.copies)) as world:
        found = endured(controller.course, controller.widths, controller.policy, world, arguments.seconds)
        style = None
        with suppress(BoundsError):  # a body without limbs takes up no volume
            style = vars(performed(controller, world, arguments.seconds).figures)
    report = {
        "controller": str(arguments.file),
        "engine": engine,
        "lasts": found.whole,
        "share": found.share,
        "seconds": [float(steps) / CONTROL_FPS for steps in found.lived],
        "asked_s": [float(steps) / CONTROL_FPS for steps in found.asked],
        "begun_at": found.at.tolist(),
        "left": list(found.why),
        "style": style,
        "about": dict(controller.about),
    }
    write_report(arguments, report)
    print(json.dumps(report, indent=2))
    return 0
