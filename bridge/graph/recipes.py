# SPDX-License-Identifier: GPL-3.0-or-later
"""The recipes of the verbs about transitions: each reads the skills, and works out on a thread what they offer."""

from collections.abc import Sequence

import bpy

from ...core.body import BodyModel
from ...core.control.graph.transitions.distances import Candidate, find_candidates, select_candidates
from ..jobs.preparing import Outcome, Preparation, Recipe
from ..jobs.requests import find_armature
from ..scene.images import show_image
from ..scene.time_slicing import Slices
from . import matrix, skills, transitions
from .skills import ReadSkill


def proposal_recipe(armature: str, scale: float) -> Recipe:
    """Add the transitions that the motions offer to the list, beside those that are there."""

    def steps(own: Preparation) -> Slices[Outcome]:
        read, body = yield from _read(own, armature, scale)
        found = [one.skill for one in read]
        chosen: Sequence[Candidate] = yield lambda: select_candidates(found, find_candidates(body, found))
        obj = find_armature(armature)
        count = sum(transitions.add_row(obj, read, one.transition, one.distance) for one in chosen)
        skills.note_looks(obj, read)
        if not count:
            return Outcome("The list has all the transitions that are worth it")
        said = f"{count} new transitions" if count != 1 else "1 new transition"
        return Outcome(said, undo_step="Propose Transitions")

    return steps


def transition_recipe(armature: str, scale: float, source: str, target: str) -> Recipe:
    """Add the best transition from one skill to another."""

    def steps(own: Preparation) -> Slices[Outcome]:
        read, body = yield from _read(own, armature, scale)
        best = yield lambda: transitions.best_between(body, read, source, target)
        obj = find_armature(armature)
        skills.note_looks(obj, read)
        if not transitions.add_row(obj, read, best.transition, best.distance):
            return Outcome(f"It is on the list: {source} to {target}")
        said = f"Added: {source} to {target}, {100.0 * best.distance:.0f} cm apart"
        return Outcome(said, undo_step="Add Transition")

    return steps


def distances_recipe(armature: str, scale: float) -> Recipe:
    """Make a picture of how alike any two moments of the skills are, and show it where pictures are shown."""

    def steps(own: Preparation) -> Slices[Outcome]:
        read, body = yield from _read(own, armature, scale)
        graph = transitions.graph_of(find_armature(armature), read)
        pixels = yield lambda: matrix.draw_pixels(body, graph)
        obj = find_armature(armature)
        image = matrix.image_of(obj, pixels)
        skills.note_looks(obj, read)
        shown = show_image(bpy.context, image)
        where = "in the Image Editor" if shown else "open it in an Image Editor"
        return Outcome(f"Picture '{image.name}': {where}")

    return steps


def _read(own: Preparation, armature: str, scale: float) -> Slices[tuple[list[ReadSkill], BodyModel]]:
    """The skills, and the body as far as likeness goes."""
    read = yield from skills.read_skills(own, armature, scale)
    body: BodyModel = yield transitions.plain_body_builder(find_armature(armature), read)
    return read, body
