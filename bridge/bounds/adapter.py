# SPDX-License-Identifier: GPL-3.0-or-later
"""Bounds, between a scene and the methods that learn within them: what is keyed on the armature is what holds."""

from dataclasses import replace

import bpy

from ...core.control.method import Product
from ...core.errors import BoundsError
from ...core.files import Attachment
from ..body.body_inputs import read_body_request
from ..jobs import monitor
from ..jobs.preparing import Outcome, Preparation, Recipe
from ..jobs.requests import Request
from ..jobs.scene_request import request_of, settings_group_of, settings_type
from ..learned import paths
from ..methods.adapter import FamilyAdapter
from ..scene.settings_groups import plain_values, shortest_decimal
from ..scene.time_slicing import Slices
from . import views
from .baking import ControllerBakeRequest, bake_controller_job, comes_something
from .styling import neutral_attachment, read_style_of_action
from .training import TrainRequest, style_jobs, train_job


class BoundsAdapter(FamilyAdapter):
    """Reads the chosen motion with its bounds to train, and what a bake meets on the stage."""

    def hidden_settings(self, product: Product) -> tuple[str, ...]:
        """The armature has these in words of its own."""
        return {Product.LEARNED_FILE: ("bounds",), Product.TAKE: ("seconds",)}.get(product, ())

    def why_not_learn(self, scene: bpy.types.Scene) -> str:
        """There must be a motion, and nobody who is at it already."""
        if reason := views.why_no_motion(scene):
            return reason
        view = self.learning_view(scene.sinew.armature)
        return "It is being trained already: stop that first, or wait" if view is not None and view.alive else ""

    def learn(self, scene: bpy.types.Scene, obj: bpy.types.Object) -> Recipe:
        """Read motion and bounds, make the job, and start its worker."""
        request, method = self.train_request(scene, obj), self.method(Product.LEARNED_FILE)
        manner, begin = _manner_of(request, obj), paths.absolute(obj, obj.sinew_bounds.begin)

        def steps(own: Preparation) -> Slices[Outcome]:
            own.title = request.action
            python = yield from own.find_worker()  # before a job is made that could not start
            self.require_packages(method)
            more: dict[str, Attachment] = {}
            if manner:
                more |= yield from read_style_of_action(own, request, manner)
            if begin is not None:
                more |= yield lambda: neutral_attachment(begin)
            rig = yield from own.read(request)
            job = yield from train_job(own, TrainRequest(request, more=more), rig)
            return Outcome(monitor.start(job, own.scene, python, "Training"))

        return steps

    def learn_styles(self, scene: bpy.types.Scene, obj: bpy.types.Object) -> Recipe:
        """Learn four styles of one motion, each begun with the armature's controller; they take turns."""
        request, method = self.train_request(scene, obj), self.method(Product.LEARNED_FILE)
        file, path = self.file, self.file.path_of(obj)

        def steps(own: Preparation) -> Slices[Outcome]:
            own.title = request.action
            yield from own.find_worker()
            self.require_packages(method)
            assert path is not None  # or the operator would have said why not
            neutral = yield lambda: file.read_file(path).content
            rig = yield from own.read(request)
            made = yield from style_jobs(own, TrainRequest(request), rig, neutral)
            for job in made:
                monitor.watch(job, own.scene)
            return Outcome(f"Learning {len(made)} styles of '{request.action}'")

        return steps

    def why_not_styles(self, scene: bpy.types.Scene) -> str:
        """There must be a motion, and a controller to begin with."""
        return self.why_not_learn(scene) or self.file.why_none(scene.sinew.armature)

    def train_request(self, scene: bpy.types.Scene, obj: bpy.types.Object) -> Request:
        """What is to be learned, and how."""
        action, name = views.chosen_source(scene, obj), self.method(Product.LEARNED_FILE).name
        return replace(
            request_of(scene),
            action=action.name if action else "",
            method=name,
            fade_s=None,
            settings=plain_values(settings_group_of(scene, name), settings_type(name)),
            seed=obj.sinew_bounds.seed,
            body=read_body_request(obj),
        )

    def why_not_bake(self, scene: bpy.types.Scene) -> str:
        """There must be a controller, and something on the stage where the stage is asked for."""
        if reason := self.why_not_test(scene):
            return reason
        if scene.sinew.armature.sinew_bounds.stage == "STAGE" and not comes_something(scene):
            return "Nothing is on the stage: add a push or a projectile to it, or bake clean"
        return ""

    def bake(self, scene: bpy.types.Scene, obj: bpy.types.Object) -> Recipe:
        """Read controller, pose and stage, make the job, and start its worker."""
        request = self.controller_bake_request(scene, obj)
        return self.playing_recipe(obj, lambda own, learned: bake_controller_job(own, request, learned), "Baking")

    def controller_bake_request(self, scene: bpy.types.Scene, obj: bpy.types.Object) -> ControllerBakeRequest:
        """What is to be baked; what is no cycle is as long as it was learned."""
        own, model = obj.sinew_bounds, self.file.view_of(obj, wait=True).model
        return ControllerBakeRequest(
            armature=obj.name,
            seconds=shortest_decimal(own.seconds) if model is not None and model.reference.cyclic else 0.0,
            frame_start=own.frame_start,
            alone=own.stage == "CLEAN",
            engine=scene.sinew.engine,
            scale=shortest_decimal(scene.sinew.scale),
            place=scene.sinew.place,
            body=read_body_request(obj),
        )


def _manner_of(request: Request, obj: bpy.types.Object) -> str:
    """The name of the Action in whose manner it is to be done; '' for none."""
    if (request.settings or {}).get("style") != "manner":
        return ""
    if obj.sinew_bounds.manner is None:
        raise BoundsError("There is no motion in whose manner it could be done", "Choose an Action for the style")
    return obj.sinew_bounds.manner.name
