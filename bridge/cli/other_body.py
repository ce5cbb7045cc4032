# SPDX-License-Identifier: GPL-3.0-or-later
"""``--on``: what a command line says about another body that is to do a motion."""

import argparse
from dataclasses import replace

import bpy

from ...core.errors import BadSettings
from ..jobs import requests
from ..jobs.requests import Request
from ..transfer.other_bodies import open_other_character, put_on, read_chosen_motion
from .lines import say_aside


def add_on(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments that are about another body."""
    add = parser.add_argument
    add(
        "--on",
        metavar="FILE",
        help="another character that is to do it: a robot's model (.urdf, .xml) or a scene (.blend, .glb, .fbx). "
        "The motion is put on it by the roles of its bones, and physics makes up for what it cannot do",
    )
    add("--on-scale", type=float, default=1.0, metavar="S", help="metres a unit of that file (default 1)")
    add("--on-armature", default="", metavar="NAME", help="which armature of that scene, where there are several")


def put_input_on(arguments: argparse.Namespace, request: Request) -> Request:
    """Put what was opened on the other character, where one is asked for; gives what is asked for of that one."""
    if not arguments.on:
        if arguments.on_scale != 1.0 or arguments.on_armature:
            raise BadSettings("There is no other character to scale or to choose", "Give --on FILE")
        return request
    if not bpy.context.scene.objects:
        raise BadSettings("There is no motion to put on another character", "Give a file or a stock clip's name")
    source = read_chosen_motion(replace(request, place="AUTO"))
    scale = open_other_character(arguments.on, arguments.on_scale, lambda note: say_aside(f"note: {note}"))
    obj = requests.find_armature(arguments.on_armature)
    action = put_on(source, obj, request.body, scale)
    return replace(request, armature=obj.name, action=action.name, frames=None, true_fps=None, scale=scale)
