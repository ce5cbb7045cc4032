# SPDX-License-Identifier: GPL-3.0-or-later
"""``bench characters``: characters that nobody here made, from import to a baked take by the panel's own buttons.

Nothing is called here that a panel does not show: a file is imported by Blender's own importer, its armature is
picked, an Action chosen, the motion checked and what the check offers accepted, the body fitted, the Action simulated
by a worker and baked by the monitor, the take sent to the NLA. What comes of it is measured, and shown with its source.
"""

import argparse
import importlib
import json
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bpy

from ...bridge.body import fitted_bodies
from ...bridge.importing.importers import open_input
from ...bridge.jobs import monitor, notices
from ...bridge.jobs.scene_request import request_of
from ...bridge.rig.actions import curves_of, slot_for
from ...bridge.scene import saving
from ...bridge.setup.preferences import ROOT_PACKAGE
from ...core.control import registry
from ...core.errors import BadSettings, SinewError
from ...core.files import write_whole
from .. import mocap
from .. import rows as bench_rows
from ..options import print_progress, split_words
from ..run import Row
from ..sheets import character_sheet
from .catalogue import CHARACTERS, CharacterFile, characters_page

_DOCS = Path(__file__).resolve().parents[2] / "docs"
_PICTURES = Path("images") / "characters"
_KEY = ("character", "action", "seed")
_LONGEST_S = 900.0  # a worker that takes longer for a few seconds of motion hangs


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the benchmark's own arguments."""
    add = parser.add_argument
    names = ", ".join(character.name for character in CHARACTERS)
    add("--only", type=split_words, default=(), metavar="NAMES", help=f"some of: {names}; if left out, all")
    add(
        "--actions",
        type=split_words,
        default=(),
        metavar="NAMES",
        help="these Actions, or all; else those with a sheet",
    )
    add(
        "--method",
        default=registry.default_method_name(),
        metavar="NAME",
        help=f"one of: {', '.join(registry.clip_method_names())}",
    )
    add("--seed", type=int, default=0, metavar="N", help="another seed (default 0)")
    add("--rows", type=Path, metavar="FILE.jsonl", help="append every row to this file as soon as it is known")
    add(
        "--sheets",
        type=Path,
        nargs="?",
        const=_DOCS,
        metavar="DIR",
        help="also make a contact sheet of each and a page that shows them; DIR is the project's docs/ if left out. "
        "The page has all that --rows has, the newest row of each",
    )


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """Take every character through the panels' steps, Action by Action."""
    chosen = _chosen(arguments.only)
    if not mocap.FOLDER.is_dir():
        return {"skipped": f"there is no folder of characters: {mocap.FOLDER}", "rows": []}
    if arguments.sheets is not None:
        saving.require_writable_folder(arguments.sheets)
    rows: list[Row] = []
    registry.get_method(arguments.method)  # or there is no such method
    with _sinew_enabled():
        for character in chosen:
            for action in _wanted(character, arguments.actions):
                sheet = arguments.sheets / _PICTURES if arguments.sheets and action in character.shown else None
                row = take_through_panels(character, action, arguments.seed, sheet, arguments.method)
                rows.append(row)
                print_progress(_line(row))
                if arguments.rows is not None:
                    bench_rows.append_row(arguments.rows, row)
    if arguments.sheets is not None:
        known = bench_rows.read_rows(arguments.rows) if arguments.rows else []
        every = bench_rows.newest_rows([*known, *rows], _KEY)
        pictures = {path.stem: (_PICTURES / path.name).as_posix() for path in (arguments.sheets / _PICTURES).glob("*")}
        write_whole(arguments.sheets / "characters.md", characters_page(every, pictures).encode())
    baked = sum("baked" in row for row in rows)
    return {"characters": len(chosen), "rows": rows, "baked": baked, "fell": sum(bool(row.get("fell")) for row in rows)}


def _chosen(names: tuple[str, ...]) -> list[CharacterFile]:
    known = {character.name: character for character in CHARACTERS}
    if unknown := [name for name in names if name not in known]:
        raise BadSettings(f"There is no character '{unknown[0]}'", f"Choose from: {', '.join(known)}")
    return [known[name] for name in names or known]


@contextmanager
def _sinew_enabled() -> Iterator[None]:
    """The whole add-on in this Blender, with jobs in a folder that goes away again."""
    package = importlib.import_module(ROOT_PACKAGE)  # its buttons are registered by nobody else
    before = os.environ.get("SINEW_JOBS")
    was_there = hasattr(bpy.types.Scene, "sinew")
    with tempfile.TemporaryDirectory(prefix="sinew-characters-", ignore_cleanup_errors=True) as folder:
        os.environ["SINEW_JOBS"] = folder
        if not was_there:
            package.register()
        try:
            yield
        finally:
            if not was_there:
                package.unregister()
            if before is None:
                del os.environ["SINEW_JOBS"]
            else:
                os.environ["SINEW_JOBS"] = before


