# SPDX-License-Identifier: GPL-3.0-or-later
"""``simulate``: from a scene, a motion file or a stock clip to a new Action, in one command."""

import argparse
import dataclasses
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import bpy

from ...core.control import registry
from ...core.control.method import Source
from ...core.control.muscle import parse_muscle_keys
from ...core.errors import BadMotion, BadSettings
from ...core.jobs import Job
from ...core.motion.inspection import UNIT_KINDS, inspect_clip
from ...core.sim.variations import VariationSettings
from ..api.one_push import OnePush, parse_push
from ..api.registering import registered
from ..api.simulating import simulate_motion
from ..api.work import widen_scene
from ..importing.importers import open_clip, open_input
from ..jobs import requests
from ..rig.rig_reader import RigMotion
from ..scene import saving
from . import CANCELLED, variations
from .baking import require_result_place
from .bodies import add_body, body_of
from .job_arguments import add_engine, add_job_folder, add_seed, add_settings
from .lines import say, say_aside
from .other_body import add_on, put_input_on
from .outputs import add_outputs, preview_view, rendered, require_outputs, write_report
from .running import bake_take, render_take, run_job, summarize
from .several import GivenInput, are_several, list_inputs, require_several, simulate_several
from .verb import Verb


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    add = parser.add_argument
    add(
        "input",
        nargs="?",
        metavar="INPUT",
        help=".blend, .bvh, .fbx, .glb, .gltf, .npz or a stock clip's name "
        "(see 'clips'); inside Blender it may be left out for the open scene",
    )
    add(
        "more",
        nargs="*",
        metavar="INPUT",
        help="further ones, each simulated by itself: on a cluster all at once. --out is then a folder with a .blend "
        "for each. A library (.library.npz) is as many inputs as it has clips",
    )
    add("--armature", default="", metavar="NAME", help="which armature, where there are several")
    add("--action", default="", metavar="NAME", help="which Action; the active one if left out")
    add("--frames", type=_frames, metavar="A:B", help="first and last frame; the Action's own if left out")
    add(
        "--blend",
        type=float,
        metavar="SECONDS",
        help="keep the rest of the Action and blend the simulated --frames into it over so long, such as 0.25; "
        "a take of those frames alone if left out",
    )
    add("--fps", type=float, metavar="F", help="the frame rate at which the motion is right, where its file is wrong")
    add("--scale", type=float, default=1.0, metavar="S", help="metres a unit of the input (default 1)")
    add(
        "--trim",
        choices=("auto", "off"),
        help="auto: leave out calibration poses and frozen frames at the ends, and bridge cuts (default); "
        "off: simulate every frame as it is",
    )
    add("--anyway", action="store_true", help="simulate also what no body can do, such as somebody 60 m tall")
    add("--cycles", type=int, default=1, metavar="N", help="play a cyclic motion N times over (default 1)")
    add(
        "--travel",
        choices=("auto", "on", "off"),
        help="whether a walk or run on the spot gets the travel that its feet ask for (default auto: if it is one)",
    )
    add(
        "--method",
        default=registry.default_method_name(),
        metavar="NAME",
        help=f"one of: {', '.join(registry.clip_method_names())}",
    )
    add_engine(parser)
    add_seed(parser, "result")
    add_settings(parser, "of the method")
    add_on(parser)
    add_body(parser)
    add(
        "--muscle",
        metavar="FRAME:VALUE,...",
        help="how much muscle there is, from 0 (limp) to 1, such as 1:1,40:0,60:0,80:1; what is keyed if left out",
    )
    add(
        "--bones",
        metavar="NAMES",
        help="simulate only these and keep the rest as animated: bones, or upper_body, head, arms, left_arm, "
        "right_arm, legs, left_leg, right_leg, tail, with commas between; short for --set bones=...",
    )
    add("--place", default="auto", metavar="WHERE", help="auto, action, nla, copy or controls: where the result goes")
    add_outputs(parser)
    add_job_folder(parser)
    add(
        "--push",
        action="append",
        default=[],
        metavar="WHAT@S[:SIDE]",
        help="push the trunk at S seconds for 0.2 s with so many newtons, or so that the character will brace, stagger "
        "or fall, such as 200@1.5:left or stagger@1.5; from front, back, left or right (default front); may be "
        "repeated. With --variations A:B: push each of them once, with A to B newtons",
    )
    variations.add_variation_arguments(parser)


def _run(arguments: argparse.Namespace) -> int:
    """Open, read, simulate in a worker, bake, and write what was asked for."""
    request, wanted = parse_request(arguments), variations.variation_settings(arguments)
    pushes = [] if wanted is not None else [parse_push(text) for text in arguments.push]
    if are_several(arguments):
        require_several(arguments)
        given = list_inputs((arguments.input, *arguments.more))
        with registered():
            return simulate_several(arguments, given, partial(_open, arguments, request, pushes))
    require_outputs(arguments)
    with registered():
        return _simulate(arguments, request, wanted, pushes)


def _open(
    arguments: argparse.Namespace, request: requests.Request, pushes: Sequence[OnePush], given: GivenInput
) -> Callable[[Path | None], Job]:
    """Open one of several inputs; gives what makes its job."""
    scale = open_input(given.text, arguments.scale) if given.clip is None else open_clip(given.clip)
    request = put_input_on(arguments, dataclasses.replace(request, scale=scale))
    rig = requests.read(request)
    say_findings(rig, arguments.anyway)
    return lambda folder: simulate_motion(request, rig, pushes, folder).job


