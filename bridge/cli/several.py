# SPDX-License-Identifier: GPL-3.0-or-later
"""``simulate`` with several inputs: each is simulated by itself and becomes a .blend of its own in one folder.

A library is as many inputs as it has clips.
"""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...core import jobs
from ...core.control.tracking.library_building import gather_library
from ...core.control.tracking.library_files import LIBRARY_FILE
from ...core.errors import BadSettings, SinewError
from ...core.motion import Clip
from ...core.paths import is_folder, is_there, usable_path
from ...core.sim.models.reading import ENDINGS
from ..api.work import widen_scene
from ..jobs import requests
from ..learned.paths import file_stem
from ..library.assembling import open_library
from ..scene import saving
from . import CANCELLED
from .jobs import run_to_end
from .lines import say, say_aside
from .outputs import write_report
from .running import summarize
from .together import run_together

Open = Callable[["GivenInput"], Callable[[Path | None], jobs.Job]]
"""Opens an input; gives what makes its job, in a folder of its own, if there is one."""
_ENDINGS = {*ENDINGS, ".blend", ".bvh", ".fbx", ".glb", ".gltf", ".npz"}


@dataclass(frozen=True, eq=False)
class GivenInput:
    """text: as it was given. name: of its files. clip: of a library; None for what is a file or stock clip itself."""

    text: str
    name: str
    clip: Clip | None = None


@dataclass
class _Input:
    """given: what it is. job: None before it is made, or where that failed."""

    given: GivenInput
    job: jobs.Job | None = None
    report: dict[str, Any] = field(default_factory=dict)


def require_several(arguments: argparse.Namespace) -> None:
    """Refuse what only one input can have, and a folder that nothing can be written into."""
    for name, given in (
        ("--variations", arguments.variations is not None),
        ("--preview", bool(arguments.preview)),
        ("--frames", arguments.frames is not None),
    ):
        if given:
            raise BadSettings(f"{name} is for one input, and there are several", "Simulate each by itself")
    if arguments.out is None:
        raise BadSettings("There is no place for what comes of several inputs", "Give --out FOLDER")
    if arguments.out.suffix.lower() == ".blend" or (is_there(arguments.out) and not is_folder(arguments.out)):
        raise BadSettings(f"'{arguments.out}' is no folder", "Several inputs need one: --out FOLDER")
    saving.require_writable_folder(arguments.out.resolve().parent)


def are_several(arguments: argparse.Namespace) -> bool:
    """Whether more than one thing is to be simulated."""
    return bool(arguments.more) or (arguments.input or "").endswith(LIBRARY_FILE.ending)


def list_inputs(texts: Sequence[str]) -> list[GivenInput]:
    """All that is to be simulated, clips of libraries one by one; two with files of the same name are refused."""
    found: dict[str, GivenInput] = {}
    for one in (one for text in texts for one in _list_one(text)):
        if (other := found.get(one.name)) is not None:
            raise BadSettings(
                f"'{other.text}' and '{one.text}' would both become '{one.name}.blend'", "Rename one of them"
            )
        found[one.name] = one
    return list(found.values())


def _list_one(text: str) -> list[GivenInput]:
    path = usable_path(text)
    if not text.endswith(LIBRARY_FILE.ending):
        return [GivenInput(text, path.stem if path.suffix.lower() in _ENDINGS else text)]
    stored = open_library(path)
    library = gather_library(stored.body, stored.clips)  # without mirrored copies: they would be the same takes
    return [
        GivenInput(f"{text}: {name}", file_stem(name), library.clip(number))
        for number, name in enumerate(library.names)
    ]


def simulate_several(arguments: argparse.Namespace, given: Sequence[GivenInput], open_one: Open) -> int:
    """Simulate all of them: here one after the other, elsewhere at once. One that fails does not stop the others."""
    inputs = [_Input(one) for one in given]
    arguments.out.resolve().mkdir(exist_ok=True)
    if not arguments.where.is_here:
        for one in inputs:
            _attempt(one, lambda own: _create(own, arguments, open_one))
        run_together([one.job for one in inputs if one.job is not None], arguments.where)
    for one in inputs:
        if not one.report:
            _attempt(one, lambda own: _finish(own, arguments, open_one))
        if one.report.get("status") == "cancelled":
            say_aside(
                "cancelled; to go on, " + ("run the same command again" if arguments.job_dir else "see: sinew jobs")
            )
            break
    states = [one.report.get("status", "cancelled") for one in inputs]
    code = CANCELLED if "cancelled" in states else int(any(state != "done" for state in states))
    status = {0: "done", CANCELLED: "cancelled"}.get(code, "failed")
    rows = [{"input": one.given.text, **one.report} for one in inputs if one.report]
    write_report(arguments, {"status": status, "wanted": len(inputs), "done": states.count("done"), "inputs": rows})
    return code


def _attempt(one: _Input, do: Callable[[_Input], None]) -> None:
    try:
        do(one)
    except SinewError as error:
        say_aside(f"{one.given.text}: {error}")
        unfinished = jobs.unfinished_report(one.job) if one.job is not None else {}
        one.report = {**unfinished, "status": "failed", "message": error.message, "hint": error.hint}


def _create(one: _Input, arguments: argparse.Namespace, open_one: Open) -> None:
    make = open_one(one.given)
    if one.job is None:
        one.job = make(arguments.job_dir and arguments.job_dir / one.given.name)


def _finish(one: _Input, arguments: argparse.Namespace, open_one: Open) -> None:
    """Have its job done if it is not yet, and save the scene with what came of it."""
    say_aside(one.given.text)
    was_done_elsewhere = one.job is not None
    _create(one, arguments, open_one)
    assert one.job is not None
    status = one.job.status() if was_done_elsewhere else run_to_end(one.job)
    if status.state == "cancelled":
        one.report = jobs.unfinished_report(one.job)
        return
    if status.state != "done":
        raise SinewError(status.message or f"The job was {status.state}", status.hint)
    written = requests.collect(one.job)
    widen_scene(written)
    out = arguments.out / f"{one.given.name}.blend"
    saving.save_blend(out.resolve())
    about = {"armature": written.obj.name, "action": written.action.name, "out": str(out)}
    one.report = {**one.job.result().report, "status": "done", **about}
    say(*summarize(one.report))
