# SPDX-License-Identifier: GPL-3.0-or-later
"""``retime``: a key moment of a motion when, where and as it is wanted, as a new Action; without physics."""

import argparse
import math
import re

import bpy

from ...core.control.editing.retime_method import RetimeSettings
from ...core.errors import BadSettings
from ..api.characters import character
from ..api.registering import registered
from ..api.simulating import retime
from ..importing.importers import open_input
from ..retime.moments import KeyMoment
from .baking import require_result_place
from .job_arguments import add_job_folder, add_settings
from .lines import say
from .outputs import add_outputs, preview_view, require_outputs
from .running import bake_take, render_take, run_job, summarize
from .verb import Verb

_ALSO = re.compile(r"(?P<frame>-?\d+)(@(?P<at>-?\d+))?(:(?P<place>[^/]+))?(/(?P<heading>.+))?")


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    add = parser.add_argument
    # A point such as -3,2 is no option; argparse knows that of plain numbers only.
    parser._negative_number_matcher = re.compile(r"-[\d.]")
    add(
        "input",
        nargs="?",
        metavar="INPUT",
        help=".blend, .bvh, .fbx, .glb, .gltf, .npz or a stock clip's name "
        "(see 'clips'); inside Blender it may be left out for the open scene",
    )
    add("--armature", default="", metavar="NAME", help="which armature, where there are several")
    add("--action", default="", metavar="NAME", help="which Action; the active one if left out")
    add("--frame", type=int, required=True, metavar="K", help="frame of the Action with the key moment")
    add("--at", type=int, metavar="F", help="frame at which it is to happen; its own if left out")
    add("--place", metavar="X,Y", help="metres on the ground where the hips are then")
    add("--heading", type=float, metavar="DEG", help="which way they face, in degrees about Z from +X")
    add("--reach", nargs=2, metavar=("BONE", "X,Y,Z"), help="a hand or foot, and the point in metres where it is then")
    add(
        "--also",
        action="append",
        default=[],
        metavar="K[@F][:X,Y][/DEG]",
        help="another key moment, with its frame, place and heading, such as 60@72:1,2/90; may be repeated",
    )
    add_settings(parser, f"of these: {', '.join(RetimeSettings.field_names())}")
    add("--fps", type=float, metavar="F", help="the frame rate at which the motion is right, where its file is wrong")
    add("--scale", type=float, default=1.0, metavar="S", help="metres a unit of the input (default 1)")
    add("--result", default="auto", metavar="WHERE", help="auto, action, nla, copy or controls: where the result goes")
    add_outputs(parser)
    add_job_folder(parser)


def _run(arguments: argparse.Namespace) -> int:
    """Open, edit in a worker, bake, and write what was asked for."""
    moments = _moments(arguments)
    settings = RetimeSettings.from_texts(arguments.set).to_mapping()
    require_outputs(arguments)
    with registered():
        scale = arguments.scale
        if arguments.input:
            scale = open_input(arguments.input, scale)
        elif not bpy.context.scene.objects:
            raise BadSettings("There is nothing to retime", "Give a file or a stock clip's name (see 'sinew clips')")
        job = retime(
            character(arguments.armature, scale=scale),
            also=moments,
            action=arguments.action,
            true_fps=arguments.fps,
            result=arguments.result,
            folder=arguments.job_dir,
            **settings,
        ).job
        if code := run_job(arguments, job, input=arguments.input):
            return code
        report, written = bake_take(arguments, job, input=arguments.input)
        render_take(arguments, report, written, preview_view(arguments.input))
        say(*summarize(report), *_outcomes(report), *(f"  {one['message']}" for one in report["findings"]))
    return 0


def _moments(arguments: argparse.Namespace) -> tuple[KeyMoment, ...]:
    """What was asked, checked before anything is opened."""
    require_result_place(arguments.result)
    if arguments.fps is not None and not 1.0 <= arguments.fps <= 1000.0:
        raise BadSettings(f"The frame rate is {arguments.fps}", "Give frames a second, such as --fps 60")
    bone, point = arguments.reach or ("", None)
    moment = KeyMoment(
        frame=arguments.frame,
        at=arguments.at,
        place=None if arguments.place is None else _numbers(arguments.place, "--place X,Y", 2),
        heading=None if arguments.heading is None else math.radians(arguments.heading),
        bone=bone,
        point=None if point is None else _numbers(point, "--reach BONE X,Y,Z", 3),
    )
    return (moment, *(_also(text) for text in arguments.also))


def _also(text: str) -> KeyMoment:
    """Another key moment, as ``60@72:1,2/90``."""
    found = _ALSO.fullmatch(text)
    if found is None:
        raise BadSettings(f"'{text}' is no key moment", "Write --also FRAME@AT:X,Y/DEGREES, such as 60@72:1,2/90")
    heading = found["heading"]
    return KeyMoment(
        frame=int(found["frame"]),
        at=None if found["at"] is None else int(found["at"]),
        place=None if found["place"] is None else _numbers(found["place"], "a place such as 1,2", 2),
        heading=None if heading is None else math.radians(_numbers(heading, "degrees such as 90", 1)[0]),
    )


def _numbers(text: str, form: str, count: int) -> tuple[float, ...]:
    """Numbers with commas between them."""
    try:
        found = tuple(float(word) for word in text.split(","))
    except ValueError:
        found = ()
    if len(found) != count or not all(math.isfinite(value) for value in found):
        raise BadSettings(f"'{text}' is not {count} {'numbers' if count > 1 else 'number'}", f"Write {form}")
    return found


def _outcomes(report: dict[str, object]) -> list[str]:
    """A line for each key moment and each reach: when it is, and how far off."""
    edits = report["edits"]
    lines = [
        f"  frame {row['frame']} is at frame {row['result_frame']:g}: {100.0 * row['place_off_m']:.1f} cm and "
        f"{math.degrees(abs(row['heading_off_rad'])):.1f} degrees off"
        for row in edits["key_moments"]
    ]
    return lines + [
        f"  '{row['bone']}' is {100.0 * row['off_m']:.1f} cm from its target at frame {row['result_frame']:g}"
        for row in edits["reaches"]
    ]


VERB = Verb(_add_arguments, _run)
