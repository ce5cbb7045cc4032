# SPDX-License-Identifier: GPL-3.0-or-later
"""``simulate``: from a scene, a motion file or a stock clip to a new Action, in one command."""

import argparse
import dataclasses
import sys
from pathlib import Path

import bpy

from ...core import jobs
from ...core.control import registry
from ...core.control.muscle import parse_muscle_keys
from ...core.errors import BadSettings, SinewError
from ...core.motion.unit_checks import check_frame_rate, check_scale
from ...core.sim.variations import VariationSettings
from ..importing.importers import open_input
from ..jobs import requests
from ..rig.rig_reader import RigMotion
from ..rig.rig_writer import PLACES, WrittenAction
from ..scene import saving
from . import CANCELLED, variations
from .bodies import add_body, body_of
from .jobs import run_to_end
from .outputs import add_outputs, rendered, require_outputs, say_cancelled, view_of, widen, write_report
from .registering import registered


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    add = parser.add_argument
    add(
        "input",
        nargs="?",
        metavar="INPUT",
        help=".blend, .bvh, .fbx, .glb, .gltf, .npz or a stock clip's name "
        "(see 'clips'); inside Blender it may be left out for the open scene",
    )
    add("--armature", default="", metavar="NAME", help="which armature, where there are several")
    add("--action", default="", metavar="NAME", help="which Action; the active one if left out")
    add("--frames", type=_frames, metavar="A:B", help="first and last frame; the Action's own if left out")
    add("--fps", type=float, metavar="F", help="the frame rate at which the motion is right, where its file is wrong")
    add("--scale", type=float, default=1.0, metavar="S", help="metres a unit of the input (default 1)")
    add("--cycles", type=int, default=1, metavar="N", help="play a cyclic motion N times over (default 1)")
    add("--method", default=registry.default_name(), metavar="NAME", help=f"one of: {', '.join(registry.names())}")
    add("--engine", default="auto", help="auto, mujoco or bullet (default auto: the fastest installed)")
    add("--seed", type=int, default=0, metavar="N", help="same seed, same result (default 0)")
    add("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of the method; may be repeated")
    add_body(parser)
    add(
        "--muscle",
        metavar="FRAME:VALUE,...",
        help="how much muscle there is, from 0 (limp) to 1, such as 1:1,40:0,60:0,80:1; what is keyed if left out",
    )
    add("--place", default="auto", metavar="WHERE", help="auto, action, nla or copy: where the result goes")
    add_outputs(parser)
    add("--job-dir", type=Path, metavar="DIR", help="keep the job in this folder; run again to go on after a kill")
    variations.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Open, read, simulate in a worker, bake, and write what was asked for."""
    request, wanted = _request(arguments), variations.settings_of(arguments)
    require_outputs(arguments)
    with registered():
        return _simulate(arguments, request, wanted)


def _simulate(arguments: argparse.Namespace, request: requests.Request, wanted: VariationSettings | None) -> int:
    if arguments.input:
        request = dataclasses.replace(request, scale=open_input(arguments.input, arguments.scale))
    elif not bpy.context.scene.objects:
        raise BadSettings("There is nothing to simulate", "Give a file or a stock clip's name (see 'sinew clips')")
    rig = requests.read(request)
    _say_findings(rig)
    if wanted is not None:
        return _simulate_variations(arguments, request, rig, wanted)
    job = requests.create(request, rig, arguments.job_dir)
    status = run_to_end(job)
    if status.state != "done":
        write_report(arguments, {**jobs.unfinished_report(job), "input": arguments.input})
        if status.state == "cancelled":
            say_cancelled(arguments, job)
            return CANCELLED
        raise SinewError(status.message or f"The job was {status.state}", status.hint)
    written = requests.collect(job)
    _finish(arguments, job, written)
    return 0


def _simulate_variations(
    arguments: argparse.Namespace, request: requests.Request, rig: RigMotion, wanted: VariationSettings
) -> int:
    """Make takes to choose from; what is done is saved and shown, whatever became of the others."""
    batch, outcomes = variations.simulate_all(request, rig, wanted, arguments.job_dir)
    report = {**variations.report_of(batch, outcomes), "input": arguments.input}
    done = [outcome for outcome in outcomes if outcome.written is not None]
    for outcome in done:
        widen(outcome.written)
    if arguments.out and done:
        saving.save_blend(arguments.out.resolve())
        report["out"] = str(arguments.out)
    report["preview"] = [
        str(path)
        for outcome in done
        for path in rendered(arguments, outcome.written, outcome.variation.number, view=view_of(arguments.input))
    ]
    write_report(arguments, report)
    print(variations.table(outcomes))
    code = variations.exit_code(batch, outcomes)
    if code == CANCELLED:
        again = "run the same command again" if arguments.job_dir else "see: sinew jobs"
        print(f"sinew: cancelled; to go on, {again}", file=sys.stderr)
    return code


def _request(arguments: argparse.Namespace) -> requests.Request:
    """What was asked, checked before anything is opened."""
    if arguments.method in registry.graph_names():
        raise BadSettings(f"Method '{arguments.method}' needs skills, not a clip", "Use the verb: sinew graph --help")
    settings = registry.get(arguments.method).settings_type.from_texts(arguments.set)
    places = [place[0].lower() for place in PLACES]
    if arguments.place.lower() not in places:
        raise BadSettings(f"There is no place '{arguments.place}'", f"Choose one of: {', '.join(places)}")
    if arguments.fps is not None and not 1.0 <= arguments.fps <= 1000.0:
        raise BadSettings(f"The frame rate is {arguments.fps}", "Give frames a second, such as --fps 60")
    return requests.Request(
        armature=arguments.armature,
        action=arguments.action,
        method=arguments.method,
        settings=settings.to_mapping(),
        engine=arguments.engine,
        seed=arguments.seed,
        frames=arguments.frames,
        true_fps=arguments.fps,
        scale=arguments.scale,
        cycles=arguments.cycles,
        place=arguments.place.upper(),
        body=body_of(arguments),
        muscle=parse_muscle_keys(arguments.muscle) if arguments.muscle is not None else None,
    )


def _say_findings(rig: RigMotion) -> None:
    for finding in (check_scale(rig.clip), check_frame_rate(rig.clip)):
        if finding is not None:
            print(f"sinew: note: {finding.message.rstrip('.')}. {finding.hint}", file=sys.stderr)


def _finish(arguments: argparse.Namespace, job: jobs.Job, written: WrittenAction) -> None:
    """Save, report and show what came home."""
    widen(written)
    report = {**job.result().report, "input": arguments.input, "armature": written.obj.name}
    report |= {"action": written.action.name, "place": written.where.lower()}
    everybody = (written, *written.others)
    for about, one in zip(report.get("characters", ()), everybody, strict=False):
        about |= {"armature": one.obj.name, "action": one.action.name}
    report["props"] = [{"object": one.obj.name, "action": one.action.name} for one in written.props]
    if arguments.out:
        saving.save_blend(arguments.out.resolve())
        report["out"] = str(arguments.out)
    report["preview"] = [str(path) for path in rendered(arguments, written, view=view_of(arguments.input))]
    write_report(arguments, report)
    print(summary(report))


def summary(report: dict[str, object]) -> str:
    """What happened: a line of what was done, and one for each sentence about how it went."""
    engine = "" if report["engine"] == "none" else f" on {report['engine']}"
    done = (
        f"{report['armature']}: Action '{report['action']}' made by {report['method']}{engine} "
        f"from {report['duration_s']:.2f} s of motion in {report['wall_s']:.1f} s"
    )
    others = [f"{about['armature']}: Action '{about['action']}'" for about in report.get("characters", ())[1:]]
    things = [f"{about['object']}: Action '{about['action']}'" for about in report.get("props", ())]
    return "\n  ".join([done, *report.get("summary", ()), *others, *things])


def _frames(text: str) -> tuple[int, int]:
    first, colon, last = text.partition(":")
    try:
        if not colon:
            raise ValueError
        return int(first), int(last)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a frame range; write A:B, such as 1:120") from None
