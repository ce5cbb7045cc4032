# SPDX-License-Identifier: GPL-3.0-or-later
"""``live``: what was done to a live character, done again without a window, as a new Action."""

import argparse
from dataclasses import replace
from pathlib import Path, PurePath

import bpy

from ...core.control.live.commands import FPS, BadCommand, LiveRecording, read_recording
from ...core.control.live.method import LiveSettings
from ...core.control.registry import live_names
from ...core.errors import BadSettings
from ...core.paths import is_plain_file
from ..api.characters import character
from ..api.registering import registered
from ..api.simulating import replay_live
from ..importing.importers import open_input
from ..learned.learned_file import learned_file
from .baking import open_character
from .bodies import add_body, body_of
from .job_arguments import add_engine, add_job_folder, add_settings
from .lines import path_argument, say
from .outputs import add_outputs, preview_view, require_outputs
from .running import bake_take, render_take, run_job, summarize
from .verb import Verb


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    add = parser.add_argument
    add(
        "input",
        nargs="?",
        metavar="INPUT",
        help=".blend, .bvh, .fbx, .glb, .gltf, .npz or a stock clip's name (see 'clips'); the one that the recording "
        "names if left out, or inside Blender the open scene",
    )
    add("--commands", type=path_argument, required=True, metavar="FILE", help="the recording: a line of JSON for each")
    add(
        "--learned",
        type=path_argument,
        metavar="FILE",
        help="what is live instead of an Action: a trained library, a graph, a controller or an improviser",
    )
    add("--armature", default="", metavar="NAME", help="which armature, where there are several")
    add("--action", default="", metavar="NAME", help="which Action; the active one if left out")
    add("--scale", type=float, default=1.0, metavar="S", help="metres a unit of the input (default 1)")
    add_engine(parser)
    add_settings(parser, f"of these: {', '.join(LiveSettings.field_names())}")
    add_body(parser)
    add_outputs(parser)
    add_job_folder(parser)


def _run(arguments: argparse.Namespace) -> int:
    """Open, do again in a worker, bake, and write what was asked for."""
    recording = read_recording(arguments.commands)
    settings = LiveSettings.from_texts(arguments.set)
    if arguments.learned:
        settings = replace(settings, plays=_find_family(arguments.learned))
    body, scale, name = body_of(arguments), arguments.scale, arguments.armature
    require_outputs(arguments)
    source = arguments.input or _find_source(recording, arguments.commands)
    learned = learned_file(settings.plays).read_file(arguments.learned.resolve()) if arguments.learned else None
    with registered():
        if learned is not None:
            arguments.blend = source
            skeleton = learned_file(settings.plays).kind.skeleton_of(learned.model)
            assert skeleton is not None  # of everything that can be live
            obj, scale, body = open_character(arguments, skeleton, float(FPS))
            name = obj.name
        elif source:
            scale = open_input(source, arguments.scale)
        elif not bpy.context.scene.objects:
            raise BadSettings("There is nobody to be live", "Give a file or a stock clip's name (see 'sinew clips')")
        job = replay_live(
            recording,
            character(name, scale=scale),
            learned=learned,
            action=arguments.action,
            body=body,
            engine=arguments.engine,
            folder=arguments.job_dir,
            **settings.to_mapping(),
        ).job
        if code := run_job(arguments, job, input=source):
            return code
        report, written = bake_take(arguments, job, input=source)
        render_take(arguments, report, written, preview_view(source))
        say(*summarize(report))
    return 0


def _find_family(path: Path) -> str:
    """Which family's learned file it is, by its ending."""
    endings = {name: learned_file(name).kind.ending for name in live_names()[1:]}
    for name, ending in endings.items():
        if path.name.endswith(ending):
            return name
    raise BadSettings(
        f"'{path.name}' is nothing that can be live", f"Give a file that ends with {', '.join(endings.values())}"
    )


def _find_source(recording: LiveRecording, path: Path) -> str:
    """What the recording says that it was made with: a stock clip, or a file in the recording's own folder.

    A recording may come from anywhere, and must not lead to other files.
    """
    if not recording.source:
        return ""
    if PurePath(recording.source).name != recording.source or "\\" in recording.source:
        raise BadCommand(
            f"The recording names the file '{recording.source}', which is not beside it",
            "Give the file yourself: sinew live FILE --commands …",
        )
    beside = path.parent / recording.source
    return str(beside) if is_plain_file(beside) else recording.source


VERB = Verb(_add_arguments, _run)
