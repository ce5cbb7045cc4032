# SPDX-License-Identifier: GPL-3.0-or-later
"""``bounds styles``: one motion with more and less energy, with more and less volume, from one neutral controller."""

import argparse
import dataclasses
from pathlib import Path

from ....core.control import registry
from ....core.control.bounds.bounds import attach_keys
from ....core.control.bounds.learned_file import CONTROLLER
from ....core.control.bounds.presets import bounds_presets
from ....core.control.bounds.style.style_choice import VARIANTS
from ....core.errors import BadSettings, SinewError
from ....core.files import write_json
from ...bounds.styling import read_neutral
from ...bounds.training import TrainRequest, style_jobs
from ...importing.importers import open_input
from ...jobs import requests
from ...jobs.preparing import do_at_once
from ...scene import saving
from .. import CANCELLED
from ..bodies import add_body, body_of
from ..jobs import run_to_end
from ..registering import registered
from .train import METHOD, learning_line


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    add = parser.add_argument
    add("input", metavar="INPUT", help="what the neutral controller was trained on")
    add("--begin", type=Path, required=True, metavar=f"FILE{CONTROLLER.ending}", help="the neutral controller")
    add(
        "--out",
        type=Path,
        required=True,
        metavar="FOLDER",
        help=f"where the controllers go, as STYLE{CONTROLLER.ending}",
    )
    add("--styles", default=",".join(VARIANTS), metavar="NAMES", help="default %(default)s")
    add("--strength", type=float, default=1.0, metavar="S", help="0 to 1, how much the style counts (default 1)")
    add("--armature", default="", metavar="NAME", help="which armature, where there are several")
    add("--action", default="", metavar="NAME", help="which Action; the active one if left out")
    add("--scale", type=float, default=1.0, metavar="S", help="metres a unit of the input (default 1)")
    add("--bounds", default="style_exploration", metavar="PRESET", help=f"one of: {', '.join(bounds_presets())}")
    add("--off", action="append", default=[], metavar="BOUND", help="switch a bound off; may be repeated")
    add("--engine", default="auto", help="auto, mujoco or bullet (default auto: the fastest installed)")
    add("--seed", type=int, default=0, metavar="N", help="same seed, same controllers (default 0)")
    add("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of training; may be repeated")
    add_body(parser)


def run(arguments: argparse.Namespace) -> int:
    """Make all jobs, run one after the other, and write what each learned as soon as it has."""
    own = [f"bounds={arguments.bounds}", f"strength={arguments.strength}"]
    settings = registry.get_method(METHOD).settings_type.from_texts([*arguments.set, *own])
    neutral = read_neutral(arguments.begin)
    saving.require_writable_folder(arguments.out)
    request = requests.Request(
        armature=arguments.armature,
        action=arguments.action,
        method=METHOD,
        settings=settings.to_mapping(),
        engine=arguments.engine,
        seed=arguments.seed,
        scale=arguments.scale,
        body=body_of(arguments),
    )
    styles = [style.strip() for style in arguments.styles.split(",") if style.strip()]
    if not styles:
        raise BadSettings("No style was asked for", f"Give --styles with some of: {', '.join(VARIANTS)}")
    with registered():
        request = dataclasses.replace(request, scale=open_input(arguments.input, arguments.scale))
        rig = requests.read(request)
        asked = TrainRequest(request, own=False, more=attach_keys({}, arguments.off))
        made = do_at_once(lambda own: style_jobs(own, asked, rig, neutral, styles))
        for style, job in zip(styles, made, strict=True):
            status = run_to_end(job)
            if status.state == "cancelled":
                return CANCELLED
            if status.state != "done":
                raise SinewError(f"{style}: {status.message or status.state}", status.hint)
            path = arguments.out / f"{style}{CONTROLLER.ending}"
            CONTROLLER.write_content(path.resolve(), *job.product(CONTROLLER.name))
            report = job.result().report
            print(f"{path}: {learning_line(report['bounds'])}")
            write_json(arguments.out / f"{style}.json", report)
    return 0
