# SPDX-License-Identifier: GPL-3.0-or-later
"""The job monitor: looks at this file's jobs on a timer, and bakes each result once.

A timer, not a modal operator, so that opening a file or undoing does not end it. It keeps ids, names
and folders, never a datablock: undo and file loading may replace any of those at any time.
"""

import logging
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import bpy
from bpy.app.handlers import persistent

from ...core import jobs
from ...core.errors import JobError, SinewError
from ...core.jobs.spec import is_plain_id
from ..setup import preferences
from . import baking, notices, ownership, queueing, reports
from .job_views import JobView, missing_view
from .watched_job import WatchedJob, follow_job, refresh_view

PERIOD_S = 0.25
_SOON_S = 0.02  # while there is more to read of what happened
_FILES_AT_ONCE = 8
_READING_S = 0.02  # of each look at the jobs

_log = logging.getLogger(__name__)


# This session's knowledge of the open file's jobs, by id. All of it can be found again from the .blend and
# the job folders.
_watched: dict[str, WatchedJob] = {}
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
    _watched[job.spec.id] = WatchedJob(job, ours=ownership.is_here(job))
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
        jobs.launch(job, python, preferences.preferred_where())
        said = f"{doing} '{title}'"
    watch(job, scene)
    return said


def takes_turns() -> bool:
    """Whether jobs wait for each other: not where no timer runs that could start the next one."""
    return not bpy.app.background


def _in_the_way() -> int:
    """How many jobs come before a new one; 0 if it may start at once, as on a cluster any may."""
    if not preferences.preferred_where().is_here:
        return 0
    waiting = sum(watched.waits for watched in _watched.values())
    alive = 0
    for watched in _watched.values():
        if watched.may_be_alive:
            alive += refresh_view(watched).alive  # it may have ended since it was looked at
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
    jobs.launch(job, preferences.preferred_python(), preferences.preferred_where())
    watch(job, scene)
    return f"Resumed '{job.spec.title}'"


def look(job_id: str, problem: SinewError | None = None) -> None:
    """Bring one job's view up to date now; ``problem`` is shown with it until the next try."""
    watched = _watched.get(job_id)
    if watched is not None:
        watched.problem = problem
        refresh_view(watched)
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
    if watched is not None and watched.job.has_folder():
        if watched.job.status().alive:
            raise JobError(f"Job '{watched.job.spec.title}' is running", "Cancel it first")
        if watched.ours:  # another file may still want it
            ownership.move_here(watched.job, settled=True)
        if delete_files:
            ownership.delete(watched.job)
    _put_away([job_id])


def forget_batch(batch: str) -> None:
    """Put all jobs of a batch away that are not running. Disks take their time for a file, but many at once."""
    ids = [view.id for view in views_of_batch(batch) if not view.alive]
    ours = [one.job for one in map(_watched.get, ids) if one is not None and one.ours and one.job.has_folder()]
    with ThreadPoolExecutor(_FILES_AT_ONCE) as pool:
        list(pool.map(ownership.plan_move_here(settled=True), ours))
    _put_away(ids)


def _put_away(job_ids: Sequence[str]) -> None:
    for job_id in job_ids:
        baking.drop(job_id)
        _watched.pop(job_id, None)
        _missing.pop(job_id, None)
    _list_only(set(_watched) | set(_missing))
    reports.redraw()


def drop_deleted() -> None:
    """Put away the jobs whose folders are gone."""
    for job_id in [job_id for job_id, watched in _watched.items() if not watched.job.has_folder()]:
        forget(job_id)


def start_timer() -> None:
    """Look at the jobs from now on, until there is nothing to wait for."""
    if not bpy.app.timers.is_registered(tick_monitor):
        bpy.app.timers.register(tick_monitor, first_interval=PERIOD_S, persistent=True)


def tick_monitor() -> float | None:
    """Look at every job once, bake what is done; seconds until the next look, None for no more."""
    _attach_once()
    changed, until_s = False, time.monotonic() + _READING_S
    # Those with more to read come last, and in turn: one with a long history holds up none of the others.
    pending = sorted((one for one in _watched.values() if one.pending), key=lambda one: (one.is_reading, one.looked_s))
    for watched in pending:
        changed |= follow_job(watched, until_s, tick_monitor)
    changed |= _start_next()
    if changed:
        reports.redraw()
    if any(watched.is_reading for watched in _watched.values()):
        return _SOON_S
    return PERIOD_S if any(watched.pending for watched in _watched.values()) else None


