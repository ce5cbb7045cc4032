# SPDX-License-Identifier: GPL-3.0-or-later
"""Responding, between a scene and its methods: the armature has the cues, and says which library it has."""

import bpy

from ...core.control.method import Product
from ..body.body_inputs import read_body_request
from ..jobs.preparing import Recipe
from ..jobs.scene_request import settings_group_of, settings_type
from ..methods.adapter import FamilyAdapter
from ..scene.settings_groups import plain_values, shortest_decimal
from .baking import RespondRequest, SceneCue, respond_job


class RespondAdapter(FamilyAdapter):
    """Reads the cues for a bake."""

    def why_not_learn(self, scene: bpy.types.Scene) -> str:
        """Libraries are built in their own panel."""
        return "A library responds without training: build one in the panel Library"

    def why_not_bake(self, scene: bpy.types.Scene) -> str:
        """There must be a library, and a cue with a deed."""
        if reason := super().why_not_test(scene):
            return reason
        cues = scene.sinew.armature.sinew_cues
        if not cues:
            return "There are no cues: add one"
        nameless = next((cue.frame for cue in cues if not cue.deed.strip()), None)
        return "" if nameless is None else f"The cue at frame {nameless} has no deed: name one"

    def bake(self, scene: bpy.types.Scene, obj: bpy.types.Object) -> Recipe:
        """Read library, cues and stage, make the job, and start its worker."""
        request = self.respond_request(scene, obj)
        return self.playing_recipe(obj, lambda own, learned: respond_job(own, request, learned), "Responding")

    def respond_request(self, scene: bpy.types.Scene, obj: bpy.types.Object) -> RespondRequest:
        """What the armature is asked for."""
        own, name = obj.sinew_respond, self.method(Product.TAKE).name
        return RespondRequest(
            armature=obj.name,
            settings=plain_values(settings_group_of(scene, name), settings_type(name)),
            engine=scene.sinew.engine,
            seed=own.bake_seed,
            scale=shortest_decimal(scene.sinew.scale),
            place=scene.sinew.place,
            body=read_body_request(obj),
            frame_start=own.frame_start,
            cues=tuple(
                SceneCue(
                    cue.deed.strip(),
                    cue.frame,
                    cue.target.name if cue.target else "",
                    cue.hit.name if cue.hit else "",
                )
                for cue in obj.sinew_cues
            ),
        )
