# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a character's learned controller is kept: a file that the .blend refers to, never one that another is in."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy

from ...core.control.bounds.controller import Controller, controller_from_arrays
from ...core.control.bounds.files import ENDING, Content, read_content, write_content
from ...core.control.bounds.train_method import CONTROLLER
from ...core.errors import BadFile, BoundsError, SinewError
from ...core.files import write_whole
from ...core.jobs import Job
from ..learned import beside

_FOLDER = "controllers"
_MILLION = 1e6


@dataclass(frozen=True, eq=False)
class Learned:
    """A controller file as it was read. content: as a job that plays it wants it attached."""

    path: Path
    controller: Controller
    content: Content


@dataclass(frozen=True)
class ControllerView:
    """What the panel shows of a controller file. problem: why there is nothing else to show.

    sentences: what it is and how it was learned. lasts: whether it did all that was asked of it.
    """

    sentences: tuple[str, ...] = ()
    cyclic: bool = False
    duration_s: float = 0.0
    lasts: bool = False
    problem: SinewError | None = None


def path_of(obj: bpy.types.Object) -> Path | None:
    """The file that the armature refers to; None where it refers to none."""
    return beside.absolute(obj, obj.sinew_bounds.file)


def read(obj: bpy.types.Object) -> Learned:
    """The armature's controller; refuses a file that is missing, torn, or no controller."""
    path = path_of(obj)
    if path is None:
        raise BoundsError(f"'{obj.name}' has no controller yet", "Train one, or choose a controller file")
    return read_file(path)


def read_file(path: Path) -> Learned:
    """The controller in a file."""
    if not path.is_file():
        raise BadFile(f"'{path}' does not exist", "Choose another controller file, or train one again")
    content = read_content(path)
    return Learned(path, controller_from_arrays(*content, label=f"'{path}'"), content)


def view_of(obj: bpy.types.Object) -> ControllerView:
    """What there is to see of the armature's controller. The file is read once, and again when it changes."""
    path = path_of(obj)
    return ControllerView() if path is None else _view(path)


@beside.once
def _view(path: Path) -> ControllerView:
    try:
        controller = read_file(path).controller
    except SinewError as error:
        return ControllerView(problem=error)
    reference, about = controller.reference, controller.about
    return ControllerView(
        said_of(controller), reference.cyclic, reference.duration_s, about.get("done_after") is not None
    )


def said_of(controller: Controller) -> tuple[str, ...]:
    """A controller in words."""
    reference, about = controller.reference, controller.about
    kind = "A gait, one cycle of" if reference.symmetric else "A cycle of" if reference.cyclic else "Played once,"
    return (f"{kind} {reference.duration_s:.2f} s", *_learned(about))


def _learned(about: Mapping[str, Any]) -> tuple[str, ...]:
    samples, done, tests = about.get("samples"), about.get("done_after"), about.get("tests") or ()
    if isinstance(done, int | float):
        return (f"Stays within its bounds since {_steps(done)} steps",)
    if isinstance(samples, int | float) and tests:
        share = max(float(test.get("share", 0.0)) for test in tests)
        return (f"Not learned yet: {share:.0%} of what was asked, after {_steps(samples)} steps",)
    return ()


def _steps(count: float) -> str:
    return f"{count / _MILLION:.2f} million" if count >= 0.1 * _MILLION else f"{count:.0f}"


def keep(job: Job) -> Path | None:
    """Keep what a job has learned in a file; None for a job that has learned no controller.

    The file is the one that the job names, which is overwritten; else one beside the .blend that no other is in.
    """
    if not job.product_file(CONTROLLER).is_file():
        return None
    content, target = job.product(CONTROLLER), job.spec.target
    asked = target.get("controller_file")
    if asked:
        write_content(Path(asked), *content)
        return Path(asked)
    words = (target.get("armature"), target.get("action"), target.get("varied", {}).get("style"))
    name = "-".join(bpy.path.clean_name(word) for word in words if word)
    path = beside.folder(_FOLDER) / f"{name}{ENDING}"
    # Written once beside its place: only then are its bytes known, which may be there already.
    part = path.with_name(f".{job.spec.id}{ENDING}")
    write_content(part, *content)
    data = part.read_bytes()
    path = beside.free(path, ENDING, data)
    part.replace(path)
    return path


def refer(obj: bpy.types.Object, path: Path) -> None:
    """Let the armature have this controller."""
    if hasattr(obj, "sinew_bounds"):  # else Sinew is used as a library
        obj.sinew_bounds.file = beside.referred(path)


def is_elsewhere(obj: bpy.types.Object) -> bool:
    """Whether the armature's controller would stay behind if the .blend's folder went to another machine."""
    return beside.is_elsewhere(path_of(obj))


def bring_along(obj: bpy.types.Object) -> Path:
    """Copy the armature's controller beside the .blend and refer to the copy; no other is written over."""
    found = read(obj).path
    data = found.read_bytes()
    path = beside.free(beside.folder(_FOLDER) / f"{found.stem}{ENDING}", ENDING, data)
    write_whole(path, data)
    refer(obj, path)
    return path
