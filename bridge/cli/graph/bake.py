# SPDX-License-Identifier: GPL-3.0-or-later
"""``graph bake``: a new motion from a graph file, on a character of its own or in a scene."""

import argparse

import bpy

from ....core import jobs
from ....core.control import registry
from ....core.errors import BadSettings
from ...api.characters import Character
from ...api.graph_scenes import points_of, stand_up
from ...api.playing import bake_graph
from ...api.registering import registered
from ...graph import baking
from ...graph.modes import MODES
from ...importing.importers import open_input
from ...jobs import requests
from ...learned.learned_file import Learned, learned_file
from ..baking import add_baking, require_result_place, tell_take
from ..bodies import body_of
from ..job_arguments import add_engine, add_seed, add_settings
from ..lines import path_argument
from ..outputs import require_outputs
from ..running import bake_take, render_take, run_job
from ..trunk_pushes import add_trunk_pushes
from ..verb import Verb

_WORDS = {"SEQUENCE": "sequence", "WALK": "walk", "PATH": "path", "PUSHED": "pushed", "MEET": "meet"}


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    add = parser.add_argument
    add("file", type=path_argument, metavar="GRAPH.npz", help="what was learned")
    add(
        "input",
        nargs="?",
        metavar="SCENE.blend",
        help="bake in this scene, or in the open one; else a character is made",
    )
    add("--armature", default="", metavar="NAME", help="which armature of the scene, where there are several")
    modes = "; ".join(f"{_WORDS[mode]}: {text}" for mode, _, text, *_ in MODES)
    add("--mode", default="walk", metavar="MODE", help=f"{modes} (default walk)")
    add("--seconds", type=float, default=10.0, metavar="S", help="how long, or how long at most (default 10)")
    add("--skills", default="", metavar="TEXT", help="for sequence and pushed, such as 'walk 3, run 2, kick'")
    add("--curve", default="", metavar="NAME", help="the scene's curve to go along")
    add(
        "--points",
        metavar="X,Y ...",
        help="metres to go along instead of a curve, such as '0,0 3,0 5,2'; "
        "round and round if they end where they begin",
    )
    add("--from-here", action="store_true", help="go to the path from where the character stands, not from its start")
    add("--characters", type=int, default=0, metavar="N", help="make so many, who face each other (meet: default 2)")
    add_trunk_pushes(parser)
    add("--frame", type=int, default=1, metavar="F", help="the frame where it begins (default 1)")
    add_engine(parser)
    add_seed(parser, "motion")
    add_settings(parser, "of baking")
    add_baking(parser)


def _run(arguments: argparse.Namespace) -> int:
    """Open, bake in a worker, and write what was asked for."""
    settings = _checked(arguments)
    require_outputs(arguments)
    learned = learned_file("graph").read_file(arguments.file.resolve())
    with registered():
        job = _begin(arguments, learned, settings)
        if code := run_job(arguments, job, input=arguments.input):
            return code
        _finish(arguments, job)
    return 0


def _checked(arguments: argparse.Namespace) -> dict[str, object]:
    """What else the method is told; wrong words are refused before anything is opened."""
    if arguments.mode.lower() not in _WORDS.values():
        raise BadSettings(f"There is no mode '{arguments.mode}'", f"Choose one of: {', '.join(_WORDS.values())}")
    require_result_place(arguments.place)
    if not 0.5 <= arguments.seconds <= 3600.0:
        raise BadSettings(f"{arguments.seconds:g} s is no length", "Give seconds from 0.5 to 3600")
    if arguments.characters and arguments.input:
        raise BadSettings("--characters makes a scene, and there is one", "Leave out one of both")
    named = {text.partition("=")[0].strip() for text in arguments.set}
    given = registry.get_method(baking.METHOD).settings_type.from_texts(arguments.set).to_mapping()
    return {name: value for name, value in given.items() if name in named}


def _begin(arguments: argparse.Namespace, learned: Learned, settings: dict[str, object]) -> jobs.Job:
    """The job, once the scene is there."""
    mode = next(mode for mode, word in _WORDS.items() if word == arguments.mode.lower())
    scale = 1.0
    if arguments.input or (bpy.data.filepath and not arguments.characters):
        scale = open_input(arguments.input, arguments.scale) if arguments.input else arguments.scale
        obj = requests.find_armature(arguments.armature)
    else:
        obj = stand_up(learned.model, arguments.characters or (2 if mode == "MEET" else 1))
    return bake_graph(
        learned,
        Character(obj.name, scale),
        mode=mode,
        seconds=arguments.seconds,
        skills=arguments.skills,
        curve=arguments.curve,
        points=points_of(arguments.points),
        from_start=not arguments.from_here,
        pushes=arguments.push,
        frame=arguments.frame,
        place=arguments.place,
        body=body_of(arguments),
        engine=arguments.engine,
        seed=arguments.seed,
        folder=arguments.job_dir,
        **settings,
    ).job


def _finish(arguments: argparse.Namespace, job: jobs.Job) -> None:
    """Save, report and show what came home."""
    report, written = bake_take(arguments, job, graph=str(arguments.file), input=arguments.input)
    # In a scene that we made: alone with a camera that goes along, together with one that sees everybody's way.
    render_take(arguments, report, written, "AUTO" if bpy.data.filepath else "FRAME" if written.others else "FOLLOW")
    tell_take(arguments, report)


VERB = Verb(_add_arguments, _run)
