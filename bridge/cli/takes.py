# SPDX-License-Identifier: GPL-3.0-or-later
"""``takes``: what was simulated in a .blend, with its numbers."""

import argparse
from pathlib import Path

import bpy

from ...core.errors import BadFile, BadSettings, RigError
from ..api.registering import registered
from ..importing.importers import open_input
from ..takes import armatures_with_takes, list_owner, views
from ..takes.properties import SORTS
from .lines import say, say_json
from .verb import Verb


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument(
        "file", nargs="?", metavar="FILE.blend", help="inside Blender it may be left out for the open file"
    )
    parser.add_argument("--armature", default="", metavar="NAME", help="only this armature's takes")
    sorts = ", ".join(sort[0].lower() for sort in SORTS)
    parser.add_argument("--sort", default="time", metavar="BY", help=f"one of: {sorts} (default time)")
    parser.add_argument("--stayed-up", action="store_true", help="leave out the takes in which the character was lost")
    parser.add_argument("--json", action="store_true", help="print a JSON list, with each take's whole report")


def _run(arguments: argparse.Namespace) -> int:
    """Print one line a take and below it how it went, or JSON."""
    if arguments.sort.upper() not in {sort[0] for sort in SORTS}:
        sorts = ", ".join(sort[0].lower() for sort in SORTS)
        raise BadSettings(f"Takes cannot be sorted by '{arguments.sort}'", f"Choose one of: {sorts}")
    with registered():
        _open(arguments.file)
        rows = [pair for obj in _armatures(arguments.armature) for pair in _listed(obj, arguments)]
        if arguments.json:
            say_json([views.take_mapping(*pair) for pair in rows])
            return 0
        if not rows:
            say("No takes")
        for obj, row in rows:
            _print(obj.name, views.view_take(obj, row))
    return 0


def _open(file: str | None) -> None:
    if file:
        if Path(file).suffix.lower() != ".blend":
            raise BadFile(f"'{file}' is not a .blend", "Takes are kept in .blend files")
        open_input(file)
    elif not bpy.data.filepath:
        raise BadSettings("There is no file to look into", "Give a .blend")


def _armatures(name: str) -> list[bpy.types.Object]:
    if not name:
        return armatures_with_takes()
    obj = bpy.data.objects.get(name)
    if obj is None or obj.type != "ARMATURE":
        names = ", ".join(f"'{found.name}'" for found in armatures_with_takes()) or "none"
        raise RigError(f"There is no armature '{name}'", f"Those that have takes are: {names}")
    return [list_owner(obj)]


def _listed(
    obj: bpy.types.Object, arguments: argparse.Namespace
) -> list[tuple[bpy.types.Object, bpy.types.PropertyGroup]]:
    listed, places = views.arrange_takes(obj.sinew_takes, arguments.sort.upper(), arguments.stayed_up)
    found = [(place, row) for row, shown, place in zip(obj.sinew_takes, listed, places, strict=True) if shown]
    return [(obj, row) for _, row in sorted(found, key=lambda pair: pair[0])]


def _print(armature: str, view: views.TakeView) -> None:
    """One take: which, how it went, and its numbers on one line."""
    marks = {"active": view.shown, "kept": view.kept, "in the NLA": view.in_nla, "Action deleted": view.missing}
    fate = "fell" if view.fell else "lost it" if view.lost else "stayed up"
    said = [view.label, fate, *(mark for mark, true in marks.items() if true)]
    say(f"{armature}: '{view.name}' ({', '.join(said)})")
    if view.asked:
        say(f"    {view.asked}")
    for sentence in view.sentences:
        say(f"    {sentence}")
    if view.placed:
        say(f"    {view.placed}")
    facts = [f"{name.lower()} {value}" for name, value in (*view.facts, ("source", view.source or "NLA"))]
    say(f"    {', '.join(facts)}")
    if view.numbers:
        say(f"    {', '.join(f'{name.lower()} {value}' for name, value in view.numbers)}")


VERB = Verb(_add_arguments, _run)
