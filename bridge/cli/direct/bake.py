# SPDX-License-Identifier: GPL-3.0-or-later
"""``direct bake``: a directed take from a library, on a character of its own or in a scene."""

import argparse
import re

import bpy

from ....core.control import registry
from ....core.control.direct.bake_method import DirectBake
from ....core.control.tracking_policy.learned_file import directed_skeleton
from ....core.errors import BadSettings
from ....core.jobs import Job
from ...api.characters import Character
from ...api.playing import direct
from ...api.registering import registered
from ...learned.learned_file import Learned, learned_file
from ..baking import add_baking, bake_from_library, open_character, require_result_place, tell_take
from ..job_arguments import add_engine, add_seed, add_settings
from ..lines import path_argument
from ..outputs import require_outputs
from ..running import run_job
from ..trunk_pushes import add_trunk_pushes
from ..verb import Verb

_FPS = 60.0

Points = tuple[tuple[float, float], ...]


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    add = parser.add_argument
    # A point such as -3,2 is no option; argparse knows that of plain numbers only.
    parser._negative_number_matcher = re.compile(r"-[\d.]")
    add("file", type=path_argument, metavar="LIBRARY", help="the library, as 'sinew library build' writes it")
    add(
        "--points",
        nargs="+",
        default=[],
        metavar="X,Y",
        help="metres to go along, such as 0,0 3,0 5,2; round and round if they end where they begin",
    )
    add("--blend", type=path_argument, metavar="FILE", help="a scene, with the curve and whatever else is on the stage")
    add("--curve", default="", metavar="NAME", help="the scene's curve to go along")
    add("--target", default="", metavar="NAME", help="an object of the scene to go after, which may be animated")
    add(
        "--armature",
        default="",
        metavar="NAME",
        help="who is directed; if left out, a character is made of the library",
    )
    add("--speed", type=float, metavar="V", help="metres a second (default 1.3; in a scene what the armature says)")
    add("--style", default="", metavar="TAG", help="a style tag, or several with seconds: 'walk 3, run 2, walk'")
    add("--face", default="", metavar="NAME", help="an object of the scene to face, rather than along the way")
    add("--seconds", type=float, default=10.0, metavar="T", help="how long (default 10)")
    add("--frame", type=int, default=1, metavar="F", help="the frame where it begins (default 1)")
    add("--physics", choices=("on", "off"), default="on", help="off: without a body, in a moment (default on)")
    add_trunk_pushes(parser)
    add_engine(parser)
    add_seed(parser, "motion")
    names = ", ".join(name for name in DirectBake.settings_type.field_names() if name != "physics")
    add_settings(parser, f"of these: {names}")
    add_baking(parser)


def _run(arguments: argparse.Namespace) -> int:
    """Open, direct in a worker, and write what was asked for."""
    settings, points = _checked(arguments), _points(arguments.points)
    require_outputs(arguments)
    learned = learned_file("direct").read_file(arguments.file.resolve())
    with registered():
        job = _begin(arguments, learned, settings, points)
        if code := run_job(arguments, job, file=str(arguments.file)):
            return code
        tell_take(arguments, bake_from_library(arguments, job))
    return 0


def _checked(arguments: argparse.Namespace) -> dict[str, object]:
    """The method's settings; wrong words are refused before anything is opened."""
    if not (arguments.points or arguments.curve or arguments.target):
        raise BadSettings("There is nowhere to go", "Give --points X,Y X,Y …, --curve NAME or --target NAME")
    if arguments.points and (arguments.curve or arguments.target):
        raise BadSettings("There are points and something of a scene to go to", "Leave out one of both")
    if (arguments.curve or arguments.target) and not (arguments.blend or bpy.data.filepath):
        raise BadSettings(
            f"There is no scene with '{arguments.curve or arguments.target}' in it", "Give --blend FILE.blend"
        )
    if arguments.speed is not None and not 0.0 <= arguments.speed <= 20.0:
        raise BadSettings(f"{arguments.speed:g} m/s is no speed", "Give metres a second from 0 to 20")
    if not 0.5 <= arguments.seconds <= 3600.0:
        raise BadSettings(f"{arguments.seconds:g} s is no length", "Give seconds from 0.5 to 3600")
    if arguments.push and arguments.physics == "off":
        raise BadSettings("Without physics nothing can be pushed", "Leave out --push, or --physics off")
    require_result_place(arguments.place)
    texts = [*arguments.set, f"physics={'true' if arguments.physics == 'on' else 'false'}"]
    return dict(registry.get_method(DirectBake.name).settings_type.from_texts(texts).to_mapping())


def _points(words: list[str]) -> Points:
    """Points in metres, given as words or as one text."""
    found = []
    for word in " ".join(words).split():
        x, comma, y = word.partition(",")
        try:
            if not comma:
                raise ValueError
            found.append((float(x), float(y)))
        except ValueError:
            raise BadSettings(f"'{word}' is no point", "Write points in metres, such as 0,0 3,0 5,2") from None
    if len(found) == 1:
        raise BadSettings(f"'{words[0]}' is a single point", "Give at least two")
    return tuple(found)


def _begin(arguments: argparse.Namespace, learned: Learned, settings: dict[str, object], points: Points) -> Job:
    """The job, once the scene is there."""
    obj, scale, body = open_character(arguments, directed_skeleton(learned.model), _FPS)
    return direct(
        learned,
        Character(obj.name, scale),
        points=points,
        curve=arguments.curve,
        target=arguments.target,
        speed_m_s=arguments.speed,
        style=arguments.style,
        face=arguments.face,
        seconds=arguments.seconds,
        pushes=arguments.push,
        frame=arguments.frame,
        place=arguments.place,
        body=body,
        engine=arguments.engine,
        seed=arguments.seed,
        folder=arguments.job_dir,
        **settings,
    ).job


VERB = Verb(_add_arguments, _run)
