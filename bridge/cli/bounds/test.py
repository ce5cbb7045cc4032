# SPDX-License-Identifier: GPL-3.0-or-later
"""``bounds test``: how long a controller lasts by itself, how hard a push it stands, and in what style, as JSON."""

import argparse
import json
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from ....core.control import registry
from ....core.control.bounds.controller import Controller
from ....core.control.bounds.endurance import measure_policy_endurance
from ....core.control.bounds.files import ENDING, load_controller
from ....core.control.bounds.push_recovery import SIDES, STEP_N, measure_push_recovery
from ....core.control.bounds.reference_trajectory import CONTROL_FPS
from ....core.control.bounds.style.measurement import measure_style
from ....core.errors import BadSettings, BoundsError
from ....core.jobs.engine_choice import resolve_engine
from ....core.sim import engines
from ....core.sim.engine import World
from ....core.sim.stage import Character, Stage
from ..outputs import require_outputs, write_report

_TESTS = ("lasts", "push", "style")
_MOST = 4096


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    add = parser.add_argument
    add("file", type=Path, metavar=f"FILE{ENDING}", help="what was learned")
    add(
        "--only",
        default=",".join(_TESTS),
        metavar="TESTS",
        help="of lasts: how long it stays within its bounds; push: the hardest push after which it stays up; style: "
        "its energy and volume (default all)",
    )
    add(
        "--seconds", type=float, default=20.0, metavar="S", help="how long it must last, also after a push (default 20)"
    )
    add("--copies", type=int, default=32, metavar="N", help="how many begin, spread over the course (default 32)")
    add("--side", default="back", help=f"where pushes come from: {', '.join(SIDES)} (default back)")
    add("--hardest", type=float, default=800.0, metavar="N", help="newtons that pushes go up to (default 800)")
    add("--engine", default="auto", help="auto, mujoco or bullet (default auto: the fastest installed)")
    add("--json", action="store_true", help="print JSON alone (the default; for scripts that say so)")
    add("--report", type=Path, metavar="FILE.json", help="write it to a file as well")


def run(arguments: argparse.Namespace) -> int:
    """Test and print; what does not last is no error."""
    wanted = _wanted(arguments)
    arguments.out, arguments.preview = None, []
    require_outputs(arguments)
    controller = load_controller(arguments.file.resolve())
    engine = resolve_engine(arguments.engine, registry.get("bounds_bake"))
    report: dict[str, Any] = {"controller": str(arguments.file), "engine": engine, "mass_kg": controller.body.mass}

    def world_of(copies: int) -> closing[World]:
        return closing(engines.get_engine(engine).compile(Stage((Character(controller.body),)), copies))

    if "lasts" in wanted or "style" in wanted:
        with world_of(arguments.copies) as world:
            if "lasts" in wanted:
                report |= _lasting(controller, world, arguments.seconds)
            if "style" in wanted:
                report["style"] = None
                with suppress(BoundsError):  # a body without limbs takes up no volume
                    report["style"] = vars(measure_style(controller, world, arguments.seconds).figures)
    if "push" in wanted:
        with world_of(int(arguments.hardest // STEP_N) + 1) as world:
            report["push"] = _pushing(controller, world, arguments)
    report["about"] = dict(controller.about)
    write_report(arguments, report)
    print(json.dumps(report, indent=2))
    return 0


def _wanted(arguments: argparse.Namespace) -> list[str]:
    """The tests that are asked for; what is none is refused."""
    found = [name.strip() for name in arguments.only.split(",") if name.strip()]
    if unknown := [name for name in found if name not in _TESTS]:
        raise BadSettings(f"There is no test '{unknown[0]}'", f"Choose among: {', '.join(_TESTS)}")
    if arguments.seconds < 1.0 or not 1 <= arguments.copies <= _MOST:
        raise BadSettings(
            "A test of nobody, or of no length, is none", f"Give --seconds of at least 1, --copies to {_MOST}"
        )
    if arguments.side not in SIDES:
        raise BadSettings(f"Nothing comes from '{arguments.side}'", f"Choose from: {', '.join(SIDES)}")
    if not STEP_N <= arguments.hardest <= STEP_N * _MOST:
        raise BadSettings(
            f"{arguments.hardest:g} N are no push", f"Give --hardest from {STEP_N:g} to {STEP_N * _MOST:g}"
        )
    return found


def _lasting(controller: Controller, world: World, seconds: float) -> dict[str, Any]:
    found = measure_policy_endurance(controller.reference, controller.widths, controller.policy, world, seconds)
    return {
        "lasts": found.whole,
        "share": found.share,
        "seconds": [float(steps) / CONTROL_FPS for steps in found.survived_steps],
        "asked_s": [float(steps) / CONTROL_FPS for steps in found.requested_steps],
        "begun_at": found.at.tolist(),
        "left": list(found.violated),
    }


def _pushing(controller: Controller, world: World, arguments: argparse.Namespace) -> dict[str, Any]:
    """The hardest push that it stands; seconds that it stays up after each, and those beyond that it stood as well."""
    own = (controller.reference, controller.widths, controller.policy)
    found = measure_push_recovery(*own, world, arguments.side, arguments.seconds)
    hardest = found.push_n
    beyond = [float(force) for force in found.force_n[found.stood] if force > (hardest or 0.0)]
    return {
        "side": arguments.side,
        "push_n": hardest or 0.0,
        "falls_unpushed": hardest is None,
        "stood_beyond_n": beyond,
        "asked_s": found.asked_s,
        "lasted_s": found.lasted_s.tolist(),
    }