def attach() -> None:
    """Find the jobs of the open file: those it names, and those on disk that were started from it.

    The second kind is left by a Blender that was killed before it could save. One that cannot be read costs its line
    in the list, and nobody else's.
    """
    _attached[:] = [True]
    _watched.clear()
    _missing.clear()
    notices.forget_notices()
    named = {entry.name: (entry.action, entry.digest) for scene in _own_scenes() for entry in scene.sinew.jobs}
    for found in jobs.find_jobs():
        job_id = found.folder.name
        try:
            if isinstance(found, jobs.Job):
                _take_up(found, named[job_id][1] if job_id in named else None)
        except Exception as error:  # noqa: BLE001 - whatever one job has in it, the others are found
            if not isinstance(error, SinewError | OSError):
                _log.exception("The job in '%s' cannot be followed", found.folder)
            _watched.pop(job_id, None)
    for job_id, (title, digest) in named.items():
        if job_id not in _watched and not _is_put_away(job_id, digest):
            _missing[job_id] = _why_missing(job_id, title, digest)
    if any(watched.pending for watched in _watched.values()):
        start_timer()


def _take_up(job: jobs.Job, listed: str | None) -> None:
    """Follow a job if it is of the open file. listed: the digest that the file has of it, None for none."""
    known = listed is not None and ownership.is_same(job, listed)
    if (known or _was_started_here(job)) and not ownership.is_settled(job):
        ours = ownership.is_ours(job, listed if known else None)
        _watched[job.spec.id] = WatchedJob(job, ours=ours, again=queueing.has_place(job))


def _attach_once() -> None:
    """Attach to the file that was open before Blender let us look at it."""
    if not _attached:
        attach()


def _was_started_here(job: jobs.Job) -> bool:
    # A file that was never saved has no name by which another session could know it.
    return bool(bpy.data.filepath) and ownership.is_here(job)


def _is_put_away(job_id: str, digest: str) -> bool:
    """Whether a job that the file names is there, and the file needs it no more."""
    try:
        job = jobs.open_job(jobs.jobs_root() / job_id) if is_plain_id(job_id) else None
        return job is not None and ownership.is_same(job, digest) and ownership.is_settled(job)
    except SinewError:
        return False


def _why_missing(job_id: str, title: str, digest: str) -> JobView:
    try:
        if not is_plain_id(job_id):
            raise JobError(f"'{job_id}' is not the name of a job", "Forget it")
        job = jobs.open_job(jobs.jobs_root() / job_id)
        problem = SinewError(f"Job '{job_id}' cannot be read", "Open the file again, or forget the job")
        if not ownership.is_same(job, digest):
            problem = JobError(
                f"Job '{job_id}' is not the one that this file asked for", "Forget it, and simulate again"
            )
    except SinewError as error:
        problem = error
    return missing_view(job_id, title, problem)


def _start_next() -> bool:
    """Start as many of those that wait as there may be at once; True if there were any."""
    waiting = {watched.job: watched for watched in _watched.values() if watched.waits}
    if waiting and preferences.wants_cluster():
        return _start_together(waiting)
    alive = sum(watched.may_be_alive for watched in _watched.values())
    chosen = queueing.in_order(waiting)[: max(preferences.workers_at_once() - alive, 0)]
    for job in chosen:
        waiting[job].again = False
        try:
            jobs.launch(job, preferences.preferred_python())
        except SinewError as error:  # it has left the queue until the user starts it; the others have their turn
            waiting[job].problem = error
        refresh_view(waiting[job])
    return bool(chosen)


def _start_together(waiting: dict[jobs.Job, WatchedJob]) -> bool:
    """Hand all that wait to a cluster, as one."""
    chosen, problem = queueing.in_order(waiting), None
    try:
        jobs.launch_together(chosen, preferences.preferred_python(), preferences.preferred_where())
    except SinewError as error:
        problem = error
    for job in chosen:
        waiting[job].again, waiting[job].problem = False, problem
        refresh_view(waiting[job])
    return True


def _list_in(scene: bpy.types.Scene, job: jobs.Job) -> None:
    entry = scene.sinew.jobs.get(job.spec.id) or scene.sinew.jobs.add()
    entry.name = job.spec.id
    entry.armature = job.spec.target.armature
    entry.action = job.spec.target.action
    entry.digest = job.digest


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
    wanted = {job_id: watched for job_id, watched in _watched.items() if watched.job.collected() is None}
    _list_only(set(wanted) | set(_missing))
    listed = {entry.name for scene in _own_scenes() for entry in scene.sinew.jobs}
    for job_id, watched in wanted.items():
        if job_id not in listed and watched.ours:  # what only says that it is of this file is not listed for that
            _list_in(bpy.context.scene, watched.job)


@persistent
def _on_saved(path: str) -> None:
    """The jobs belong to the file under its new name; those whose result is in it are settled."""
    if not ownership.is_open_file(path):
        return  # a copy was saved
    for watched in _watched.values():
        if watched.ours and watched.job.has_folder():
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
