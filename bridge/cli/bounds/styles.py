# SPDX-License-Identifier: GPL-3.0-or-later
"""``bounds styles``: one motion with more and less energy, with more and less volume, from one neutral controller."""

import argparse
import dataclasses

from ....core.control.bounds.learned_file import CONTROLLER
from ....core.control.bounds.presets import bounds_presets
from ....core.control.bounds.style.style_choice import VARIANTS
from ....core.errors import BadSettings, SinewError
from ....core.files import write_json
from ...api.learning import learn_motion_styles
from ...api.registering import registered
from ...bounds.styling import read_neutral
from ...importing.importers import open_input
from ...jobs import requests
from ...scene import saving
from .. import CANCELLED
from ..bodies import add_body
from ..job_arguments import add_engine, add_seed, add_settings, add_where
from ..jobs import run_to_end
from ..lines import path_argument, say
from ..running import elsewhere
from ..verb import Verb
from .train import learning_line, training_request


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    add = parser.add_argument
    add("input", metavar="INPUT", help="what the neutral controller was trained on")
    add("--begin", type=path_argument, required=True, metavar=f"FILE{CONTROLLER.ending}", help="the neutral controller")
    add(
        "--out",
        type=path_argument,
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
    add_engine(parser)
    add_seed(parser, "controllers")
    add_settings(parser, "of training")
    add_body(parser)
    add_where(parser)


def _run(arguments: argparse.Namespace) -> int:
    """Make all jobs, run one after the other, and write what each learned as soon as it has."""
    own = [f"bounds={arguments.bounds}", f"strength={arguments.strength}"]
    request = training_request(arguments, [*arguments.set, *own])
    neutral = read_neutral(arguments.begin)
    saving.require_writable_folder(arguments.out)
    styles = [style.strip() for style in arguments.styles.split(",") if style.strip()]
    if not styles:
        raise BadSettings("No style was asked for", f"Give --styles with some of: {', '.join(VARIANTS)}")
    with registered():
        request = dataclasses.replace(request, scale=open_input(arguments.input, arguments.scale))
        rig = requests.read(request)
        made = learn_motion_styles(request, rig, neutral, styles, off=arguments.off)
        for style, job in zip(styles, (work.job for work in made), strict=True):
            status = run_to_end(job, *elsewhere(arguments))
            if status.state == "cancelled":
                return CANCELLED
            if status.state != "done":
                raise SinewError(f"{style}: {status.message or status.state}", status.hint)
            path = arguments.out / f"{style}{CONTROLLER.ending}"
            CONTROLLER.write_content(path.resolve(), *job.product(CONTROLLER.name))
            report = job.result().report
            say(f"{path}: {learning_line(report['bounds'])}")
            write_json(arguments.out / f"{style}.json", report)
    return 0


VERB = Verb(_add_arguments, _run)
