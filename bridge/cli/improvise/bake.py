# SPDX-License-Identifier: GPL-3.0-or-later
"""``improvise bake``: takes of any number of characters that improvise together, in a scene or in one of their own."""

import argparse
import re

import bpy
import numpy as np

from ....core.control import registry
from ....core.control.improvise.bake_method import ImproviseBake
from ....core.control.improvise.learned_file import IMPROVISER, Improviser
from ....core.errors import BadSettings
from ...api.characters import Character
from ...api.library_character import find_character, make_scene
from ...api.playing import improvise, stand_around
from ...api.registering import registered
from ...importing.importers import open_input
from ...jobs import requests
from ...learned.learned_file import learned_file
from ..job_arguments import add_engine, add_job_folder, add_seed, add_settings
from ..lines import path_argument, say, say_json
from ..outputs import add_outputs, require_outputs
from ..running import bake_take, render_take, run_job, summarize
from ..verb import Verb

_FPS, _MOST = 60.0, 64


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    # A point such as -3,2 is no option; argparse knows that of plain numbers only.
    parser._negative_number_matcher = re.compile(r"-[\d.]")
    add = parser.add_argument
    add("file", type=path_argument, metavar=f"FILE{IMPROVISER.ending}", help="what 'sinew improvise train' wrote")
    add("--seconds", type=float, default=10.0, metavar="T", help="how long (default 10)")
    add("--characters", type=int, default=1, metavar="N", help="how many, in a scene of their own (default 1)")
    add("--points", nargs="+", default=[], metavar="X,Y", help="metres to go to or along, with a task that was learned")
    add("--goals", nargs="+", default=[], metavar="NAME", help="objects of the scene to go to in turn, likewise")
    add("--curve", default="", metavar="NAME", help="a curve of the scene to go along, likewise")
    add("--blend", type=path_argument, metavar="FILE", help="a scene: its armature improvises on what is on the stage")
    add("--armature", default="", metavar="NAME", help="who improvises in the scene, if there are several")
    add_engine(parser)
    add_seed(parser, "motion")
    names = ", ".join(name for name in ImproviseBake.settings_type.field_names() if name != "seconds")
    add_settings(parser, f"of these: {names}")
    add("--scale", type=float, default=1.0, metavar="S", help="metres a unit of the scene (default 1)")
    add("--json", action="store_true", help="print the report")
    add_outputs(parser)
    add_job_folder(parser)


def _run(arguments: argparse.Namespace) -> int:
    """Open, improvise in a worker, and write what was asked for."""
    texts = [*arguments.set, f"seconds={arguments.seconds}"]
    settings = dict(registry.get_method(ImproviseBake.name).settings_type.from_texts(texts).to_mapping())
    if not 1 <= arguments.characters <= _MOST:
        raise BadSettings(f"{arguments.characters} characters cannot be", f"Give --characters from 1 to {_MOST}")
    if arguments.blend and arguments.characters > 1:
        raise BadSettings("A scene has its own characters", "Leave out --characters, or --blend")
    points = parse_ground_points(arguments.points)
    if sum(map(bool, (points, arguments.goals, arguments.curve))) > 1:
        raise BadSettings("There are points, objects and a curve to go to", "Give --points, --goals or --curve")
    require_outputs(arguments)
    learned = learned_file(IMPROVISER.name).read_file(arguments.file.resolve())
    with registered():
        name, scale = _characters(arguments, learned.model)
        work = improvise(
            learned,
            Character(name, scale),
            points=points,
            goals=arguments.goals,
            curve=arguments.curve,
            engine=arguments.engine,
            seed=arguments.seed,
            folder=arguments.job_dir,
            **settings,
        )
        job = work.job
        if code := run_job(arguments, job, input=str(arguments.file)):
            return code
        report, written = bake_take(arguments, job, input=str(arguments.file))
        render_take(arguments, report, written, "AUTO" if arguments.blend else "FOLLOW")
        if arguments.json:
            say_json(report)
        else:
            say(*summarize(report), *(f"  {finding['message']}" for finding in report["findings"]))
    return 0


def _characters(arguments: argparse.Namespace, improviser: Improviser) -> tuple[str, float]:
    """The main one's name and the scale, once everybody is there."""
    skeleton, scale = improviser.body.skeleton, arguments.scale
    if arguments.blend:
        scale = open_input(str(arguments.blend), arguments.scale)
    elif not bpy.data.filepath:
        make_scene(_FPS)
    name = arguments.armature or find_character(skeleton)
    if name:
        return requests.find_armature(name).name, scale
    meant = stand_around(skeleton, arguments.characters, arguments.seed, scale)
    bpy.context.view_layer.update()
    return meant.armature, scale


def parse_ground_points(words: list[str]) -> tuple[tuple[float, float], ...]:
    """Points in metres, given as words or as one text."""
    found = []
    for word in " ".join(words).split():
        x, comma, y = word.partition(",")
        try:
            if not comma or not np.isfinite([float(x), float(y)]).all():
                raise ValueError
        except ValueError:
            raise BadSettings(f"'{word}' is no point", "Write points in metres, such as 3,0 5,2") from None
        found.append((float(x), float(y)))
    return tuple(found)


VERB = Verb(_add_arguments, _run)
