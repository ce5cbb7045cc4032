# SPDX-License-Identifier: GPL-3.0-or-later
"""Directing, between a scene and its methods: the armature says where to go, and which library it has."""

from dataclasses import replace

import bpy

from ...core.control.method import Product
from ...core.control.tracking_policy.learned_file import Director, TrainedDirector
from ...core.jobs import Job
from ..body.body_inputs import read_body_request
from ..jobs.preparing import Preparation, Recipe
from ..jobs.scene_request import settings_group_of, settings_type
from ..learned import paths
from ..learned.learned_file import Learned
from ..methods.adapter import FamilyAdapter
from ..scene.settings_groups import plain_values, shortest_decimal
from ..scene.time_slicing import Slices
from .baking import direct_job
from .training import policy_job_in_slices
from .wishes import DirectRequest

WEIGHTS = ("feet", "feet_speed", "hip_speed", "path", "facing")
"""Settings that the panel keeps closed: how much each kind of feature counts."""


class DirectAdapter(FamilyAdapter):
    """Reads the library to train with it, and the way, speed, facing and style for a bake."""

    def hidden_settings(self, product: Product) -> tuple[str, ...]:
        """Drawn by themselves, or for benchmarks alone."""
        return {Product.TAKE: WEIGHTS, Product.LEARNED_FILE: ("left_out",)}.get(product, ())

    def is_trained(self, obj: bpy.types.Object) -> bool:
        """Whether the armature's library has a policy that keeps it on its feet."""
        return isinstance(self.file.view_of(obj).model, TrainedDirector)

    def why_not_learn(self, scene: bpy.types.Scene) -> str:
        """There must be a library with a body, and nobody who is at it already."""
        if reason := super().why_not_test(scene):
            return reason
        obj = scene.sinew.armature
        if isinstance(self.file.view_of(obj).model, Director):
            return "The library does not say what body its clips are for: build it again"
        view = self.learning_view(obj)
        return "It is being trained already: stop that first, or wait" if view is not None and view.alive else ""

    def learn(self, scene: bpy.types.Scene, obj: bpy.types.Object) -> Recipe:
        """Read the library, make the job that trains with it, and start its worker."""
        method = self.method(Product.LEARNED_FILE)
        request = replace(self.bake_request(scene, obj, Product.LEARNED_FILE), seed=obj.sinew_direct.seed)
        path = paths.absolute(obj, obj.sinew_direct.begin_with)

        def make(own: Preparation, learned: Learned) -> Slices[Job]:
            begin = None
            if path is not None:
                begin = yield lambda: self.file.read_file(path)
            return (yield from policy_job_in_slices(own, method, request, learned, begin=begin))

        return self.playing_recipe(obj, make, "Training", method)

    def why_not_test(self, scene: bpy.types.Scene) -> str:
        """There must be a library that was trained."""
        if reason := super().why_not_test(scene):
            return reason
        obj = scene.sinew.armature
        if self.is_trained(obj) or self.file.view_of(obj).is_reading:
            return ""
        return "The library is not trained yet: train it first"

    def test(self, scene: bpy.types.Scene, obj: bpy.types.Object) -> Recipe:
        """Read the trained library, make the job that counts its falls, and start its worker."""
        method, request = self.method(Product.REPORT), self.bake_request(scene, obj, Product.REPORT)
        return self.playing_recipe(
            obj, lambda own, learned: policy_job_in_slices(own, method, request, learned), "Testing"
        )

    def why_not_bake(self, scene: bpy.types.Scene) -> str:
        """There must be a library, and somewhere to go."""
        if reason := super().why_not_test(scene):
            return reason
        own = scene.sinew.armature.sinew_direct
        if own.way == "CURVE" and own.curve is None:
            return "No curve is chosen: choose the one to go along"
        if own.way == "OBJECT" and own.target is None:
            return "No object is chosen: choose the one to go after"
        if own.facing == "OBJECT" and own.look_at is None:
            return "No object to face is chosen: choose one"
        return ""

    def bake(self, scene: bpy.types.Scene, obj: bpy.types.Object) -> Recipe:
        """Read library, wish and stage, make the job, and start its worker."""
        request = self.direct_request(scene, obj)
        return self.playing_recipe(obj, lambda own, learned: direct_job(own, request, learned), "Directing")

    def direct_request(self, scene: bpy.types.Scene, obj: bpy.types.Object) -> DirectRequest:
        """What the armature is told."""
        own, name = obj.sinew_direct, self.method(Product.TAKE).name
        goes_along = own.way == "CURVE"
        return DirectRequest(
            armature=obj.name,
            settings=plain_values(settings_group_of(scene, name), settings_type(name)),
            engine=scene.sinew.engine,
            seed=own.bake_seed,
            scale=shortest_decimal(scene.sinew.scale),
            place=scene.sinew.place,
            body=read_body_request(obj),
            frame_start=own.frame_start,
            seconds=shortest_decimal(own.seconds),
            curve=own.curve.name if goes_along and own.curve else "",
            target=own.target.name if not goes_along and own.target else "",
            style=own.style,
            facing=own.facing,
            look_at=own.look_at.name if own.facing == "OBJECT" and own.look_at else "",
        )
