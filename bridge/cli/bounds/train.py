# SPDX-License-Identifier: GPL-3.0-or-later
"""``bounds train``: from a scene, a motion file or a stock clip to a controller file."""

import argparse
import dataclasses
import re
from collections.abc import Sequence
from pathlib import Path

import bpy

from ....core import jobs
from ....core.control import registry
from ....core.control.bounds.bounds import attach_keys
from ....core.control.bounds.files import ENDING
from ....core.control.bounds.learned_file import CONTROLLER
from ....core.control.bounds.presets import bounds_presets
from ....core.control.bounds.style.style_choice import attach_style_clip
from ....core.errors import BadSettings
from ...api.learning import learn_motion_bounds
from ...api.registering import registered
from ...api.work import bake_result
from ...bounds import training
from ...bounds.styling import neutral_attachment, open_style_clip, read_style_of_action
from ...bounds.training import LABELS
from ...importing.importers import open_input
from ...jobs import requests
from ...jobs.preparing import do_at_once
from ..bodies import add_body, body_of
from ..job_arguments import add_engine, add_job_folder, add_seed, add_settings
from ..lines import path_argument, say
from ..other_body import add_on, put_input_on
from ..outputs import add_outputs, preview_view, rendered, require_outputs, write_report
from ..running import run_job
from ..verb import Verb

METHOD = training.METHOD
_KEYS = re.compile(r"(?P<bound>[^=]+)=(?P<keys>.+)")


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    add = parser.add_argument
    add(
        "input",
        nargs="?",
        metavar="INPUT",
        help=".blend, .bvh, .fbx, .glb, .gltf, .npz or a stock clip's name (see 'clips'); inside Blender it may be "
        "left out for the open scene",
    )
    add("--armature", default="", metavar="NAME", help="which armature, where there are several")
    add("--action", default="", metavar="NAME", help="which Action; the active one if left out")
    add("--scale", type=float, default=1.0, metavar="S", help="metres a unit of the input (default 1)")
    add(
        "--bounds",
        metavar="PRESET",
        help=f"one of: {', '.join(bounds_presets())}; the same as --set bounds=PRESET. Without it the armature of a "
        ".blend has its own, as they are keyed",
    )
    add(
        "--key",
        action="append",
        default=[],
        metavar="BOUND=F:W,...",
        help="a bound keyed over time: frames of the clip, the first is 0, and widths in metres or radians, such as "
        "'com z=0:0.2,20:0.05,40:0.2' or 'joint thigh.L=0:0.7'; may be repeated",
    )
    add("--off", action="append", default=[], metavar="BOUND", help="switch a bound off; may be repeated")
    add("--style", metavar="NAME", help=f"one of: {', '.join(LABELS)}; the same as --set style=NAME")
    add("--strength", type=float, metavar="S", help="0 to 1, how much the style counts; the same as --set strength=S")
    add(
        "--manner",
        metavar="CLIP",
        help="the motion in whose manner it is to be done, for --style manner: a file, a stock clip's name, or an "
        "Action of the same armature",
    )
    add("--manner-scale", type=float, default=1.0, metavar="S", help="metres a unit of that file (default 1)")
    add(
        "--begin",
        type=path_argument,
        metavar=f"FILE{ENDING}",
        help="a controller that has the skill already, to begin with",
    )
    add_engine(parser)
    add_seed(parser, "controller")
    add_settings(parser, "of training")
    add_on(parser)
    add_body(parser)
    add_outputs(parser, f"FILE{ENDING}", "the controller file to write")
    add_job_folder(parser)


def _run(arguments: argparse.Namespace) -> int:
    """Open, train in a worker, and write what was asked for."""
    if arguments.out is None:
        raise BadSettings("There is no place for the controller", f"Give --out FILE{ENDING}")
    named = {name: getattr(arguments, name) for name in ("bounds", "style", "strength")}
    texts = [*arguments.set, *(f"{name}={value}" for name, value in named.items() if value is not None)]
    request = training_request(arguments, texts)
    keys = attach_keys(dict(map(_keyed, arguments.key)), arguments.off)
    require_outputs(arguments, ENDING)
    if (request.settings["style"] == "manner") != bool(arguments.manner):
        raise BadSettings("A manner is that of another motion", "Give --style manner together with --manner CLIP")
    begun = neutral_attachment(arguments.begin) if arguments.begin else {}
    with registered():
        style = open_style_clip(arguments.manner, arguments.manner_scale) if arguments.manner else None
        if arguments.input:
            request = dataclasses.replace(request, scale=open_input(arguments.input, arguments.scale))
        elif not bpy.context.scene.objects:
            raise BadSettings("There is nothing to learn", "Give a file or a stock clip's name (see 'sinew clips')")
        request = put_input_on(arguments, request)
        rig = requests.read(request)
        manner = attach_style_clip(style) if style is not None else {}
        if arguments.manner and style is None:
            manner = do_at_once(lambda own: read_style_of_action(own, request, arguments.manner))
        own = _in_scene(arguments.input) and not any(text.partition("=")[0].strip() == "bounds" for text in texts)
        more = {**keys, **manner, **begun}
        job = learn_motion_bounds(request, rig, own=own, more=more, folder=arguments.job_dir).job
        if code := run_job(arguments, job, input=arguments.input):
            return code
        _finish(arguments, job)
    return 0


def training_request(arguments: argparse.Namespace, texts: list[str]) -> requests.Request:
    """What is asked for, with settings as texts, checked before anything is opened."""
    return requests.Request(
        armature=arguments.armature,
        action=arguments.action,
        method=METHOD,
        settings=registry.get_method(METHOD).settings_type.from_texts(texts).to_mapping(),
        engine=arguments.engine,
        seed=arguments.seed,
        scale=arguments.scale,
        body=body_of(arguments),
    )


def _finish(arguments: argparse.Namespace, job: jobs.Job) -> None:
    """Write the controller, show what it does, and say how it was learned."""
    take = bake_result(job, {CONTROLLER.name: arguments.out.resolve()})
    report = {**take.report, "input": arguments.input, "out": str(arguments.out)}
    report["preview"] = [str(path) for path in rendered(arguments, take.written, view=preview_view(arguments.input))]
    write_report(arguments, report)
    say(f"{arguments.out}: {learning_line(report['bounds'])}")
    for sentence in report.get("summary", ()):
        say(f"  {sentence}")


def _in_scene(text: str | None) -> bool:
    """Whether the motion is from a scene, whose armature has bounds of its own; those of other files are new."""
    return text is None or Path(text).suffix.lower() == ".blend"


def learning_line(told: dict[str, object]) -> str:
    """How learning went, in a line."""
    spent = f"{told['samples'] / 1e6:.2f} million steps in {told['seconds'] / 60.0:.1f} minutes"
    if told["done_after"] is not None:
        return f"learned after {told['done_after'] / 1e6:.2f} million steps ({spent})"
    lasts = max((test["share"] for test in told["tests"]), default=0.0)
    return f"not learned yet ({spent}); it lasts {100.0 * lasts:.0f} % of what was asked"


def _keyed(text: str) -> tuple[str, dict[int, float]]:
    match = _KEYS.fullmatch(text)
    try:
        if match is None:
            raise ValueError
        pairs: Sequence[list[str]] = [pair.split(":") for pair in match["keys"].split(",")]
        return match["bound"].strip(), {int(frame): float(width) for frame, width in pairs}
    except ValueError:
        hint = "Write a bound and frame:width pairs, such as --key 'com z=0:0.2,20:0.05'"
        raise BadSettings(f"'{text}' are no keys of a bound", hint) from None


VERB = Verb(_add_arguments, _run)
