# SPDX-License-Identifier: GPL-3.0-or-later
"""The job monitor: looks at this file's jobs on a timer, and bakes each result once.

A timer, not a modal operator, so that opening a file or undoing does not end it. It keeps ids, names
and folders, never a datablock: undo and file loading may replace any of those at any time.
"""

import logging
from dataclasses import dataclass

import bpy
from bpy.app.handlers import persistent

from ...core import jobs
from ...core.control import registry
from ...core.control.method import Product
from ...core.errors import JobError, SinewError
from ..scene.time_slicing import is_tool_active
from ..setup import preferences
from ..takes.write_takes import hidden_scene, job_context
from . import baking, notices, ownership, queueing, reports
from .job_views import JobView, missing_view, view_job

PERIOD_S = 0.25
_WENT_WRONG = ("failed", "lost")

_log = logging.getLogger(__name__)


@dataclass
class _Watched:
    """A job that this file waits for.

    view: what the panel shows; None until it was looked at.
    ours: whether it belongs to the open file, so that its result may be baked without asking.
    tried: whether it was baked or refused once; from then on only the user bakes it.
    wanted: whether the user has asked for it to be baked.
    again: whether it is to be started again, because its worker was lost while no Blender was there to see it.
    told: whether it was seen to that the user hears of an end that went wrong.
    problem: why the user's last wish for this job could not be fulfilled.
    """

    job: jobs.Job
    ours: bool
    view: JobView | None = None
    tried: bool = False
    wanted: bool = False
    again: bool = False
    told: bool = False
    problem: SinewError | None = None

    @property
    def pending(self) -> bool:
        """Whether there is something to wait for."""
        view = self.view
        if view is None or view.alive or self.waits:
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


# This session's knowledge of the open file's jobs, by id. All of it can be found again from the .blend and
# the job folders.
_watched: dict[str, _Watched] = {}
_missing: dict[str, JobView] = {}
_SECOND = len("20261116-015500")  # what ids begin with; the rest of them knows no order
_attached: list[bool] = []  # empty until the open file's own jobs were looked for


def watched_jobs() -> list[JobView]:
    """Every job of the open file, the newest first; what the panel draws."""
    seen = [watched.view for watched in _watched.values() if watched.view is not None]
    created = {job_id: watched.job.spec.created for job_id, watched in _watched.items()}

    def made(view: JobView) -> tuple[str, str, str]:
        return view.id[:_SECOND], created.get(view.id, ""), view.id

    return sorted([*seen, *_missing.values()], key=made, reverse=True)


def job_of(job_id: str) -> jobs.Job:
    """The job of that id."""
    if job_id in _watched:
        return _watched[job_id].job
    raise JobError(f"This file knows no job '{job_id}'", "Open the file that it was started from")


def views_of_batch(batch: str) -> list[JobView]:
    """What there is to see of the jobs of that batch."""
    if found := [view for view in watched_jobs() if view.batch == batch]:
        return found
    raise JobError(f"This file knows no batch '{batch}'", "Open the file that it was started from")


def watch(job: jobs.Job, scene: bpy.types.Scene) -> None:
    """Follow a job that was just started or resumed, and note it in the file."""
    _attach_once()
    _watched[job.spec.id] = _Watched(job, ours=ownership.is_here(job))
    _missing.pop(job.spec.id, None)
    _list_in(scene, job)
    look(job.spec.id)
    start_timer()


def start(job: jobs.Job, scene: bpy.types.Scene, python: str | None, doing: str) -> str:
    """Start a new job, now or when those before it are done, and follow it; gives the sentence that says which.

    doing: how the sentence begins, such as 'Simulating'.
    """
    _attach_once()
    title = job.spec.title
    ahead = _in_the_way() if takes_turns() else 0
    if ahead:
        queueing.enqueue(job)
        said = f"'{title}' waits for its turn: {ahead} {'job is' if ahead == 1 else 'jobs are'} before it"
    else:
        jobs.launch(job, python)
        said = f"{doing} '{title}'"
    watch(job, scene)
    return said


def takes_turns() -> bool:
    """Whether jobs wait for each other: not where no timer runs that could start the next one."""
    return not bpy.app.background


def bakes_in_slices() -> bool:
    """Whether somebody looks on who must not be kept waiting, and a timer runs that can do the next piece."""
    return not bpy.app.background


def _in_the_way() -> int:
    """How many jobs come before a new one; 0 if it may start at once."""
    waiting = sum(watched.waits for watched in _watched.values())
    alive = 0
    for watched in _watched.values():
        if watched.view is not None and watched.view.alive:
            alive += _refresh(watched).alive  # it may have ended since it was looked at
    return waiting + alive if waiting or alive >= preferences.workers_at_once() else 0


