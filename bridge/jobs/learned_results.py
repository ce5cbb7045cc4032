# SPDX-License-Identifier: GPL-3.0-or-later
"""What a job has learned, brought home: a file beside the .blend that the armature refers to, with a take or alone."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import bpy

from ...core.control.method import Product
from ...core.errors import CannotWrite, JobError, RigError
from ...core.jobs import Job
from ..learned.learned_file import LearnedFile, learned_files
from ..scene.time_slicing import Slices, run_all_slices
from ..takes.marks import find_renamed

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class PreparedLearned:
    """What of a job that makes no take is there before its armature refers to it.

    path: beside the .blend; None where the job has learned nothing.
    """

    file: LearnedFile | None = None
    path: Path | None = None

    def drop(self) -> None:
        """The file stays: the next who keeps the same finds it and takes it as it is."""


def only_learns(job: Job) -> bool:
    """Whether a learned file is all that comes of the job: there is no take to bake."""
    method = job.method
    return Product.LEARNED_FILE in method.makes and not method.makes_take


def keep_learned_files(job: Job, files: Mapping[str, Path]) -> list[tuple[LearnedFile, Path]]:
    """Keep what a done job has learned. files: as in ``requests.collect``; the others go beside the .blend."""
    kept = ((file, file.keep(job, files.get(file.kind.name))) for file in learned_files())
    return [(file, path) for file, path in kept if path is not None]


def prepare_learned(job: Job) -> Slices[PreparedLearned]:
    """Keep what a job that makes no take has learned in a file beside the .blend, on another thread."""
    yield job.report  # says what is wrong with it
    for file in learned_files():
        plan = file.plan_keep(job)
        if plan is not None:
            return PreparedLearned(file, (yield plan))
    return PreparedLearned()


def collect_learned(job: Job, ready: PreparedLearned | None = None) -> Path:
    """Keep what a job that makes no take has learned, and let its armature have it. The caller owns the undo step.

    ready: what of it was done before.
    """
    ready = ready or run_all_slices(prepare_learned(job))
    target, file, path = job.spec.target, ready.file, ready.path
    if file is None or path is None:
        raise JobError(f"Job '{job.spec.title}' has learned nothing", "Start it again")
    obj = find_renamed(bpy.context.scene, target.armature, target.mark) if target.armature else None
    if obj is None:
        raise RigError(
            f"There is no armature '{target.armature}' in this scene; what was learned for it is in '{path}'",
            "Bring it back or give it its old name, or choose that file for another one",
        )
    file.refer(obj, path)
    try:
        job.mark_collected({"object": obj.name, "blend": bpy.data.filepath, "file": path.name})
    except CannotWrite as error:  # the file is here, which is what counts; the job will only be offered again
        _log.warning("%s", error)
    return path
