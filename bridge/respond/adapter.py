# SPDX-License-Identifier: GPL-3.0-or-later
"""Responding, between a scene and its methods: the armature has the cues, and says which library it has."""

from dataclasses import replace

import bpy

from ...core.control.method import Product
from ...core.control.respond.learned_file import TrainedResponder, responding_skeleton
from ..body.body_inputs import read_body_request
from ..direct.training import policy_job_in_slices
from ..jobs.preparing import Recipe
from ..jobs.scene_request import settings_group_of, settings_type
from ..methods.adapter import FamilyAdapter
from ..scene.settings_groups import plain_values, shortest_decimal
from .baking import RespondRequest, SceneCue, respond_job


class RespondAdapter(FamilyAdapter):
    """Reads the cues for a bake."""

    def is_trained(self, obj: bpy.types.Object) -> bool:
        """Whether the armature's library has a student."""
        return isinstance(self.file.view_of(obj).model, TrainedResponder)

    def why_not_learn(self, scene: bpy.types.Scene) -> str:
        """There must be a library, and nobody who is at it already."""
        if reason := super().why_not_test(scene):
            return reason
        view = self.learning_view(scene.sinew.armature)
        return "It is being trained already: stop that first, or wait" if view is not None and view.alive else ""

    def learn(self, scene: bpy.types.Scene, obj: bpy.types.Object) -> Recipe:
        """Read the library, make the job that trains with it, and start its worker."""
        return self._recipe_of(scene, obj, Product.LEARNED_FILE, "Training")

    def test(self, scene: bpy.types.Scene, obj: bpy.types.Object) -> Recipe:
        """Read the library, make the job that asks it for this and that, and start its worker."""
        return self._recipe_of(scene, obj, Product.REPORT, "Testing")

    def _recipe_of(self, scene: bpy.types.Scene, obj: bpy.types.Object, product: Product, doing: str) -> Recipe:
        method, own = self.method(product), obj.sinew_respond
        seed = own.seed if product is Product.LEARNED_FILE else own.bake_seed
        request = replace(self.bake_request(scene, obj, product), seed=seed)
        return self.playing_recipe(
            obj,
            lambda own, learned: policy_job_in_slices(
                own, method, request, learned, responding_skeleton(learned.model)
            ),
            doing,
            method,
        )

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
