# SPDX-License-Identifier: GPL-3.0-or-later
"""What the command line says alike of every take that a library or a learned file makes."""

import argparse
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import bpy

from ...core import jobs
from ...core.errors import BadSettings
from ...core.motion import Skeleton
from ..api.library_character import find_character, make_scene, stand_up_character
from ..body.body_inputs import BodyRequest
from ..importing.importers import open_input
from ..jobs import requests
from ..rig.placing import PLACES
from .bodies import add_body, body_of
from .job_arguments import add_job_folder
from .lines import say, say_json
from .outputs import add_outputs
from .running import bake_take, render_take, summarize


def add_baking(parser: argparse.ArgumentParser) -> None:
    """Declare the scene's scale, where the result goes, the body, and what is written."""
    add = parser.add_argument
    add("--scale", type=float, default=1.0, metavar="S", help="metres a unit of the scene (default 1)")
    add("--place", default="auto", metavar="WHERE", help="auto, action, nla, copy or controls: where the result goes")
    add("--json", action="store_true", help="print the report")
    add_body(parser)
    add_outputs(parser)
    add_job_folder(parser)


def require_result_place(word: str) -> None:
    """Refuse a place for the result that there is not, before anything is opened."""
    places = [place[0].lower() for place in PLACES]
    if word.lower() not in places:
        raise BadSettings(f"There is no place '{word}'", f"Choose one of: {', '.join(places)}")


def open_character(
    arguments: argparse.Namespace, skeleton: Skeleton, fps: float
) -> tuple[bpy.types.Object, float, BodyRequest]:
    """The armature that does what a library is asked for (the scene's, or a new one), metres a unit, and its body.

    fps: frames a second of a scene that is made.
    """
    scale = arguments.scale
    if arguments.blend:
        scale = open_input(str(arguments.blend), arguments.scale)
    elif not bpy.data.filepath:
        make_scene(fps)
    name, body = arguments.armature or find_character(skeleton), body_of(arguments)
    obj = requests.find_armature(name) if name else stand_up_character(skeleton, scale)
    if not name:  # its mesh is made of its bones, and says less of a body than the tables that the library had
        body = replace(body, use_mesh=False)
    bpy.context.view_layer.update()
    return obj, scale, body


def bake_from_library(arguments: argparse.Namespace, job: jobs.Job, **about: Any) -> dict[str, Any]:
    """Save and show what a job made of a library; gives its report, with what else it is to say."""
    report, written = bake_take(arguments, job, library=str(arguments.file), input=str(arguments.blend or ""), **about)
    render_take(arguments, report, written, "AUTO" if bpy.data.filepath else "FOLLOW")
    return report


def tell_take(arguments: argparse.Namespace, report: dict[str, Any], lines: Iterable[str] = ()) -> None:
    """Print the report, as data or in words with lines of the method's own."""
    if arguments.json:
        say_json(report)
        return
    say(*summarize(report), *(f"  {line}" for line in lines), *(f"  {one['message']}" for one in report["findings"]))
