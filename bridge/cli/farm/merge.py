# SPDX-License-Identifier: GPL-3.0-or-later
"""``farm merge``: takes that tasks of a farm have made, beside each other in one .blend."""

import argparse

import bpy

from ....core.errors import BadSettings
from ...api.registering import registered
from ...api.work import widen_scene
from ...importing.importers import open_input
from ...jobs.merging import find_take_folders, merge_takes
from ...scene import saving
from ..lines import indented, path_argument, say
from ..verb import Verb


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    add = parser.add_argument
    add(
        "folders",
        nargs="+",
        type=path_argument,
        metavar="TAKE",
        help="a take's job folder, its .blend beside that, or a folder with numbered takes",
    )
    add("--into", type=path_argument, required=True, metavar="FILE.blend", help="the scene with all takes")
    add("--scene", metavar="FILE.blend", help="inside Blender it may be left out for the open scene")
    add("--takes", type=int, metavar="N", help="how many takes a folder must have; all that are there if left out")


def _run(arguments: argparse.Namespace) -> int:
    """Bake all of them and save; where one is missing or does not fit, nothing is saved."""
    if arguments.into.suffix.lower() != ".blend":
        raise BadSettings(f"'{arguments.into}' has the wrong ending", "Give a file that ends in .blend")
    if arguments.takes is not None and arguments.takes < 1:
        raise BadSettings(f"{arguments.takes} takes are to be merged", "Give a number of at least 1")
    folders = [one for path in arguments.folders for one in find_take_folders(path, arguments.takes)]
    saving.require_writable_folder(arguments.into.resolve().parent)
    with registered():
        if arguments.scene:
            open_input(arguments.scene)
        elif not bpy.context.scene.objects:
            raise BadSettings(
                "There is no scene to merge the takes into", "Give the one that they were made of: --scene"
            )
        written = merge_takes(folders)
        for one in written:
            widen_scene(one)
        saving.save_blend(arguments.into.resolve())
    lines = [f"{one.obj.name}: Action '{one.action.name}'" for one in written]
    say(*indented(f"{len(written)} takes merged into '{arguments.into}'", lines))
    return 0


VERB = Verb(_add_arguments, _run)
