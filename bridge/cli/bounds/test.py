# SPDX-License-Identifier: GPL-3.0-or-later
"""``bounds test``: how long a controller lasts by itself, how hard a push it stands, and in what style, as JSON."""

import argparse
from contextlib import closing, suppress
from typing import Any

import numpy as np

from ....core.body import build_body
from ....core.body.manner_figures import MannerFigures, measure_clip_manner, measure_manner, way_to_manner
from ....core.body.poses import link_transforms
from ....core.control import registry
from ....core.control.bounds.controller import Controller
from ....core.control.bounds.files import ENDING, load_controller
from ....core.control.bounds.push_recovery import SIDES, STEP_N
from ....core.control.bounds.reference_trajectory import CONTROL_FPS
from ....core.control.bounds.robustness import measure_lasting, measure_push
from ....core.control.bounds.style.measurement import measure_style
from ....core.control.tracking.source_preparation import clean_source
from ....core.errors import BadFile, BadSettings, BoundsError
from ....core.jobs.engine_choice import resolve_engine
from ....core.sim import engines
from ....core.sim.engine import World
from ....core.sim.stage import Character, Stage
from ...api.registering import registered
from ...bounds.styling import open_style_clip
from ..job_arguments import add_engine
from ..lines import path_argument, say_json
from ..outputs import require_outputs, write_report
from ..verb import Verb

_TESTS = ("lasts", "push", "style")
_MOST = 4096
_CYCLES = 3  # of a source, for its cadence to show


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    add = parser.add_argument
    add("file", type=path_argument, metavar=f"FILE{ENDING}", help="what was learned")
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
    add("--manner", metavar="CLIP", help="with the test style: how near it came to the manner of this motion")
    add("--manner-scale", type=float, default=1.0, metavar="S", help="metres a unit of that file (default 1)")
    add("--side", default="back", help=f"where pushes come from: {', '.join(SIDES)} (default back)")
    add("--hardest", type=float, default=800.0, metavar="N", help="newtons that pushes go up to (default 800)")
    add_engine(parser)
    add("--json", action="store_true", help="print JSON alone (the default; for scripts that say so)")
    add("--report", type=path_argument, metavar="FILE.json", help="write it to a file as well")


def _run(arguments: argparse.Namespace) -> int:
    """Test and print; what does not last is no error."""
    wanted = _wanted(arguments)
    arguments.out, arguments.preview = None, []
    require_outputs(arguments)
    controller = load_controller(arguments.file.resolve())
    engine = resolve_engine(arguments.engine, registry.get_method("bounds_test"))
    report: dict[str, Any] = {"controller": str(arguments.file), "engine": engine, "mass_kg": controller.body.mass}

    def world_of(copies: int) -> closing[World]:
        return closing(engines.get_engine(engine).compile(Stage((Character(controller.body),)), copies))

    if "lasts" in wanted or "style" in wanted:
        with world_of(arguments.copies) as world:
            if "lasts" in wanted:
                report |= measure_lasting(controller, world, arguments.seconds)
            if "style" in wanted:
                report["style"] = None
                with suppress(BoundsError):  # a body without limbs takes up no volume
                    rollout = measure_style(controller, world, arguments.seconds)
                    report["style"] = vars(rollout.figures)
                    report["manner"] = _manner_of(controller, rollout.manner, arguments)
    if "push" in wanted:
        with world_of(int(arguments.hardest // STEP_N) + 1) as world:
            report["push"] = measure_push(controller, world, arguments.side, arguments.seconds)
    report["about"] = dict(controller.about)
    write_report(arguments, report)
    say_json(report)
    return 0


def _manner_of(
    controller: Controller, styled: MannerFigures | None, arguments: argparse.Namespace
) -> dict[str, Any] | None:
    """What an animator would name of the controller and its source, and of another motion how near it came to that."""
    if styled is None:
        return None
    reference = controller.reference
    qpos = np.concatenate([reference.qpos[: reference.steps]] * (_CYCLES if reference.cyclic else 1))
    source = measure_manner(reference.body, *link_transforms(reference.body, qpos), CONTROL_FPS)
    found: dict[str, Any] = {"source": source.to_mapping(), "controller": styled.to_mapping()}
    if arguments.manner:
        with registered():
            clip = open_style_clip(arguments.manner, arguments.manner_scale)
        if clip is None:
            raise BadFile(
                f"'{arguments.manner}' is no motion", "Give a file or a stock clip's name (see 'sinew clips')"
            )
        clip = clean_source(clip)[0]
        wanted = measure_clip_manner(build_body(clip.skeleton, clip=clip)[0], clip)
        found |= {"manner": wanted.to_mapping(), "way": way_to_manner(source, styled, wanted)}
    return found


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


VERB = Verb(_add_arguments, _run)
