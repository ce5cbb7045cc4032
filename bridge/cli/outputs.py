# SPDX-License-Identifier: GPL-3.0-or-later
"""What a command line leaves behind: a scene, a report, pictures and films; the same for every verb that simulates."""

import argparse
from pathlib import Path

import bpy

from ...core import jobs
from ...core.errors import BadSettings
from ...core.files import write_json
from .. import preview
from ..rig import actions
from ..rig.rig_writer import WrittenAction
from ..scene import saving
from .lines import path_argument, say_aside


def add_outputs(
    parser: argparse.ArgumentParser, out: str = "FILE.blend", what: str = "save the scene with the new Action"
) -> None:
    """Declare the arguments that are about outputs; ``out``: what --out is, and for what."""
    add = parser.add_argument
    add("--out", type=path_argument, metavar=out, help=what)
    add("--report", type=path_argument, metavar="FILE.json", help="write what was done and measured")
    add(
        "--preview",
        action="append",
        default=[],
        type=path_argument,
        metavar="FILE.png|.mp4",
        help="render a contact sheet or a film of the result; may be repeated",
    )


def require_outputs(arguments: argparse.Namespace, out: str = ".blend") -> None:
    """Find out now, not after an hour of simulation, that a result could not be written; ``out``: how --out ends."""
    outputs = [(arguments.out, (out,)), (arguments.report, (".json",))]
    outputs += [(path, (".png", ".mp4")) for path in arguments.preview]
    for path, endings in outputs:
        if path is None:
            continue
        if path.suffix.lower() not in endings:
            raise BadSettings(f"'{path}' has the wrong ending", f"Give a file that ends in {' or '.join(endings)}")
        saving.require_writable_folder(path.resolve().parent)


def say_cancelled(arguments: argparse.Namespace, job: jobs.Job) -> None:
    """How to go on with a job that was stopped: one in a folder of its own is not among the user's jobs."""
    again = "run the same command again" if arguments.job_dir else f"sinew jobs resume {job.spec.id}"
    say_aside(f"cancelled; to go on: {again}")


def preview_view(text: str | None) -> str:
    """A .blend has a camera of its user's; what we opened ourselves is best seen by one that goes along."""
    return "FOLLOW" if text and Path(text).suffix.lower() != ".blend" else "AUTO"


def rendered(arguments: argparse.Namespace, written: WrittenAction, number: int = 0, *, view: str) -> list[Path]:
    """Render what was asked for; gives the files. A variation's number goes into their names.

    view: one of ``preview.VIEWS``.
    """
    scene, everybody = bpy.context.scene, (written, *written.others)
    first, last = (int(frame) for frame in written.action.frame_range)
    paths = [path.with_stem(f"{path.stem}-{number:02d}") if number else path for path in arguments.preview]
    for path in paths:
        with actions.play_temporarily(written.obj, written.action):
            preview.render(scene, path.resolve(), first, last, [one.obj for one in everybody], view)
    return paths


def write_report(arguments: argparse.Namespace, report: dict[str, object]) -> None:
    """Write what was done and measured, if that was asked for."""
    if arguments.report:
        write_json(arguments.report.resolve(), report)
