# SPDX-License-Identifier: GPL-3.0-or-later
"""A learned graph as a kind of learned file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import BadFile
from ...files import read_arrays
from ..learned import Content, LearnedKind
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


def read_content(path: Path) -> Content:
    """(arrays, description) of a graph file; one that is torn says how to come by another."""
    try:
        return read_arrays(path)
    except BadFile as error:
        raise BadFile(error.message, AGAIN) from error


def from_content(arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any], label: str) -> ControlGraph:
    """The graph in a learned file; what is no whole graph is a ``BadFile``."""
    return graph_from_arrays(arrays, meta, label)


def describe(graph: ControlGraph) -> tuple[str, ...]:
    """Its skills and transitions, in sentences."""
    names = ", ".join(chain.name for chain in graph.skills)
    count = len(graph.transitions)
    return (f"Skills: {names}", f"{count} transition{'' if count == 1 else 's'}")