def _simulate(
    arguments: argparse.Namespace,
    request: requests.Request,
    wanted: VariationSettings | None,
    pushes: Sequence[OnePush],
) -> int:
    if arguments.input:
        request = dataclasses.replace(request, scale=open_input(arguments.input, arguments.scale))
    elif not bpy.context.scene.objects:
        raise BadSettings("There is nothing to simulate", "Give a file or a stock clip's name (see 'sinew clips')")
    request = put_input_on(arguments, request)
    rig = requests.read(request)
    say_findings(rig, arguments.anyway)
    if wanted is not None:
        return _simulate_variations(arguments, request, rig, wanted)
    job = simulate_motion(request, rig, pushes, arguments.job_dir).job
    if code := run_job(arguments, job, input=arguments.input):
        return code
    report, written = bake_take(arguments, job, input=arguments.input)
    render_take(arguments, report, written, preview_view(arguments.input))
    say(*summarize(report))
    return 0


def _simulate_variations(
    arguments: argparse.Namespace, request: requests.Request, rig: RigMotion, wanted: VariationSettings
) -> int:
    """Make takes to choose from; what is done is saved and shown, whatever became of the others."""
    batch, outcomes = variations.simulate_all(
        request, rig, wanted, arguments.job_dir, only=arguments.only, anew=arguments.anew, where=arguments.where
    )
    report = {**variations.report_of(batch, outcomes), "input": arguments.input}
    done = [outcome for outcome in outcomes if outcome.written is not None]
    for outcome in done:
        widen_scene(outcome.written)
    if arguments.out and done:
        saving.save_blend(arguments.out.resolve())
        report["out"] = str(arguments.out)
    report["preview"] = [
        str(path)
        for outcome in done
        for path in rendered(arguments, outcome.written, outcome.variation.number, view=preview_view(arguments.input))
    ]
    write_report(arguments, report)
    say(*variations.table(outcomes))
    code = variations.exit_code(batch, outcomes)
    if code == CANCELLED:
        again = "run the same command again" if arguments.job_dir else "see: sinew jobs"
        say_aside(f"cancelled; to go on, {again}")
    return code


def parse_request(arguments: argparse.Namespace) -> requests.Request:
    """What was asked, checked before anything is opened."""
    method, family = registry.get_method(arguments.method), registry.family_of(arguments.method)
    if family is not None and method.takes is not Source.CLIP:
        raise BadSettings(
            f"Method '{method.name}' needs {family.label.lower()}, not a clip",
            f"Use the verb: sinew {family.name} --help",
        )
    settings = method.settings_type.from_texts(_setting_texts(arguments, method.settings_type.field_names()))
    require_result_place(arguments.place)
    if arguments.fps is not None and not 1.0 <= arguments.fps <= 1000.0:
        raise BadSettings(f"The frame rate is {arguments.fps}", "Give frames a second, such as --fps 60")
    if arguments.blend is not None and arguments.frames is None:
        raise BadSettings("There is nothing to blend with", "Say which frames are simulated: --frames A:B")
    if arguments.blend is not None and not 0.0 <= arguments.blend <= 10.0:
        raise BadSettings(f"The blend lasts {arguments.blend:g} s", "Give seconds, such as --blend 0.25")
    return requests.Request(
        armature=arguments.armature,
        action=arguments.action,
        method=arguments.method,
        settings=settings.to_mapping(),
        engine=arguments.engine,
        seed=arguments.seed,
        frames=arguments.frames,
        fade_s=arguments.blend,
        true_fps=arguments.fps,
        scale=arguments.scale,
        cycles=arguments.cycles,
        place=arguments.place.upper(),
        body=body_of(arguments),
        muscle=parse_muscle_keys(arguments.muscle) if arguments.muscle is not None else None,
    )


def _setting_texts(arguments: argparse.Namespace, known: tuple[str, ...]) -> list[str]:
    """What ``--set`` says, and the options that are settings, too."""
    texts = list(arguments.set)
    if arguments.bones is not None:
        texts.append(f"bones={arguments.bones}")
    for name, lack in (("trim", "leaves nothing out"), ("travel", "gives no travel")):
        value = getattr(arguments, name)
        if value is None:
            continue
        if name not in known:
            raise BadSettings(f"Method '{arguments.method}' {lack}", f"Leave out --{name}")
        texts.append(f"{name}={value}")
    return texts


def say_findings(rig: RigMotion, anyway: bool) -> None:
    """Tell what looks wrong with the motion; what no body can do is refused."""
    for finding in inspect_clip(rig.clip):
        if finding.is_impossible and not anyway:
            hint = f"{finding.hint}, or --anyway to simulate it as it is"
            raise BadMotion(f"{finding.message.rstrip('.')}. It was not simulated", hint)
        if finding.kind in UNIT_KINDS:  # of the rest the report says what was made of it
            say_aside(f"note: {finding.message.rstrip('.')}. {finding.hint}")


def _frames(text: str) -> tuple[int, int]:
    first, colon, last = text.partition(":")
    try:
        if not colon:
            raise ValueError
        return int(first), int(last)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a frame range; write A:B, such as 1:120") from None


VERB = Verb(_add_arguments, _run)
