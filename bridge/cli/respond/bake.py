# SPDX-License-Identifier: GPL-3.0-or-later
"""``respond bake``: a take that does what cues ask for, on a character of its own or in a scene."""

import argparse

from ....core import jobs
from ....core.control import registry
from ....core.control.respond.bake_method import RESPONSE, RespondBake
from ....core.control.respond.cue_report import summarize_cues
from ....core.control.respond.cues import parse_cue, sort_cues
from ....core.control.respond.learned_file import responding_skeleton
from ....core.errors import BadSettings
from ...api.characters import Character
from ...api.playing import respond
from ...api.registering import registered
from ...learned.learned_file import Learned, learned_file
from ..baking import add_baking, bake_from_library, open_character, require_result_place, tell_take
from ..job_arguments import add_engine, add_seed, add_settings
from ..lines import path_argument
from ..outputs import require_outputs
from ..running import run_job
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
    add_baking(parser)


def _run(arguments: argparse.Namespace) -> int:
    """Open, respond in a worker, and write what was asked for."""
    settings = _checked(arguments)
    require_outputs(arguments)
    learned = learned_file("respond").read_file(arguments.file.resolve())
    with registered():
        job = _begin(arguments, learned, settings)
        if code := run_job(arguments, job, file=str(arguments.file)):
            return code
        _finish(arguments, job)
    return 0


def _checked(arguments: argparse.Namespace) -> dict[str, object]:
    """The method's settings; wrong words are refused before anything is opened."""
    if not 1.0 <= arguments.fps <= 240.0:
        raise BadSettings(f"{arguments.fps:g} is no frame rate", "Give frames a second from 1 to 240")
    sort_cues(parse_cue(text, arguments.frame, arguments.fps) for text in arguments.cue)
    require_result_place(arguments.place)
    texts = [*arguments.set, f"physics={'true' if arguments.physics == 'on' else 'false'}"]
    return dict(registry.get_method(RespondBake.name).settings_type.from_texts(texts).to_mapping())


def _begin(arguments: argparse.Namespace, learned: Learned, settings: dict[str, object]) -> jobs.Job:
    """The job, once the scene is there."""
    obj, scale, body = open_character(arguments, responding_skeleton(learned.model), arguments.fps)
    return respond(
        learned,
        arguments.cue,
        Character(obj.name, scale),
        frame=arguments.frame,
        place=arguments.place,
        body=body,
        engine=arguments.engine,
        seed=arguments.seed,
        folder=arguments.job_dir,
        **settings,
    ).job


def _finish(arguments: argparse.Namespace, job: jobs.Job) -> None:
    """Save, report and show what came home."""
    cues = job.result().report[RESPONSE]["cues"]
    tell_take(arguments, bake_from_library(arguments, job, cues=cues), summarize_cues(cues))


VERB = Verb(_add_arguments, _run)
