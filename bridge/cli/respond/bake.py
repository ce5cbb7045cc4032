# SPDX-License-Identifier: GPL-3.0-or-later
"""``respond bake``: a take that does what cues ask for, on a character of its own or in a scene."""

import argparse
from dataclasses import replace

import bpy

from ....core import jobs
from ....core.control import registry
from ....core.control.respond.bake_method import RESPONSE, RespondBake
from ....core.control.respond.cue_report import summarize_cues
from ....core.control.respond.cues import parse_cue, sort_cues
from ....core.errors import BadSettings
from ...importing.importers import open_input
from ...jobs import requests
from ...jobs.preparing import do_at_once
from ...learned.learned_file import Learned, learned_file
from ...respond.baking import RespondRequest, respond_job
from ...rig.placing import PLACES
from ..bodies import add_body, body_of
from ..job_arguments import add_engine, add_job_folder, add_seed, add_settings
from ..library_character import find_character, make_scene, stand_up_character
from ..lines import path_argument, say, say_json
from ..outputs import add_outputs, require_outputs
from ..registering import registered
from ..running import bake_take, render_take, run_job, summarize
from ..verb import Verb

_FPS = 30.0


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    add = parser.add_argument
    add("file", type=path_argument, metavar="LIBRARY", help="the library, as 'sinew library build' writes it")
    add(
        "--cue",
        action="append",
        default=[],
        metavar="DEED@FRAME[:X,Y[,DEGREES]][=X,Y,Z]",
        help="what to do, at which frame, where, and what to hit, such as frontkick@96, walk@140:3,2 or "
        "punch@200=3,2,1.4; may be repeated",
    )
    add("--blend", type=path_argument, metavar="FILE", help="a scene, with whatever else is on the stage")
    add("--armature", default="", metavar="NAME", help="who does it; if left out, a character is made of the library")
    add("--fps", type=float, default=_FPS, metavar="F", help=f"frames a second without a scene (default {_FPS:g})")
    add("--frame", type=int, default=1, metavar="F", help="the frame where it begins (default 1)")
    add("--physics", choices=("on", "off"), default="on", help="off: without a body, in a moment (default on)")
    add_engine(parser)
    add_seed(parser, "motion")
    names = ", ".join(name for name in RespondBake.settings_type.field_names() if name != "physics")
    add_settings(parser, f"of these: {names}")
    add("--scale", type=float, default=1.0, metavar="S", help="metres a unit of the scene (default 1)")
    add("--place", default="auto", metavar="WHERE", help="auto, action, nla, copy or controls: where the result goes")
    add("--json", action="store_true", help="print the report")
    add_body(parser)
    add_outputs(parser)
    add_job_folder(parser)


def _run(arguments: argparse.Namespace) -> int:
    """Open, respond in a worker, and write what was asked for."""
    settings = _checked(arguments)
    require_outputs(arguments)
    learned = learned_file("respond").read_file(arguments.file.resolve())
    with registered():
        request = _request(arguments, learned, settings)
        job = do_at_once(lambda own: respond_job(own, request, learned, arguments.job_dir))
        if code := run_job(arguments, job, file=str(arguments.file)):
            return code
        _finish(arguments, job)
    return 0


def _checked(arguments: argparse.Namespace) -> dict[str, object]:
    """The method's settings; wrong words are refused before anything is opened."""
    if not 1.0 <= arguments.fps <= 240.0:
        raise BadSettings(f"{arguments.fps:g} is no frame rate", "Give frames a second from 1 to 240")
    sort_cues(parse_cue(text, arguments.frame, arguments.fps) for text in arguments.cue)
    places = [place[0].lower() for place in PLACES]
    if arguments.place.lower() not in places:
        raise BadSettings(f"There is no place '{arguments.place}'", f"Choose one of: {', '.join(places)}")
    texts = [*arguments.set, f"physics={'true' if arguments.physics == 'on' else 'false'}"]
    return dict(registry.get_method(RespondBake.name).settings_type.from_texts(texts).to_mapping())


def _request(arguments: argparse.Namespace, learned: Learned, settings: dict[str, object]) -> RespondRequest:
    """What is to be baked, once the scene is there."""
    scale, skeleton = arguments.scale, learned.model.body.skeleton
    if arguments.blend:
        scale = open_input(str(arguments.blend), arguments.scale)
    elif not bpy.data.filepath:
        make_scene(arguments.fps)
    name = arguments.armature or find_character(skeleton)
    obj = requests.find_armature(name) if name else stand_up_character(skeleton, scale)
    body = body_of(arguments)
    if not name:  # its mesh is made of its bones, and says less of a body than the tables that the library had
        body = replace(body, use_mesh=False)
    bpy.context.view_layer.update()
    return RespondRequest(
        armature=obj.name,
        settings=settings,
        engine=arguments.engine,
        seed=arguments.seed,
        scale=scale,
        place=arguments.place.upper(),
        body=body,
        frame_start=arguments.frame,
        texts=tuple(arguments.cue),
    )


def _finish(arguments: argparse.Namespace, job: jobs.Job) -> None:
    """Save, report and show what came home."""
    report, written = bake_take(arguments, job, library=str(arguments.file), input=str(arguments.blend or ""))
    report["cues"] = report[RESPONSE]["cues"]
    render_take(arguments, report, written, "AUTO" if bpy.data.filepath else "FOLLOW")
    if arguments.json:
        say_json(report)
        return
    findings = (f"  {finding['message']}" for finding in report["findings"])
    say(*summarize(report), *(f"  {line}" for line in summarize_cues(report["cues"])), *findings)


VERB = Verb(_add_arguments, _run)
