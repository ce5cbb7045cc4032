# SPDX-License-Identifier: GPL-3.0-or-later
"""Between a scene and a family of methods: why something cannot be done yet, and the recipes that learn, bake and test.

``FamilyAdapter`` is all that a family needs whose methods declare what they take. One with more to read of a scene (a
list of skills, keyed bounds) overrides the recipe, and has its row in ``adapters.py``.
"""

from collections.abc import Callable
from dataclasses import fields

import bpy

from ...core.control.method import Method, Product
from ...core.control.registry import Family
from ...core.errors import SinewError
from ...core.jobs import Job
from ..body.body_inputs import read_body_request
from ..jobs import monitor
from ..jobs.job_views import JobView
from ..jobs.preparing import Outcome, Preparation, Recipe
from ..jobs.requests import find_armature
from ..jobs.scene_request import request_of, settings_group_of, settings_type
from ..learned.learned_file import Learned, LearnedFile, learned_file
from ..scene.chosen_armature import why_editing, why_no_armature
from ..scene.settings_groups import plain_values, shortest_decimal
from ..scene.time_slicing import Slices
from ..setup import readiness
from .job_inputs import BakeRequest, LearnRequest, bake_job, learn_job, own_actions


class FamilyAdapter:
    """A family of methods for the scene's chosen armature. file: its learned files."""

    family: Family
    file: LearnedFile

    def __init__(self, family: Family) -> None:
        self.family = family
        self.file = learned_file(family.name)
        self._problems: dict[str, SinewError] = {}

    def group(self, obj: bpy.types.Object) -> bpy.types.PropertyGroup:
        """What an animator sets for the family on an armature."""
        return getattr(obj, f"sinew_{self.family.name}")

    def method(self, product: Product) -> Method:
        """The family's method that makes this."""
        method = self.family.method(product)
        assert method is not None, f"'{self.family.name}' has no method that makes {product.value}"
        return method

    def drawn_settings(self, product: Product) -> tuple[str, ...]:
        """The settings that the panel draws as they are, in the order in which they were declared."""
        hidden = self.hidden_settings(product)
        return tuple(one.name for one in fields(self.method(product).settings_type) if one.name not in hidden)

    def hidden_settings(self, product: Product) -> tuple[str, ...]:
        """Settings that the armature has in words of its own, or that follow from the scene."""
        return ()

    def drawn_places(self, obj: bpy.types.Object) -> tuple[str, ...]:
        """What of the family's group says where to go, as far as what was learned goes anywhere."""
        bakes = self.family.method(Product.TAKE)
        return ("goals", "curve") if bakes is not None and bakes.goes_to_places else ()

    # What went wrong last for an armature, as long as nothing else was done there.

    def say(self, armature: str, problem: SinewError | None) -> None:
        """Show a problem in the panel until something goes well; None for that."""
        self._problems.pop(armature, None)
        if problem is not None:
            self._problems[armature] = problem

    def problem_of(self, armature: str) -> SinewError | None:
        """What went wrong last for the armature."""
        return self._problems.get(armature)

    # Learning.

    def why_not_learn(self, scene: bpy.types.Scene) -> str:
        """Why nothing can be learned yet, with the fix; '' if it can. Like the others here, cheap enough for draw."""
        if reason := why_no_armature(scene):
            return reason
        obj = scene.sinew.armature
        return why_editing(obj) or ("" if own_actions(obj) else f"No Action moves the bones of '{obj.name}': add one")

    def learn(self, scene: bpy.types.Scene, obj: bpy.types.Object) -> Recipe:
        """Read what is to be learned from, make the job, and start its worker."""
        method, request = self.method(Product.LEARNED_FILE), self.learn_request(scene, obj)

        def steps(own: Preparation) -> Slices[Outcome]:
            own.title = request.armature
            python = yield from own.find_worker()
            self.require_packages(method)
            job = yield from learn_job(own, method, request)
            return Outcome(monitor.start(job, own.scene, python, "Learning"))

        return steps

    def learn_request(self, scene: bpy.types.Scene, obj: bpy.types.Object) -> LearnRequest:
        """What is to be learned, and how."""
        own, method = self.group(obj), self.method(Product.LEARNED_FILE)
        return LearnRequest(
            armature=obj.name,
            actions=tuple(word.strip() for word in own.actions.split(",") if word.strip()),
            source=request_of(scene),
            settings=plain_values(settings_group_of(scene, method.name), settings_type(method.name)),
            engine=scene.sinew.engine,
            seed=own.seed,
            scale=shortest_decimal(scene.sinew.scale),
            place=scene.sinew.place,
            body=read_body_request(obj) if method.uses_engine else None,
        )

    def require_packages(self, method: Method) -> None:
        """Refuse now, with the fix, what the worker's Python could not run."""
        if "torch" in method.packages:
            readiness.require_learning()

    def learning_view(self, obj: bpy.types.Object) -> JobView | None:
        """The newest job that learns for the armature."""
        name = self.method(Product.LEARNED_FILE).name
        known = (view for view in monitor.watched_jobs() if view.is_for(obj.name, obj.sinew_mark))
        return next((view for view in known if view.method_name == name), None)

    # Playing and measuring what was learned.

    def why_not_bake(self, scene: bpy.types.Scene) -> str:
        """Why nothing can be baked yet, with the fix; '' if it can."""
        return self.why_not_test(scene)

    def why_not_test(self, scene: bpy.types.Scene) -> str:
        """Why nothing can be measured yet, with the fix; '' if it can."""
        if reason := why_no_armature(scene):
            return reason
        obj = scene.sinew.armature
        return self.file.why_none(obj) or why_editing(obj)

    def bake(self, scene: bpy.types.Scene, obj: bpy.types.Object) -> Recipe:
        """Read the learned file, the pose to begin in and the stage, make the job, and start its worker."""
        method, request = self.method(Product.TAKE), self.bake_request(scene, obj, Product.TAKE)
        return self.playing_recipe(obj, lambda own, learned: bake_job(own, method, request, learned), "Baking")

    def test(self, scene: bpy.types.Scene, obj: bpy.types.Object) -> Recipe:
        """The same for a job that measures what was learned."""
        method, request = self.method(Product.REPORT), self.bake_request(scene, obj, Product.REPORT)
        return self.playing_recipe(obj, lambda own, learned: bake_job(own, method, request, learned), "Testing")

    def playing_recipe(
        self,
        obj: bpy.types.Object,
        make: Callable[[Preparation, Learned], Slices[Job]],
        doing: str,
        method: Method | None = None,
    ) -> Recipe:
        """Read the armature's learned file, let ``make`` make the job of it, and start its worker.

        method: whose packages the worker must have; None where it needs no more than any.
        """
        name, file, path = obj.name, self.file, self.file.path_of(obj)

        def steps(own: Preparation) -> Slices[Outcome]:
            own.title = name
            python = yield from own.find_worker()
            if method is not None:
                self.require_packages(method)
            assert path is not None  # or the operator would have said why not
            learned = yield lambda: file.read_file(path)
            job = yield from make(own, learned)
            return Outcome(monitor.start(job, own.scene, python, doing))

        return steps

    def bring_along(self, obj: bpy.types.Object) -> Recipe:
        """Copy the learned file into a folder beside the .blend, and let the armature have the copy."""
        name, file = obj.name, self.file

        def steps(own: Preparation) -> Slices[Outcome]:
            own.title, own.text = name, f"Copying the {file.kind.label}"
            path = yield file.plan_copy(find_armature(name))
            file.refer(find_armature(name), path)
            return Outcome(f"Copied to '{path}'", undo_step=f"Copy {file.kind.label.title()} Beside .blend")

        return steps

    def bake_request(self, scene: bpy.types.Scene, obj: bpy.types.Object, product: Product) -> BakeRequest:
        """What is to be made from the learned file."""
        own, method = self.group(obj), self.method(product)
        return BakeRequest(
            armature=obj.name,
            settings=plain_values(settings_group_of(scene, method.name), settings_type(method.name)),
            frame_start=own.frame_start,
            engine=scene.sinew.engine,
            seed=getattr(own, "bake_seed", 0),
            scale=shortest_decimal(scene.sinew.scale),
            place=scene.sinew.place,
            body=read_body_request(obj) if method.uses_engine else None,
        )
