# SPDX-License-Identifier: GPL-3.0-or-later
"""``bounds bake``: a new motion with a controller file, on a character of its own or in a scene."""

import argparse

import bpy

from ....core.control.bounds.files import ENDING
from ....core.control.bounds.playback import require_length
from ....core.errors import BadSettings
from ...api.characters import Character
from ...api.graph_scenes import stand_up
from ...api.playing import bake_controller
from ...api.registering import registered
from ...importing.importers import open_input
from ...jobs import requests
from ...learned.learned_file import Learned, learned_file
from ..bodies import add_body, body_of
from ..job_arguments import add_engine, add_job_folder, add_seed
from ..lines import path_argument, say, say_json
from ..outputs import add_outputs, require_outputs
from ..running import bake_take, render_take, run_job, summarize
from ..trunk_pushes import add_trunk_pushes
from ..verb import Verb


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    add = parser.add_argument
    add(
        "file",
        nargs="?",
        type=path_argument,
        metavar=f"FILE{ENDING}",
        help="what was learned; left out, what the scene's armature refers to",
    )
    add(
        "input",
        nargs="?",
        metavar="INPUT",
        help="bake in this scene or on this clip, or in the open scene; else a character is made",
    )
    add("--armature", default="", metavar="NAME", help="which armature of the scene, where there are several")
    add("--seconds", type=float, default=0.0, metavar="S", help="how long (default as long as the clip, or one cycle)")
    add_trunk_pushes(parser)
    add("--clean", action="store_true", help="alone on flat ground, whatever is on the scene's stage")
    add("--frame", type=int, default=1, metavar="F", help="the frame where it begins (default 1)")
    add_engine(parser)
    add_seed(parser, "motion")
    add("--scale", type=float, default=1.0, metavar="S", help="metres a unit of the scene (default 1)")
    add("--json", action="store_true", help="print the report")
    add_body(parser)
    add_outputs(parser)
    add_job_folder(parser)


def _run(arguments: argparse.Namespace) -> int:
    """Open, bake in a worker, and write what was asked for."""
    if not 0.0 <= arguments.seconds <= 3600.0:
        raise BadSettings(f"{arguments.seconds:g} s is no length", "Give seconds from 0.1 to 3600")
    if arguments.file is not None and arguments.input is None and arguments.file.suffix.lower() == ".blend":
        arguments.file, arguments.input = None, str(arguments.file)
    require_outputs(arguments)
    file = learned_file("bounds")
    learned = file.read_file(arguments.file.resolve()) if arguments.file else None
    if learned is not None:
        require_length(learned.model.reference, arguments.seconds)
    with registered():
        character, learned = _opened(arguments, learned)
        job = bake_controller(
            learned,
            character,
            seconds=arguments.seconds,
            pushes=arguments.push,
            alone=arguments.clean,
            frame=arguments.frame,
            body=body_of(arguments),
            engine=arguments.engine,
            seed=arguments.seed,
            folder=arguments.job_dir,
        ).job
        if code := run_job(arguments, job, input=arguments.input):
            return code
        about = {"controller": str(arguments.file or learned.path), "input": arguments.input}
        report, written = bake_take(arguments, job, **about)
        render_take(arguments, report, written, "FOLLOW")
        if arguments.json:
            say_json(report)
        else:
            say(*summarize(report))
    return 0


def _opened(arguments: argparse.Namespace, learned: Learned | None) -> tuple[Character, Learned]:
    """Who does it, once the scene is there, and what: the file that was given, or the armature's own."""
    scale = arguments.scale
    if arguments.input or bpy.data.filepath:
        scale = open_input(arguments.input, scale) if arguments.input else scale
        obj = requests.find_armature(arguments.armature)
        learned = learned or learned_file("bounds").read(obj)
    elif learned is None:
        raise BadSettings("There is no controller", f"Give a FILE{ENDING}, or a .blend whose armature refers to one")
    else:
        obj = stand_up(learned.model, 1)
    return Character(obj.name, scale), learned


VERB = Verb(_add_arguments, _run)
