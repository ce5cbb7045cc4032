# SPDX-License-Identifier: GPL-3.0-or-later
"""``bounds bake``: a new motion with a controller file, on a character of its own or in a scene."""

import argparse
import dataclasses
import json
import sys
from pathlib import Path

import bpy

from ....core import jobs
from ....core.control.bounds.bake_method import CONTROLLER_FILE
from ....core.control.bounds.controller import Controller, controller_from_arrays
from ....core.control.bounds.files import ENDING, read_content
from ....core.control.bounds.playing import require_length
from ....core.errors import BadSettings, SinewError
from ....core.sim.io import to_arrays
from ... import requests, saving
from ...graph.baking import standing
from ...graph.skills import standing_as
from ...importers import open_input
from ...rig_writer import Written
from .. import CANCELLED
from ..bodies import add_body, body_of
from ..graph.scenes import pushes_of, stand_up
from ..jobs import run_to_end
from ..outputs import add_outputs, rendered, require_outputs, widen, write_report
from ..registering import registered
from ..simulate import summary

METHOD = "bounds_bake"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    add = parser.add_argument
    add("file", type=Path, metavar=f"FILE{ENDING}", help="what was learned")
    add("input", nargs="?", metavar="INPUT", help="bake in this scene or on this clip; else a character is made")
    add("--armature", default="", metavar="NAME", help="which armature of the scene, where there are several")
    add("--seconds", type=float, default=0.0, metavar="S", help="how long (default as long as the clip, or one cycle)")
    add(
        "--push",
        action="append",
        default=[],
        metavar="N@S[:SIDE]",
        help="push the trunk with N newtons at S seconds for 0.1 s, from front, back, left or right as it stands when "
        "it begins (default back); repeatable",
    )
    add("--frame", type=int, default=1, metavar="F", help="the frame where it begins (default 1)")
    add("--engine", default="auto", help="auto, mujoco or bullet (default auto: the fastest installed)")
    add("--seed", type=int, default=0, metavar="N", help="same seed, same motion (default 0)")
    add("--scale", type=float, default=1.0, metavar="S", help="metres a unit of the scene (default 1)")
    add("--json", action="store_true", help="print the report")
    add_body(parser)
    add_outputs(parser)
    add("--job-dir", type=Path, metavar="DIR", help="keep the job in this folder; run again to go on after a kill")


def run(arguments: argparse.Namespace) -> int:
    """Open, bake in a worker, and write what was asked for."""
    if not 0.0 <= arguments.seconds <= 3600.0:
        raise BadSettings(f"{arguments.seconds:g} s is no length", "Give seconds from 0.1 to 3600")
    require_outputs(arguments)
    content = read_content(arguments.file.resolve())
    controller = controller_from_arrays(*content, label=f"'{arguments.file}'")
    require_length(controller.course, arguments.seconds)
    with registered():
        scale = arguments.scale
        if arguments.input:
            scale = open_input(arguments.input, arguments.scale)
            obj = requests.find_armature(arguments.armature)
        else:
            obj = stand_up(controller, 1)
        bpy.context.view_layer.update()
        job = _job(arguments, content, controller, obj, scale)
        status = run_to_end(job)
        if status.state != "done":
            write_report(arguments, {**jobs.unfinished_report(job), "input": arguments.input})
            if status.state == "cancelled":
                print(f"sinew: cancelled; go on with: sinew jobs resume {job.spec.id}", file=sys.stderr)
                return CANCELLED
            raise SinewError(status.message or f"The job was {status.state}", status.hint)
        _finish(arguments, job, requests.collect(job))
    return 0


def _job(
    arguments: argparse.Namespace, content: tuple, controller: Controller, obj: bpy.types.Object, scale: float
) -> jobs.Job:
    """The job, begun where and as the armature stands."""
    seconds = arguments.seconds or controller.course.duration_s
    request = requests.Request(
        armature=obj.name,
        method=METHOD,
        settings={"seconds": arguments.seconds},
        engine=arguments.engine,
        seed=arguments.seed,
        scale=scale,
        body=body_of(arguments),
    )
    rig = standing_as(standing(obj, arguments.frame, seconds, scale), controller.body.skeleton)
    inputs = requests.inputs_of(request, rig)
    attachments = {**inputs.attachments, CONTROLLER_FILE: content}
    pushes = pushes_of(arguments.push, controller.body, obj, arguments.frame)
    if pushes:
        parts = dataclasses.replace(inputs.parts, pushes=(*inputs.parts.pushes, *pushes))
        attachments["stage"] = to_arrays(parts)
    target = {**inputs.target, "named": "pushed" if pushes else "learned"}
    inputs = dataclasses.replace(inputs, attachments=attachments, target=target)
    return requests.create_from(
        request, rig, inputs, title=f"{obj.name}: {arguments.file.stem}", folder=arguments.job_dir
    )


def _finish(arguments: argparse.Namespace, job: jobs.Job, written: Written) -> None:
    """Save, report and show what came home."""
    widen(written)
    report = {**job.result().report, "controller": str(arguments.file), "input": arguments.input}
    report |= {"armature": written.obj.name, "action": written.action.name, "place": written.where.lower()}
    if arguments.out:
        saving.save_blend(arguments.out.resolve())
        report["out"] = str(arguments.out)
    report["preview"] = [str(path) for path in rendered(arguments, written, view="FOLLOW")]
    write_report(arguments, report)
    print(json.dumps(report, indent=2) if arguments.json else summary(report))
