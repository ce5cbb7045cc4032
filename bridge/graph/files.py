# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a character's learned graph is kept: a file that the .blend refers to, never one that another graph is in."""

from dataclasses import dataclass
from pathlib import Path

import bpy

from ...core.control.graph.model.control_graph import ControlGraph
from ...core.control.graph.model.io import load_graph
from ...core.errors import BadFile, GraphError, SinewError
from ...core.files import Attachment, read_arrays, write_whole
from ...core.jobs import Job
from ..learned import beside
from .figures import SkillFigures, figures_of

PRODUCT, ATTACHMENT = "graph", "graph_file"
"""What a job calls a graph that it has learned, and one that it is to play."""
ENDING = ".graph.npz"
_FOLDER = "graphs"


def path_of(obj: bpy.types.Object) -> Path | None:
    """The file that the armature refers to; None where it refers to none."""
    return beside.absolute(obj, obj.sinew_graph.file)


@dataclass(frozen=True, eq=False)
class Learned:
    """A graph file as it was read. content: as a job that plays it wants it attached."""

    path: Path
    graph: ControlGraph
    content: Attachment


@dataclass(frozen=True)
class GraphView:
    """What the panel shows of a graph file. problem: why there is nothing else to show."""

    skills: tuple[SkillFigures, ...] = ()
    transitions: int = 0
    problem: SinewError | None = None


def read(obj: bpy.types.Object) -> Learned:
    """The armature's graph; refuses a file that is missing, torn, or no graph."""
    path = path_of(obj)
    if path is None:
        raise GraphError(f"'{obj.name}' has no graph yet", "Learn its skills, or choose a graph file")
    return read_file(path)


def read_file(path: Path) -> Learned:
    """The graph in a file."""
    if not path.is_file():
        raise BadFile(f"There is no graph in '{path}'", "Choose another file, or learn the skills again")
    return Learned(path, load_graph(path), read_arrays(path))


def view_of(obj: bpy.types.Object) -> GraphView:
    """What there is to see of the armature's graph. The file is read once, and again when it changes."""
    path = path_of(obj)
    return GraphView() if path is None else _view(path)


@beside.once
def _view(path: Path) -> GraphView:
    try:
        graph = read_file(path).graph
    except SinewError as error:
        return GraphView(problem=error)
    return GraphView(figures_of(graph), len(graph.transitions))


def keep(job: Job) -> Path | None:
    """Keep what a job has learned in a file; None for a job that has learned nothing.

    The file is the one that the job names, which is overwritten; else one beside the .blend that no other graph is in.
    """
    source = job.product_file(PRODUCT)
    if not source.is_file():
        return None
    job.product(PRODUCT)  # whole, or refused
    data = source.read_bytes()
    asked = job.spec.target.get("graph_file")
    name = f"{bpy.path.clean_name(job.spec.target['armature'])}{ENDING}"
    path = Path(asked) if asked else beside.free(beside.folder(_FOLDER) / name, ENDING, data)
    write_whole(path, data)
    return path


def refer(obj: bpy.types.Object, path: Path) -> None:
    """Let the armature have this graph."""
    if hasattr(obj, "sinew_graph"):  # else Sinew is used as a library
        obj.sinew_graph.file = beside.referred(path)


def is_elsewhere(obj: bpy.types.Object) -> bool:
    """Whether the armature's graph would stay behind if the .blend's folder went to another machine."""
    return beside.is_elsewhere(path_of(obj))


def bring_along(obj: bpy.types.Object) -> Path:
    """Copy the armature's graph beside the .blend and refer to the copy; no other graph is written over."""
    data = read(obj).path.read_bytes()
    path = beside.free(beside.folder(_FOLDER) / f"{bpy.path.clean_name(obj.name)}{ENDING}", ENDING, data)
    write_whole(path, data)
    refer(obj, path)
    return path