def go_on(job: jobs.Job, scene: bpy.types.Scene) -> str:
    """Go on with a job that is paused, waits for its turn or has stopped; gives the sentence that says so."""
    status = job.status()
    if status.alive:
        job.go_on()
        watch(job, scene)
        return f"Going on with '{job.spec.title}'"
    if queueing.is_held_back(job, status.state) and _in_the_way():
        job.go_on()
        watch(job, scene)
        return f"'{job.spec.title}' waits for its turn again"
    jobs.launch(job, preferences.preferred_python())
    watch(job, scene)
    return f"Resumed '{job.spec.title}'"


def look(job_id: str, problem: SinewError | None = None) -> None:
    """Bring one job's view up to date now; ``problem`` is shown with it until the next try."""
    watched = _watched.get(job_id)
    if watched is not None:
        watched.problem = problem
        _refresh(watched)
        reports.redraw()


def bake(job_id: str) -> None:
    """Bake a job's result as soon as it is ready, because the user wants it."""
    job = job_of(job_id)
    if job.status().state != "done":
        job.result()  # says why there is none
    watched = _watched[job_id]
    watched.wanted, watched.problem = True, None
    start_timer()


def forget(job_id: str, *, delete_files: bool = False) -> None:
    """Put a job away: it is neither shown nor baked any more."""
    watched = _watched.get(job_id)
    if watched is not None and watched.job.folder.is_dir():
        if watched.job.status().alive:
            raise JobError(f"Job '{watched.job.spec.title}' is running", "Cancel it first")
        if watched.ours:  # another file may still want it
            ownership.move_here(watched.job, settled=True)
        if delete_files:
            ownership.delete(watched.job)
    baking.drop(job_id)
    _watched.pop(job_id, None)
    _missing.pop(job_id, None)
    _list_only(set(_watched) | set(_missing))
    reports.redraw()


def drop_deleted() -> None:
    """Put away the jobs whose folders are gone."""
    for job_id in [job_id for job_id, watched in _watched.items() if not watched.job.folder.is_dir()]:
        forget(job_id)


def start_timer() -> None:
    """Look at the jobs from now on, until there is nothing to wait for."""
    if not bpy.app.timers.is_registered(tick_monitor):
        bpy.app.timers.register(tick_monitor, first_interval=PERIOD_S, persistent=True)


def tick_monitor() -> float | None:
    """Look at every job once, bake what is done; seconds until the next look, None for no more."""
    _attach_once()
    changed = False
    for watched in list(_watched.values()):
        if watched.pending:
            changed |= _look_closely(watched)
    changed |= _start_next()
    if changed:
        reports.redraw()
    return PERIOD_S if any(watched.pending for watched in _watched.values()) else None


def attach() -> None:
    """Find the jobs of the open file: those it names, and those on disk that were started from it.

    The second kind is left by a Blender that was killed before it could save.
    """
    _attached[:] = [True]
    _watched.clear()
    _missing.clear()
    notices.forget_notices()
    named = {entry.name: entry.action for scene in _own_scenes() for entry in scene.sinew.jobs}
    found = {job.spec.id: job for job in jobs.all_jobs() if job.spec.id in named or _was_started_here(job)}
    for job_id, job in found.items():
        if not ownership.is_settled(job):
            _watched[job_id] = _Watched(job, ours=ownership.is_here(job), again=queueing.has_place(job))
    for job_id in named.keys() - found.keys():
        _missing[job_id] = _why_missing(job_id, named[job_id])
    if any(watched.pending for watched in _watched.values()):
        start_timer()


def _attach_once() -> None:
    """Attach to the file that was open before Blender let us look at it."""
    if not _attached:
        attach()


def _was_started_here(job: jobs.Job) -> bool:
    # A file that was never saved has no name by which another session could know it.
    return bool(bpy.data.filepath) and ownership.is_here(job)


def _why_missing(job_id: str, title: str) -> JobView:
    try:
        jobs.open_job(jobs.jobs_root() / job_id)
        problem = SinewError(f"Job '{job_id}' cannot be read", "Open the file again, or forget the job")
    except SinewError as error:
        problem = error
    return missing_view(job_id, title, problem)


def _start_next() -> bool:
    """Start as many of those that wait as there may be at once; True if there were any."""
    waiting = {watched.job: watched for watched in _watched.values() if watched.waits}
    alive = sum(watched.view is not None and watched.view.alive for watched in _watched.values())
    chosen = queueing.in_order(waiting)[: max(preferences.workers_at_once() - alive, 0)]
    for job in chosen:
        waiting[job].again = False
        try:
            jobs.launch(job, preferences.preferred_python())
        except SinewError as error:  # it has left the queue until the user starts it; the others have their turn
            waiting[job].problem = error
        _refresh(waiting[job])
    return bool(chosen)


