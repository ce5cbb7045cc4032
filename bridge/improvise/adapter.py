# SPDX-License-Identifier: GPL-3.0-or-later
"""Improvising, between a scene and its methods: what is learned from is the armature's library."""

from dataclasses import replace

import bpy

from ...core.control.improvise.learned_file import Improviser
from ...core.control.improvise.task_method import ImproviseTask
from ...core.control.method import Product
from ...core.control.registry import get_method
from ...core.control.tasks.tasks_table import get_task
from ...core.control.tracking_policy.learned_file import Director
from ...core.jobs import Job
from ..jobs import monitor
from ..jobs.job_views import JobView
from ..jobs.preparing import Outcome, Preparation, Recipe
from ..jobs.scene_request import settings_group_of, settings_type
from ..learned.learned_file import Learned, LearnedFile, learned_file
from ..methods.adapter import FamilyAdapter
from ..scene.chosen_armature import why_editing, why_no_armature
from ..scene.settings_groups import plain_values
from ..scene.time_slicing import Slices
from .jobs import ImproviseRequest, improvise_bake_job, improvise_train_job, improviser_job, learn_target


def goes_to_points(improviser: Improviser | None) -> bool:
    """Whether what was learned is a task that goes to where a scene says; None where nothing is known yet."""
    task = None if improviser is None else improviser.task
    return task is not None and get_task(task.name).goes_to_points


class ImproviseAdapter(FamilyAdapter):
    """Learns from the library that the armature has for being directed."""

    @property
    def library(self) -> LearnedFile:
        """The library's file."""
        return learned_file("direct")

    def why_not_learn(self, scene: bpy.types.Scene) -> str:
        """There must be a library with a body, and nobody who is at it already."""
        if reason := why_no_armature(scene):
            return reason
        obj = scene.sinew.armature
        if reason := why_editing(obj) or self.library.why_none(obj):
            return reason
        if isinstance(self.library.view_of(obj).model, Director):
            return "The library does not say what body its clips are for: build it again"
        view = self.learning_view(obj)
        return "It is being trained already: stop that first, or wait" if view is not None and view.alive else ""

    def learn(self, scene: bpy.types.Scene, obj: bpy.types.Object) -> Recipe:
        """Read the library, make the job that learns from it, and start its worker."""
        method, name, path = self.method(Product.LEARNED_FILE), obj.name, self.library.path_of(obj)
        request = self.bake_request(scene, obj, Product.LEARNED_FILE)
        seed = self.group(obj).seed

        def steps(own: Preparation) -> Slices[Outcome]:
            own.title = name
            python = yield from own.find_worker()
            self.require_packages(method)
            assert path is not None  # or the operator would have said why not
            library = yield lambda: self.library.read_file(path)
            target = learn_target(method, name)
            yield None
            seeded = ImproviseRequest(name, request.settings, request.engine, seed)
            job = yield from own.make(lambda: improvise_train_job(method, seeded, library, target))
            return Outcome(monitor.start(job, own.scene, python, "Training"))

        return steps

    @property
    def task_settings(self) -> tuple[str, ...]:
        """The settings of learning a task, in the order in which they were declared."""
        return get_method(ImproviseTask.name).settings_type.field_names()

    def task_advice(self, scene: bpy.types.Scene) -> str:
        """What the chosen task needs besides."""
        settings = settings_group_of(scene, ImproviseTask.name)
        wanted = get_task(settings.task).sigma_rad
        return "" if settings.sigma >= wanted - 1e-6 else f"This task is learned with a Freedom of {wanted:g} rad"

    def drawn_places(self, obj: bpy.types.Object) -> tuple[str, ...]:
        """Goals and a curve, once a task was learned that goes somewhere."""
        return super().drawn_places(obj) if goes_to_points(self.file.view_of(obj).model) else ()

    def why_not_learn_task(self, scene: bpy.types.Scene) -> str:
        """There must be an improviser, and nobody who is at it already."""
        if reason := self.why_not_test(scene):
            return reason
        view = self.learning_view(scene.sinew.armature)
        return "It is being trained already: stop that first, or wait" if view is not None and view.alive else ""

    def learn_task(self, scene: bpy.types.Scene, obj: bpy.types.Object) -> Recipe:
        """Read the file, make the job that learns the task of the scene's settings, and start its worker."""
        method = get_method(ImproviseTask.name)
        request = ImproviseRequest(
            armature=obj.name,
            settings=plain_values(settings_group_of(scene, method.name), settings_type(method.name)),
            engine=scene.sinew.engine,
            seed=self.group(obj).seed,
        )

        def make(own: Preparation, learned: Learned) -> Slices[Job]:
            target = learn_target(method, request.armature)
            return (yield from own.make(lambda: improviser_job(method, request, learned, target)))

        return self.playing_recipe(obj, make, "Learning a task", method)

    def learning_view(self, obj: bpy.types.Object) -> JobView | None:
        """The newest job that learns for the armature, be it to improvise or a task."""
        names = (self.method(Product.LEARNED_FILE).name, ImproviseTask.name)
        known = (view for view in monitor.watched_jobs() if view.is_for(obj.name, obj.sinew_mark))
        return next((view for view in known if view.method_name in names), None)

    def bake(self, scene: bpy.types.Scene, obj: bpy.types.Object) -> Recipe:
        """Read where everybody stands, and the stage, make the job, and start its worker."""
        found, own = self.bake_request(scene, obj, Product.TAKE), self.group(obj)
        curve = own.curve.name if own.curve else ""
        goals = () if curve or own.goals is None else tuple(sorted(one.name for one in own.goals.all_objects))
        plain = ImproviseRequest(**vars(found))

        def make(preparation: Preparation, learned: Learned) -> Slices[Job]:
            request = replace(plain, goals=goals, curve=curve) if goes_to_points(learned.model) else plain
            return improvise_bake_job(preparation, request, learned)

        return self.playing_recipe(obj, make, "Improvising")

    def test(self, scene: bpy.types.Scene, obj: bpy.types.Object) -> Recipe:
        """Read the file, make the job that lets many improvise, and start its worker."""
        method, request = self.method(Product.REPORT), self.bake_request(scene, obj, Product.REPORT)

        def make(own: Preparation, learned: Learned) -> Slices[Job]:
            target = learn_target(method, request.armature)
            return (yield from own.make(lambda: improviser_job(method, request, learned, target)))

        return self.playing_recipe(obj, make, "Testing")
