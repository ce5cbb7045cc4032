# SPDX-License-Identifier: GPL-3.0-or-later
"""From an armature's skills to a job that learns them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bpy

from ...core import jobs
from ...core.control.graph.transitions.motion_graph import MotionGraph, motion_graph_attachments
from ..body import body_inputs
from ..body.body_inputs import BodyRequest
from ..rig.rig_writer import require_writable
from .files import ATTACHMENT, read_file
from .skills import Collected, collected, note_looks
from .transitions import graph_of

METHOD = "graph_learn"


@dataclass(frozen=True)
class LearnRequest:
    """How the skills are to be learned.

    scale: metres a Blender unit. place: where the walk through the graph goes. body: as in ``Request``.
    graph_file: where the graph is to go, over what is there; None for a file of its own beside the .blend.
    known: a graph of the same skills to begin with, learned for another body.
    """

    settings: Mapping[str, Any] = field(default_factory=dict)
    engine: str = "auto"
    seed: int = 0
    scale: float = 1.0
    place: str = "AUTO"
    body: BodyRequest | None = None
    graph_file: Path | None = None
    known: Path | None = None


def create(obj: bpy.types.Object, request: LearnRequest, folder: Path | None = None) -> jobs.Job:
    """Read the armature's skills and make the job; ``folder`` None is a new one among the user's jobs."""
    skills = collected(obj, request.scale)
    job = create_from(obj, skills, graph_of(obj, skills), request, folder)
    note_looks(obj, skills)
    return job


def create_from(
    obj: bpy.types.Object,
    skills: Sequence[Collected],
    graph: MotionGraph,
    request: LearnRequest,
    folder: Path | None = None,
) -> jobs.Job:
    """Make the job from what was read; refuses at once what could not be learned, naming it and the fix."""
    rig, action = skills[0].rig, skills[0].action
    graph.require_connected()
    require_writable(obj, graph.skeleton.names, request.place)
    target = {
        "armature": obj.name,
        "action": action.name if action else "",
        "place": request.place,
        "blend": bpy.data.filepath,
        "named": "skills",
        "named_after": "armature",
    }
    if request.graph_file is not None:
        target["graph_file"] = str(request.graph_file)
    attachments = {
        "rig": rig.to_arrays(),
        **body_inputs.read_body_attachments(obj, rig, request.body, action),
        **motion_graph_attachments(graph),
    }
    if request.known is not None:
        attachments[ATTACHMENT] = read_file(request.known).content
    return jobs.create(
        graph.skills[0].clip,
        method=METHOD,
        settings=dict(request.settings),
        engine=request.engine,
        seed=request.seed,
        title=title_of(obj, graph),
        target=target,
        attachments=attachments,
        folder=folder,
    )


def title_of(obj: bpy.types.Object, graph: MotionGraph) -> str:
    """What the job is called: the character, and what it learns."""
    names = [skill.name for skill in graph.skills]
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return f"{obj.name}: {shown}"
