# SPDX-License-Identifier: GPL-3.0-or-later
"""``farm export``: a folder to hand to a farm, with the scene as it is now and a job in the farm's own words."""

import argparse
import os
from dataclasses import replace
from pathlib import Path

import bpy

from ....core.errors import BadSettings, RigError
from ....core.files import cannot_write, write_whole
from ....core.jobs.engine_choice import check_engine_name
from ....core.jobs.farm import FORMATS, FarmOrder, parse_frame_list, require_format
from ....core.jobs.farm.order import LAST_FRAME, RESULTS_NAME, SCENE_NAME, write_frame_list
from ....core.paths import is_folder, is_there
from ....core.sim.variations import VariationSettings
from ...api.registering import registered
from ...importing.importers import open_input
from ...jobs import batches, requests
from ...scene import saving
from .. import simulate, variations
from ..lines import indented, path_argument, say, say_aside
from ..verb import Verb
from .take_options import add_take_options, read_options, simulate_arguments

_NO_FRAMES = "none"


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    add = parser.add_argument
    add(
        "scene",
        nargs="?",
        metavar="FILE.blend",
        help="or anything else that 'simulate' takes; inside Blender it may be left out for the open scene",
    )
    add("--format", required=True, metavar="NAME", help=f"one of: {', '.join(FORMATS)}")
    add(
        "--out",
        type=path_argument,
        required=True,
        metavar="FOLDER",
        help="a new or empty folder that the nodes see as well; it gets the scene, the job, and later the results",
    )
    add(
        "--render",
        metavar="FRAMES",
        help="frames of each take to render, such as 1-120 or 1,50,100-110, or none; the current one if left out",
    )
    add(
        "--blender",
        default="",
        metavar="PROGRAM",
        help="Blender on the nodes (default: blender, or Flamenco's {blender})",
    )
    add(
        "--addon",
        default="",
        metavar="MODULE",
        help="Sinew's module on nodes where it is not enabled, such as bl_ext.user_default.sinew",
    )
    add_take_options(parser, takes=VariationSettings().count)


def _run(arguments: argparse.Namespace) -> int:
    """Check everything that a task would stumble over later, then write."""
    file_name, encode = require_format(arguments.format)
    options = read_options(arguments)
    asked = simulate_arguments(options, arguments.takes, arguments.seed)
    request = simulate.parse_request(asked)
    check_engine_name(request.engine)
    home = Path(os.path.abspath(arguments.out))
    order = FarmOrder(
        title=Path(arguments.scene or bpy.data.filepath).stem or "Takes",
        takes=arguments.takes,
        seed=arguments.seed,
        options=options,
        frames=parse_frame_list(arguments.render) if arguments.render not in (None, _NO_FRAMES) else (),
        blender=arguments.blender,
        addon=arguments.addon,
        scene=(home / SCENE_NAME).as_posix(),
        results=(home / RESULTS_NAME).as_posix(),
    )
    settings = variations.variation_settings(asked)
    encode(order)  # refuses what the format cannot hold before anything is opened
    _require_own_folder(home, file_name)
    with registered():
        if arguments.scene:
            open_input(arguments.scene)
        _require_scene(renders=bool(order.frames))
        if arguments.render is None:
            order = replace(order, frames=_current_frame())
        rig = requests.read(request)
        simulate.say_findings(rig, anyway=False)
        batches.plan(request, rig, settings)  # all that a node would do before it simulates, and marks of whose takes
        saving.save_blend(home / SCENE_NAME)
    write_whole(home / file_name, encode(order))  # last: without it there is no job
    frames = f", and of each rendered: {write_frame_list(order.frames)}" if order.frames else ""
    done = f"'{home / file_name}': {_count(order.takes)} merged{frames}"
    say(*indented(done, [_next_step(arguments.format, "Render" if order.frames else "Merge")]))
    return 0


def _count(takes: int) -> str:
    return "1 take" if takes == 1 else f"{takes} takes"


def _require_own_folder(folder: Path, file_name: str) -> None:
    """Refuse a folder with anything in it but what an export and its tasks write."""
    if is_there(folder) and not is_folder(folder):
        raise BadSettings(f"'{folder}' is no folder", "Give --out a new or an empty one")
    try:
        others = sorted(set(os.listdir(folder)) - {file_name, SCENE_NAME, RESULTS_NAME}) if is_there(folder) else []
    except OSError as error:
        raise cannot_write(folder, error) from error
    if others:
        raise BadSettings(f"The folder '{folder}' holds other files, such as '{others[0]}'", "Give --out an empty one")


def _require_scene(*, renders: bool) -> None:
    """Refuse a scene in which there is nothing to simulate or no camera to render by."""
    if not bpy.context.scene.objects:
        raise BadSettings("There is nothing to simulate", "Give the .blend with the character")
    if renders and bpy.context.scene.camera is None:
        raise RigError(f"The scene '{bpy.context.scene.name}' has no camera", "Add one, or leave out --render")


def _current_frame() -> tuple[int, ...]:
    """What is rendered unless it is said: one picture of each take, where there is a camera to see it by."""
    if bpy.context.scene.camera is None:
        say_aside("note: the scene has no camera, so that nothing will be rendered")
        return ()
    return (min(max(bpy.context.scene.frame_current, 0), LAST_FRAME),)


def _next_step(form: str, last: str) -> str:
    if form == "openjd":
        return f"Submit the folder, or try it here: openjd run {FORMATS[form][0]} --step {last} --run-dependencies"
    return "Copy it into the folder 'scripts' beside flamenco-manager, and submit the scene as such a job"


VERB = Verb(_add_arguments, _run)
