# SPDX-License-Identifier: GPL-3.0-or-later
"""One job that the open file waits for: what there is to see of it, and how its result comes home once."""

import logging
import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import bpy

from ...core import jobs
from ...core.control.method import Product
from ...core.errors import JobError, SinewError
from ..scene.time_slicing import is_tool_active
from ..takes.write_takes import hidden_scene, job_context
from . import baking, ownership, reports
from .job_views import JobView, missing_view, view_job
from .learned_results import only_learns

_WENT_WRONG = ("failed", "lost")

_log = logging.getLogger(__name__)


@dataclass
class WatchedJob:
    """A job that this file waits for.

    view: what the panel shows; None until it was looked at.
    ours: whether it belongs to the open file, so that its result may be baked without asking.
    tried: whether it was baked or refused once; from then on only the user bakes it.
    wanted: whether the user has asked for it to be baked.
    again: whether it is to be started again, because its worker was lost while no Blender was there to see it.
    told: whether it was seen to that the user hears of an end that went wrong.
    problem: why the user's last wish for this job could not be fulfilled.
    looked_s: when it was last looked at, by ``time.monotonic()``.
    """

    job: jobs.Job
    ours: bool
    view: JobView | None = None
    tried: bool = False
    wanted: bool = False
    again: bool = False
    told: bool = False
    problem: SinewError | None = None
    looked_s: float = 0.0

    @property
    def is_reading(self) -> bool:
        """Whether what happened so far was read only in part."""
        return self.view is not None and self.view.state == "reading"

    @property
    def may_be_alive(self) -> bool:
        """Whether a worker is at it, or nobody knows yet."""
        return self.view is not None and (self.view.alive or self.is_reading)

    @property
    def pending(self) -> bool:
        """Whether there is something to wait for."""
        view = self.view
        if view is None or self.may_be_alive or self.waits:
            return True
        return self.unbaked if view.state == "done" else not self.told and view.state in _WENT_WRONG

    @property
    def unbaked(self) -> bool:
        """Whether its result is to be baked, once it is there."""
        return self.wanted or (self.ours and not self.tried)

    @property
    def waits(self) -> bool:
        """Whether it is started when others are done."""
        return self.view is not None and self.ours and (self.view.queued or (self.again and self.view.state == "lost"))


def bakes_in_slices() -> bool:
    """Whether somebody looks on who must not be kept waiting, and a timer runs that can do the next piece."""
    return not bpy.app.background


def follow_job(watched: WatchedJob, until_s: float, tick: Callable[[], float | None]) -> bool:
    """Refresh the view, bake what is done, tell of what went wrong; True if the view changed.

    until_s: as in ``Job.status``. tick: the monitor's, to be called when a bake in slices is ready.
    """
    before, watched.looked_s = watched.view, time.monotonic()
    try:
        after = refresh_view(watched, until_s=until_s)
        watched.again &= after.state == "lost"
        if after.state == "done" and watched.unbaked:
            after = _note_report(watched) if _only_measures(watched.job) else _bake_when_possible(watched, tick)
    except SinewError as error:
        after = _show_problem(watched, error)
    except Exception:  # noqa: BLE001
        # A bug met with one job must not hide the others, nor repeat itself four times a second.
        _log.exception("The job in '%s' cannot be followed", watched.job.folder)
        problem = SinewError("Sinew met an error of its own with this job", "Look into the system console")
        after = watched.view = missing_view(watched.job.spec.id, watched.job.spec.title, problem)
    if after.state in _WENT_WRONG and not watched.again:
        watched.told = True
        _tell_of_end(watched.job, after)
    return after != before


def _show_problem(watched: WatchedJob, problem: SinewError) -> JobView:
    """Let the list say why nothing comes of it, and say it once to whoever looks elsewhere."""
    watched.tried, watched.wanted, watched.problem = True, False, problem
    reports.report_to_user(f"{watched.job.spec.title}: {problem}", "WARNING")
    return refresh_view(watched)


def _only_measures(job: jobs.Job) -> bool:
    return job.method.makes == (Product.REPORT,)


def _note_report(watched: WatchedJob) -> JobView:
    """A job that only measures has nothing to bake: what it found stands with it in the list."""
    watched.tried, watched.wanted = True, False
    watched.job.report()
    watched.job.mark_collected({"blend": bpy.data.filepath})
    view = refresh_view(watched)
    reports.report_to_user("; ".join((f"{view.title}: {view.text}", *view.notes)), "INFO")
    return view


def _tell_of_end(job: jobs.Job, view: JobView) -> None:
    """Say what went wrong, once: now, or when the file is opened that was closed meanwhile."""
    if not reports.is_news(job):
        return
    try:
        reports.mark_told(job)
    except SinewError as error:
        _log.warning("%s", error)
    reports.report_to_user(f"{view.title}: {SinewError(view.message, view.hint)}", "WARNING")


def refresh_view(watched: WatchedJob, waiting: str = "", until_s: float = math.inf) -> JobView:
    """Make the view anew; ``waiting`` says why the result is not baked yet, ``until_s`` is as in ``Job.status``."""
    try:
        if not watched.job.has_folder():
            raise JobError(f"The job's folder '{watched.job.folder}' is gone", "Forget it, and simulate again")
        status = watched.job.status(until_s)
    except SinewError as error:
        watched.tried = True
        watched.view = missing_view(watched.job.spec.id, watched.job.spec.title, error)
        return watched.view
    if status.state == "done" and not watched.ours and not waiting:
        waiting = "It was started from another file. Bake it if it belongs here"
        if ownership.is_here(watched.job):
            waiting = "This file does not know it, though it says so itself. Bake it if it belongs here"
    watched.view = view_job(watched.job, status, waiting, watched.problem)
    return watched.view


def _bake_when_possible(watched: WatchedJob, tick: Callable[[], float | None]) -> JobView:
    """Bake the result unless it was baked before or the user is in the middle of something."""
    if watched.job.collected() is not None and not watched.wanted:  # also by another Blender, or before an undo
        watched.tried = True
        return refresh_view(watched)
    if hidden := hidden_scene(watched.job):
        return refresh_view(watched, f"It is baked when a window shows scene '{hidden}'")
    with job_context(watched.job):
        waiting = _why_not_now()
        if waiting:
            return refresh_view(watched, waiting)
        learned = only_learns(watched.job)
        if bakes_in_slices() and not baking.is_ready(watched.job.spec.id):
            baking.begin_baking(watched.job, tick)
            return refresh_view(watched, "It is being kept" if learned else "It is being baked")
        watched.tried, watched.wanted = True, False
        try:
            # The second argument makes the undo step that an operator called from Python otherwise goes without.
            bpy.ops.sinew.collect("EXEC_DEFAULT", True, job=watched.job.spec.id)
        except RuntimeError as error:
            if watched.problem is None:
                raise
            # What the operator reports as an error arrives here; the panel has it already.
            reports.report_to_user(str(watched.problem), "WARNING")
            _log.info("%s", error)
        else:
            view = refresh_view(watched)
            reports.report_to_user(f"Learned '{view.file}'" if learned else f"Baked '{view.action}'", "INFO")
    return refresh_view(watched)


def _why_not_now() -> str:
    """Why a result cannot be baked at this moment, '' if it can."""
    if bpy.app.is_job_running("RENDER"):
        return "It is baked when the render is finished"
    if bpy.context.mode not in ("OBJECT", "POSE"):
        # Other modes have an undo of their own, which would not know of a new Action.
        return "It is baked when you are back in Object Mode or Pose Mode"
    if is_tool_active():
        return "It is baked when the current tool is finished"
    return ""
