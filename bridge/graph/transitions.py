# SPDX-License-Identifier: GPL-3.0-or-later
"""The ways from skill to skill: proposed by likeness, and kept in the armature's list."""

from collections.abc import Callable, Sequence

import bpy

from ...core.body import BodyModel
from ...core.control.character import BODY, BodyChoices, build_plain_body
from ...core.control.graph.transitions.distances import Candidate, find_candidates
from ...core.control.graph.transitions.motion_graph import MotionGraph, Transition
from ...core.errors import GraphError
from ..body.body_inputs import BodyRequest, read_body_attachments
from .skills import ReadSkill


def plain_body_builder(obj: bpy.types.Object, skills: Sequence[ReadSkill]) -> Callable[[], BodyModel]:
    """What builds the body as far as likeness goes: which bones it has. Its mesh would only give it other shapes.

    Blender is read here; what is given can be called on any thread.
    """
    rig = skills[0].rig
    attached = read_body_attachments(obj, rig, BodyRequest(use_mesh=False), skills[0].action)
    choices = BodyChoices.from_mapping(attached[BODY][1])
    clip = rig.clip
    return lambda: build_plain_body(clip, choices)


def best_between(body: BodyModel, skills: Sequence[ReadSkill], source: str, target: str) -> Candidate:
    """The best way from one skill to another, wherever it is. For any thread."""
    ends = [_named(skills, name).skill for name in (source, target)]
    ways = [
        one for one in find_candidates(body, ends) if (one.transition.source, one.transition.target) == (source, target)
    ]
    if not ways:
        raise GraphError(
            f"There is no transition from '{source}' to '{target}'",
            f"'{target}' is a get-up: who falls gets there without one",
        )
    return ways[0]


def add_row(obj: bpy.types.Object, skills: Sequence[ReadSkill], way: Transition, distance: float = -1.0) -> bool:
    """Put a transition on the list, in frames; False if it is there already."""
    source, target = (_named(skills, name) for name in (way.source, way.target))
    frames = source.frame(way.leave_s), target.frame(way.enter_s)
    for index, row in enumerate(obj.sinew_transitions):
        if (row.source, row.leave_frame, row.target, row.enter_frame) == (way.source, frames[0], way.target, frames[1]):
            row.distance = distance
            obj.sinew_transition_index = index
            return False
    row = obj.sinew_transitions.add()
    row.source, row.target, row.distance = way.source, way.target, distance
    row.leave_frame, row.enter_frame = frames
    obj.sinew_transition_index = len(obj.sinew_transitions) - 1
    return True


def graph_of(obj: bpy.types.Object, skills: Sequence[ReadSkill]) -> MotionGraph:
    """Skills and the transitions that are in use as a graph; refuses what is none, naming it."""
    by_name = {one.skill.name: one for one in skills}
    ways = []
    for row in obj.sinew_transitions:
        if not row.use:
            continue
        for name in (row.source, row.target):
            if name not in by_name:
                raise GraphError(
                    f"A transition is about '{name}', which is no skill of '{obj.name}'",
                    f"Choose one of: {', '.join(by_name)}",
                )
        source, target = by_name[row.source], by_name[row.target]
        ways.append(
            Transition(row.source, source.seconds(row.leave_frame), row.target, target.seconds(row.enter_frame))
        )
    return MotionGraph(tuple(one.skill for one in skills), tuple(ways))


def _named(skills: Sequence[ReadSkill], name: str) -> ReadSkill:
    found = next((one for one in skills if one.skill.name == name), None)
    if found is None:
        names = ", ".join(one.skill.name for one in skills)
        raise GraphError(f"There is no skill '{name}'", f"The skills are: {names}")
    return found