def _imported(character: CharacterFile) -> bpy.types.Object:
    """The character's armature in an otherwise empty scene, as File > Import brings it in."""
    open_input(str(mocap.FOLDER / character.file))
    return next(obj for obj in bpy.context.scene.objects if obj.type == "ARMATURE")


def _wanted(character: CharacterFile, names: tuple[str, ...]) -> list[str]:
    """The Actions to simulate: those that were named, every one of the file that moves bones, or those with a sheet."""
    if not names:
        return list(character.shown)
    if names != ("all",):
        return list(names)
    obj = _imported(character)
    return sorted(
        action.name for action in bpy.data.actions if any("pose.bones" in key[0] for key in _keys(action, obj))
    )


def take_through_panels(
    character: CharacterFile, action: str, seed: int = 0, sheet: Path | None = None, method: str = "sampling"
) -> Row:
    """The row of one Action, baked or with the message that stopped it; ``sheet`` is a folder for its picture."""
    row: Row = {"character": character.name, "action": action, "seed": seed, "commit": bench_rows.code_version()}
    try:
        return _steps(row, character, action, sheet, method)
    except (RuntimeError, SinewError) as error:  # what an operator reports arrives as the first
        return {**row, "refused": str(error).strip().removeprefix("Error: ")}


def _steps(row: Row, character: CharacterFile, action: str, sheet: Path | None, method: str) -> Row:
    obj = _imported(character)
    scene, chosen = bpy.context.scene, bpy.context.scene.sinew
    bpy.context.view_layer.objects.active = obj
    bpy.ops.sinew.pick_selected()
    chosen.action = bpy.data.actions[action]
    chosen.seed, chosen.method = row["seed"], method
    before = _keys(chosen.action, obj)
    row["accepted"] = _accept_offers(scene)
    bpy.ops.sinew.overlay_refit()
    fitted = fitted_bodies.known_fit(obj)
    assert fitted is not None and fitted.body is not None
    row |= {"links": len(fitted.body.links), "mass_kg": fitted.body.mass}
    begin = time.perf_counter()
    bpy.ops.sinew.simulate()
    view = _ended()
    row["wall_s"] = time.perf_counter() - begin
    if not obj.sinew_takes:
        return {**row, "refused": f"{view.message}. {view.hint}" if view.message else view.text}
    obj = scene.objects[obj.name]
    take = obj.sinew_takes[-1]
    report = json.loads(take.report)
    fps = scene.render.fps / scene.render.fps_base
    row |= {"baked": take.action.name, "clip_s": (take.action.frame_range[1] - take.action.frame_range[0]) / fps}
    row |= {"fell": take.fell, "fell_at_s": report.get("fell_at_s"), "summary": report.get("summary", [])}
    row |= {"findings": [finding["message"] for finding in report.get("findings", [])], **report["measurements"]}
    row["source_untouched"] = _keys(bpy.data.actions[action], obj) == before
    if sheet is not None:
        bpy.ops.sinew.take_show(index=len(obj.sinew_takes) - 1)
        character_sheet(sheet / f"{character.picture(action)}.png", obj, bpy.data.actions[action], take.action)
    bpy.ops.sinew.take_to_nla(index=len(obj.sinew_takes) - 1)
    row["in_nla"] = any(
        strip.action == take.action for track in obj.animation_data.nla_tracks for strip in track.strips
    )
    return row


def _accept_offers(scene: bpy.types.Scene) -> list[str]:
    """Press Check Motion, and every button that it then offers; returns their messages."""
    accepted: list[str] = []
    for _ in range(3):  # what is right in size may still be wrong in time
        bpy.ops.sinew.check_source()
        offers = [offer for offer in notices.of(request_of(scene)) if offer.fix]
        if not offers:
            break
        bpy.ops.sinew.fix_source(fix=offers[0].fix, value=offers[0].value)
        accepted.append(offers[0].message)
    return accepted


def _ended() -> Any:
    """Look after the job as Blender's timer would, to its end; returns what the panel shows of it."""
    stop = time.monotonic() + _LONGEST_S
    while monitor.tick_monitor() is not None:
        if time.monotonic() > stop:
            raise RuntimeError(f"The worker was still busy after {_LONGEST_S:.0f} s")
        time.sleep(0.1)
    return monitor.watched_jobs()[0]


def _keys(action: bpy.types.Action, obj: bpy.types.Object) -> list[tuple[Any, ...]]:
    """Every key of an Action, to be compared."""
    return [
        (curve.data_path, curve.array_index, *(tuple(point.co) for point in curve.keyframe_points))
        for curve in curves_of(action, slot_for(action, obj))
    ]


def _line(row: Row) -> str:
    """A line for whoever watches."""
    name = f"{row['character']} / {row['action']}"
    if "refused" in row:
        return f"{name}: refused, {row['refused']}"
    return f"{name}: {'; '.join(row['summary'])} ({row['wall_s']:.0f} s)"
