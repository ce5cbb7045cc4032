# SPDX-License-Identifier: GPL-3.0-or-later
"""From an armature's skills to a job that learns them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import bpy

from ...core import jobs
from ...core.control.graph.learned_file import GRAPH
from ...core.control.graph.transitions.motion_graph import MotionGraph, motion_graph_attachments
from ..body.body_inputs import Attachments, BodyRequest, read_body_attachments_in_slices
from ..jobs.preparing import Preparation
from ..jobs.requests import find_armature
from ..rig.rig_writer import require_writable
from ..scene.time_slicing import Slices
from ..takes.marks import ensure_mark
from .skills import ReadSkill, note_looks, read_skills
from .transitions import graph_of

METHOD = "graph_learn"


@dataclass(frozen=True)
class GraphLearnRequest:
    """How the skills are to be learned.

    scale: metres a Blender unit. place: where the walk through the graph goes. body: as in ``Request``.
    known: a graph of the same skills to begin with, learned for another body.
    """

    settings: Mapping[str, Any] = field(default_factory=dict)
    engine: str = "auto"
    seed: int = 0
    scale: float = 1.0
    place: str = "AUTO"
    body: BodyRequest | None = None
    known: Path | None = None


def learn_graph_job(
    own: Preparation, armature: str, request: GraphLearnRequest, folder: Path | None = None
) -> Slices[jobs.Job]:
    """Read the armature's skills and make the job; ``folder`` None is a new one among the user's jobs."""
    skills = yield from read_skills(own, armature, request.scale)
    graph = graph_of(find_armature(armature), skills)
    job = yield from make_learn_job(own, armature, skills, graph, request, folder)
    note_looks(find_armature(armature), skills)
    return job


def make_learn_job(
    own: Preparation,
    armature: str,
    skills: Sequence[ReadSkill],
    graph: MotionGraph,
    request: GraphLearnRequest,
    folder: Path | None = None,
) -> Slices[jobs.Job]:
    """Make the job from what was read; refuses at once what could not be learned, naming it and the fix."""
    rig, obj = skills[0].rig, find_armature(armature)
    graph.require_connected()
    require_writable(obj, graph.skeleton.names, request.place)
    target = jobs.Target(
        armature=obj.name,
        action=skills[0].action_name,
        place=request.place,
        blend=bpy.data.filepath,
        named="skills",
        named_after="armature",
        mark=ensure_mark(obj),
    )
    attachments: Attachments = {"rig": rig.to_arrays(), **motion_graph_attachments(graph)}
    if request.known is not None:
        attachments[GRAPH.attachment] = yield partial(_read_graph, request.known)
    own.text = "Reading the body"
    attachments |= yield from read_body_attachments_in_slices(
        obj, rig, request.body, skills[0].action, slice_s=own.slice_s
    )
    title = title_of(find_armature(armature), graph)

    def make() -> jobs.Job:
        return jobs.create(
            graph.skills[0].clip,
            method=METHOD,
            settings=dict(request.settings),
            engine=request.engine,
            seed=request.seed,
            title=title,
            target=target,
            attachments=attachments,
            folder=folder,
        )

    return (yield from own.make(make))


def _read_graph(path: Path) -> Any:
    content = GRAPH.read_content(path)
    GRAPH.from_content(content, f"'{path}'")  # whole, or refused
    return content


def title_of(obj: bpy.types.Object, graph: MotionGraph) -> str:
    """What the job is called: the character, and what it learns."""
    names = [skill.name for skill in graph.skills]
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return f"{obj.name}: {shown}"