def _look_closely(watched: _Watched) -> bool:
    """Refresh the view, bake what is done, tell of what went wrong; True if the view changed."""
    before = watched.view
    try:
        after = _refresh(watched)
        watched.again &= after.state == "lost"
        if after.state == "done" and watched.unbaked:
            after = _bake_when_possible(watched) if _makes_take(watched.job) else _note_report(watched)
    except Exception:  # noqa: BLE001
        # A bug met with one job must not hide the others, nor repeat itself four times a second.
        _log.exception("The job in '%s' cannot be followed", watched.job.folder)
        problem = SinewError("Sinew met an error of its own with this job", "Look into the system console")
        after = watched.view = missing_view(watched.job.spec.id, watched.job.spec.title, problem)
    if after.state in _WENT_WRONG and not watched.again:
        watched.told = True
        _tell_of_end(watched.job, after)
    return after != before


def _makes_take(job: jobs.Job) -> bool:
    return registry.get_method(job.spec.method).makes != (Product.REPORT,)


def _note_report(watched: _Watched) -> JobView:
    """A job that only measures has nothing to bake: what it found stands with it in the list."""
    watched.tried, watched.wanted = True, False
    watched.job.report()
    watched.job.mark_collected({"blend": bpy.data.filepath})
    view = _refresh(watched)
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


def _refresh(watched: _Watched, waiting: str = "") -> JobView:
    """Make the view anew; ``waiting`` says why the result is not baked yet."""
    try:
        if not watched.job.folder.is_dir():
            raise JobError(f"The job's folder '{watched.job.folder}' is gone", "Forget it, and simulate again")
        status = watched.job.status()
    except JobError as error:
        watched.tried = True
        watched.view = missing_view(watched.job.spec.id, watched.job.spec.title, error)
        return watched.view
    if status.state == "done" and not watched.ours and not waiting:
        waiting = "It was started from another file. Bake it if it belongs here"
    watched.view = view_job(watched.job, status, waiting, watched.problem)
    return watched.view


def _bake_when_possible(watched: _Watched) -> JobView:
    """Bake the result unless it was baked before or the user is in the middle of something."""
    if watched.job.collected() is not None and not watched.wanted:  # also by another Blender, or before an undo
        watched.tried = True
        return _refresh(watched)
    if hidden := hidden_scene(watched.job):
        return _refresh(watched, f"It is baked when a window shows scene '{hidden}'")
    with job_context(watched.job):
        waiting = _why_not_now()
        if waiting:
            return _refresh(watched, waiting)
        if bakes_in_slices() and not baking.is_ready(watched.job.spec.id):
            baking.begin_baking(watched.job, tick_monitor)
            return _refresh(watched, "It is being baked")
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
            reports.report_to_user(f"Baked '{_refresh(watched).action}'", "INFO")
    return _refresh(watched)


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


def _list_in(scene: bpy.types.Scene, job: jobs.Job) -> None:
    entry = scene.sinew.jobs.get(job.spec.id) or scene.sinew.jobs.add()
    entry.name = job.spec.id
    entry.armature = job.spec.target.armature
    entry.action = job.spec.target.action


def _own_scenes() -> list[bpy.types.Scene]:
    """The file's scenes without those that are linked from another file, whose jobs are that file's."""
    return [scene for scene in bpy.data.scenes if scene.library is None]


def _list_only(wanted: set[str]) -> None:
    for scene in _own_scenes():
        for index, entry in reversed(list(enumerate(scene.sinew.jobs))):
            if entry.name not in wanted:
                scene.sinew.jobs.remove(index)


@persistent
def _on_load(_path: str) -> None:
    attach()


@persistent
def _on_save(_path: str) -> None:
    """List what the file still waits for: undo may have taken it out, and what was baked is in the file itself."""
    _attach_once()
    open_jobs = {job_id: watched.job for job_id, watched in _watched.items() if watched.job.collected() is None}
    _list_only(set(open_jobs) | set(_missing))
    listed = {entry.name for scene in _own_scenes() for entry in scene.sinew.jobs}
    for job_id, job in open_jobs.items():
        if job_id not in listed:
            _list_in(bpy.context.scene, job)


@persistent
def _on_saved(path: str) -> None:
    """The jobs belong to the file under its new name; those whose result is in it are settled."""
    if not ownership.is_open_file(path):
        return  # a copy was saved
    for watched in _watched.values():
        if watched.ours and watched.job.folder.is_dir():
            try:
                ownership.move_here(watched.job, settled=watched.job.collected() is not None)
            except SinewError as error:
                _log.warning("%s", error)


_HANDLERS = (("load_post", _on_load), ("save_pre", _on_save), ("save_post", _on_saved))


def register() -> None:
    """Follow files as they are opened and saved. The open one is looked at as soon as Blender is ready."""
    for name, handler in _HANDLERS:
        getattr(bpy.app.handlers, name).append(handler)
    start_timer()


def unregister() -> None:
    """Stop the timer and forget everything."""
    if bpy.app.timers.is_registered(tick_monitor):
        bpy.app.timers.unregister(tick_monitor)
    for name, handler in _HANDLERS:
        getattr(bpy.app.handlers, name).remove(handler)
    for kept in (_watched, _missing, _attached):
        kept.clear()
    notices.forget_notices()
