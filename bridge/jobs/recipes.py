# SPDX-License-Identifier: GPL-3.0-or-later
"""The recipes of the verbs about the chosen motion and its body, and of those about jobs."""

from functools import partial

from ...core import jobs
from ...core.control import registry
from ...core.sim.variations import VariationSettings
from ..body import fitted_bodies, part_editing
from ..rig.rig_reader import RigMotion
from ..scene.time_slicing import Slices
from ..stage.views import has_ground_objects, summarize_stage
from . import batches, monitor, notices
from .preparing import Outcome, Preparation, Recipe
from .requests import Request, create_from, find_armature, inputs_in_slices, stage_for


def simulate_recipe(request: Request, *, anyway: bool = False, doing: str = "Simulating") -> Recipe:
    """Read motion, body and stage, make the job, start its worker and leave the rest to the monitor.

    anyway: also what no body can do. doing: how the sentence begins that says so.
    """

    def steps(own: Preparation) -> Slices[Outcome]:
        rig = yield from own.read(request)
        python = yield from own.find_worker()
        doubts = yield from _look(own, request, rig, anyway)
        own.text = "Reading the stage"
        inputs = yield from inputs_in_slices(request, rig, slice_s=own.slice_s)
        own.text = "Getting ready"
        job = yield from own.make(lambda: create_from(request, rig, inputs))
        said = monitor.start(job, own.scene, python, doing)
        notices.show_notices(request, doubts)
        return Outcome(said, tuple(doubt.message for doubt in doubts))

    return steps


def variations_recipe(request: Request, settings: VariationSettings, *, anyway: bool = False) -> Recipe:
    """Read everything once, make all jobs or none, and leave them to the queue."""

    def steps(own: Preparation) -> Slices[Outcome]:
        rig = yield from own.read(request)
        yield from own.find_worker()
        doubts = yield from _look(own, request, rig, anyway)
        own.text = "Reading the stage"
        inputs = yield from inputs_in_slices(request, rig, slice_s=own.slice_s)
        own.text = "Getting ready"
        batch = yield lambda: batches.plan_from(request, rig, inputs, settings)
        made = yield from own.make_all([partial(batch.create, variation) for variation in batch.variations])
        for job in made:
            monitor.watch(job, own.scene)
        notices.show_notices(request, doubts)
        said = f"Simulating {len(made)} variations of '{rig.clip.name}'"
        return Outcome(said, tuple(doubt.message for doubt in doubts))

    return steps


def motion_check_recipe(request: Request) -> Recipe:
    """Read the motion and say what looks wrong with it; what was found is left for the panel."""

    def steps(own: Preparation) -> Slices[Outcome]:
        rig = yield from own.read(request)
        doubts = yield from _look(own, request, rig, anyway=True)
        notices.show_notices(request, doubts)
        looks = f"'{rig.clip.name}' looks right: {len(rig.clip)} frames, {rig.clip.duration_s:.2f} s"
        return Outcome(looks, tuple(doubt.message for doubt in doubts))

    return steps


def _look(own: Preparation, request: Request, rig: RigMotion, anyway: bool) -> Slices[tuple[notices.Notice, ...]]:
    """What looks wrong with the motion; refuses what no body can do before anything is made of it."""
    own.text = "Looking at the motion"
    on_floor = registry.get_method(request.method).uses_engine and not has_ground_objects(own.scene)
    doubts: tuple[notices.Notice, ...] = yield lambda: notices.doubts_about(rig.clip, request, on_floor=on_floor)
    if not anyway:
        notices.require_possible(doubts)
    return doubts


def stage_check_recipe(request: Request) -> Recipe:
    """Read the stage around the motion and say what cannot be simulated, or not as it looks."""

    def steps(own: Preparation) -> Slices[Outcome]:
        rig = yield from own.read(request)
        own.text = "Reading the stage"
        parts, _ = yield from stage_for(request, rig, slice_s=own.slice_s)
        notices.forget_errors(request)
        return Outcome(
            summarize_stage(parts), tuple(f"{finding.message}. {finding.hint}" for finding in parts.findings)
        )

    return steps


def cleaning_recipe(days: int, *, keep_unbaked: bool) -> Recipe:
    """Delete the folders of jobs on which nothing happened for so many days."""

    def steps(own: Preparation) -> Slices[Outcome]:
        own.text = "Deleting old jobs"
        gone = yield lambda: jobs.clean_jobs(older_than_days=days, keep_uncollected=keep_unbaked)
        monitor.drop_deleted()
        said = f"Deleted {len(gone)} {'job' if len(gone) == 1 else 'jobs'} in '{jobs.jobs_root()}'"
        return Outcome(said, undo_step="Delete Old Jobs")

    return steps


def part_edit_recipe(armature: str, bone: str) -> Recipe:
    """Begin to edit the part of a bone, starting from what was fitted."""

    def steps(own: Preparation) -> Slices[Outcome]:
        yield from _fit(own, armature)
        part_editing.begin_edit(own.scene, find_armature(armature), bone)
        return Outcome(f"'{bone}' shows what was fitted: tick what is to be otherwise", undo_step="Edit Part by Hand")

    return steps


def part_mirror_recipe(armature: str, bone: str) -> Recipe:
    """Give the part on the other side of the body what was edited of this one."""

    def steps(own: Preparation) -> Slices[Outcome]:
        yield from _fit(own, armature)
        other = part_editing.mirror_part_edit(own.scene, find_armature(armature), bone)
        return Outcome(f"'{other}' is now as '{bone}'", undo_step="Mirror to Other Side")

    return steps


def _fit(own: Preparation, armature: str) -> Slices[None]:
    own.title, own.text = armature, "Fitting the body"
    yield from fitted_bodies.fit_in_slices(own.scene, find_armature(armature), own.slice_s)


def resume_recipe(job: jobs.Job) -> Recipe:
    """Let a job's worker go on, or launch a new one on the same folder."""

    def steps(own: Preparation) -> Slices[Outcome]:
        own.title = job.spec.title
        if not job.status().alive:
            yield from own.find_worker()
        return Outcome(monitor.go_on(job, own.scene))

    return steps
