# SPDX-License-Identifier: GPL-3.0-or-later
"""A learned graph as a kind of learned file."""

from pathlib import Path

from ... import limits
from ...errors import BadFile, GraphError
from ...files import read_arrays
from ..learned import Content, LearnedFormat, LearnedKind
from ..method import Run
from .model.control_graph import ControlGraph
from .model.io import AGAIN, graph_from_arrays

GRAPH = LearnedKind(
    name="graph",
    label="graph",
    ending=".graph.npz",
    folder="graphs",
    module="core.control.graph.learned_file",
    learn_hint="learn {whose} skills",
    missing="There is no graph in '{path}'",
    missing_hint="Choose another file, or learn the skills again",
)


def attached_graph(run: Run) -> ControlGraph:
    """The learned graph that a job plays or tests."""
    attached = run.attachment(GRAPH.attachment)
    if attached is None:
        raise GraphError("The job has no learned graph", "Learn the skills first, or choose a graph file")
    return graph_from_arrays(*attached)


def _read_content(path: Path) -> Content:
    """(arrays, description) of a graph file; one that is torn says how to come by another."""
    try:
        return read_arrays(path, limits.LEARNED_BYTES)
    except BadFile as error:
        raise BadFile(error.message, AGAIN) from error


def _describe(graph: ControlGraph) -> tuple[str, ...]:
    """Its skills and transitions, in sentences."""
    names = ", ".join(chain.name for chain in graph.skills)
    count = len(graph.transitions)
    return (f"Skills: {names}", f"{count} transition{'' if count == 1 else 's'}")


FORMAT = LearnedFormat(graph_from_arrays, _describe, lambda graph: graph.body.skeleton, _read_content)
