# SPDX-License-Identifier: GPL-3.0-or-later
"""What the panel asks for, as learning and baking want it."""

from dataclasses import fields

import bpy

from ..body.body_inputs import read_body_request
from ..jobs.scene_request import settings_group_of, settings_type
from ..learned import beside
from ..scene.chosen_armature import why_no_armature
from ..scene.settings_groups import plain_values, shortest_decimal
from ..stage.cast import other_characters
from . import baking as baking_jobs
from . import files
from . import learning as learning_jobs

LEARN, BAKE = learning_jobs.METHOD, baking_jobs.METHOD
# What the panel has in the armature's own words, not in those of the method's settings.
_SAID = ("mode", "seconds", "skills")


def learning(scene: bpy.types.Scene, obj: bpy.types.Object) -> learning_jobs.LearnRequest:
    """How the skills are to be learned."""
    return learning_jobs.LearnRequest(
        settings=plain_values(settings_group_of(scene, LEARN), settings_type(LEARN)),
        engine=scene.sinew.engine,
        seed=obj.sinew_graph.seed,
        scale=shortest_decimal(scene.sinew.scale),
        place=scene.sinew.place,
        body=read_body_request(obj),
        known=beside.absolute(obj, obj.sinew_graph.known),
    )


def baking(scene: bpy.types.Scene, obj: bpy.types.Object) -> baking_jobs.BakeRequest:
    """What is to be baked."""
    own = obj.sinew_graph
    values = plain_values(settings_group_of(scene, BAKE), settings_type(BAKE))
    return baking_jobs.BakeRequest(
        armature=obj.name,
        mode=own.mode,
        seconds=shortest_decimal(own.seconds),
        skills=own.sequence if own.mode == "SEQUENCE" else own.skill,
        curve=own.curve.name if own.curve else "",
        from_start=own.from_start,
        frame_start=own.frame_start,
        seed=own.bake_seed,
        engine=scene.sinew.engine,
        scale=shortest_decimal(scene.sinew.scale),
        place=scene.sinew.place,
        body=read_body_request(obj),
        settings={name: value for name, value in values.items() if name not in _SAID},
    )


def learn_settings() -> tuple[str, ...]:
    """The settings of learning, in the order in which they were declared."""
    return tuple(one.name for one in fields(settings_type(LEARN)))


def bake_settings() -> tuple[str, ...]:
    """The settings of baking that the panel draws as they are."""
    return tuple(one.name for one in fields(settings_type(BAKE)) if one.name not in _SAID)


def why_not_bake(scene: bpy.types.Scene) -> str:
    """Why nothing can be baked yet, with the fix; '' if it can. Cheap enough for ``draw``."""
    if reason := why_no_armature(scene):
        return reason
    obj = scene.sinew.armature
    if not obj.sinew_graph.file.strip():
        return "No graph yet: learn the skills, or choose a graph file"
    if problem := files.view_of(obj).problem:
        return f"{problem.message}: {problem.hint[:1].lower()}{problem.hint[1:]}" if problem.hint else problem.message
    others = len(other_characters(scene, obj)) if obj.sinew_graph.mode == "MEET" else 0
    return baking_jobs.why_not_mode(scene, baking(scene, obj), 1 + others)
