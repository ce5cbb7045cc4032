# SPDX-License-Identifier: GPL-3.0-or-later
"""Skills, between a scene and the methods of control graphs: what is learned is the armature's list of them."""

import bpy

from ...core.control.method import Product
from ..body.body_inputs import read_body_request
from ..jobs import monitor
from ..jobs.preparing import Outcome, Preparation, Recipe
from ..jobs.scene_request import settings_group_of, settings_type
from ..learned import paths
from ..methods.adapter import FamilyAdapter
from ..scene.settings_groups import plain_values, shortest_decimal
from ..scene.time_slicing import Slices
from ..stage.cast import other_characters
from . import views
from .baking import GraphBakeRequest, bake_graph_job, why_not_mode
from .learning import GraphLearnRequest, learn_graph_job


class GraphAdapter(FamilyAdapter):
    """Reads skills and transitions to learn, and what mode, curve and cast a bake needs."""

    def hidden_settings(self, product: Product) -> tuple[str, ...]:
        """The armature has these in words of its own."""
        return ("mode", "seconds", "skills") if product is Product.TAKE else ()

    def why_not_learn(self, scene: bpy.types.Scene) -> str:
        """The skills must make a graph."""
        return views.why_not_learn(scene)

    def learn(self, scene: bpy.types.Scene, obj: bpy.types.Object) -> Recipe:
        """Read the skills, make the job, and start its worker."""
        armature, request = obj.name, self.graph_learn_request(scene, obj)

        def steps(own: Preparation) -> Slices[Outcome]:
            own.title = armature
            python = yield from own.find_worker()  # before a job is made that could not start
            job = yield from learn_graph_job(own, armature, request)
            return Outcome(monitor.start(job, own.scene, python, "Learning"))

        return steps

    def graph_learn_request(self, scene: bpy.types.Scene, obj: bpy.types.Object) -> GraphLearnRequest:
        """How the skills are to be learned."""
        name = self.method(Product.LEARNED_FILE).name
        return GraphLearnRequest(
            settings=plain_values(settings_group_of(scene, name), settings_type(name)),
            engine=scene.sinew.engine,
            seed=obj.sinew_graph.seed,
            scale=shortest_decimal(scene.sinew.scale),
            place=scene.sinew.place,
            body=read_body_request(obj),
            known=paths.absolute(obj, obj.sinew_graph.known),
        )

    def why_not_bake(self, scene: bpy.types.Scene) -> str:
        """There must be a graph, and what the mode needs."""
        if reason := self.why_not_test(scene):
            return reason
        obj = scene.sinew.armature
        others = len(other_characters(scene, obj)) if obj.sinew_graph.mode == "MEET" else 0
        return why_not_mode(scene, self.graph_bake_request(scene, obj), 1 + others)

    def bake(self, scene: bpy.types.Scene, obj: bpy.types.Object) -> Recipe:
        """Read graph, cast and stage, make the job, and start its worker."""
        request = self.graph_bake_request(scene, obj)
        return self.playing_recipe(obj, lambda own, learned: bake_graph_job(own, request, learned), "Baking")

    def graph_bake_request(self, scene: bpy.types.Scene, obj: bpy.types.Object) -> GraphBakeRequest:
        """What is to be baked."""
        own, name = obj.sinew_graph, self.method(Product.TAKE).name
        values = plain_values(settings_group_of(scene, name), settings_type(name))
        return GraphBakeRequest(
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
            settings={setting: values[setting] for setting in self.drawn_settings(Product.TAKE)},
        )
