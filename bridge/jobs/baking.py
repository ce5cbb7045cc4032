# SPDX-License-Identifier: GPL-3.0-or-later
"""Results that are got ready to be baked, a little at a time on a timer; the bake itself is then done at once.

Until then nobody sees a change: the keys are on Actions that nothing uses (``keying``), and no armature refers to what
was learned. Opening another file drops
them, and so does an undo that took or brought back a half-made one.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass

import bpy
from bpy.app.handlers import persistent

from ...core.errors import SinewError
from ...core.jobs import Job
from ..rig import keying
from ..scene.time_slicing import TimeSlicedTask, is_tool_active
from ..takes.write_takes import PreparedTakes, hidden_scene, job_context, prepare_takes
from .learned_results import PreparedLearned, only_learns, prepare_learned

_PAUSE_S, _LATER_S = 0.01, 0.2
_TRIES = 3

_log = logging.getLogger(__name__)


@dataclass
class _Getting:
    """A result that is being got ready. then: called when it is. tries: how often it was begun."""

    job: Job
    work: TimeSlicedTask
    then: Callable[[], object]
    tries: int = 1


_going: dict[str, _Getting] = {}
_ready: dict[str, PreparedTakes | PreparedLearned | None] = {}
"""By job id; None for what cannot be got ready, so that baking it will say why."""


def begin_baking(job: Job, then: Callable[[], object]) -> None:
    """Get a job's result ready, unless that is going on; ``then`` is called at its end."""
    job_id = job.spec.id
    if job_id in _going or job_id in _ready:
        return
    _going[job_id] = _Getting(job, _task(job), then)
    if not bpy.app.timers.is_registered(tick_baking):
        bpy.app.timers.register(tick_baking, first_interval=0.0, persistent=True)


def _task(job: Job) -> TimeSlicedTask:
    return TimeSlicedTask(prepare_learned(job) if only_learns(job) else prepare_takes(job))


def is_ready(job_id: str) -> bool:
    """Whether it can be baked now, or nothing more can be done for it."""
    return job_id in _ready


def pop_prepared_takes(job_id: str) -> PreparedTakes | None:
    """The takes that were got ready for a job; whoever takes them sees to it that nothing is left. None for none."""
    ready = _ready.pop(job_id, None)
    return ready if isinstance(ready, PreparedTakes) else None


def pop_prepared_learned(job_id: str) -> PreparedLearned | None:
    """What a job that makes no take has learned, if it was got ready."""
    ready = _ready.pop(job_id, None)
    return ready if isinstance(ready, PreparedLearned) else None


def drop(job_id: str) -> None:
    """Let a result be; nothing of it is left."""
    getting, ready = _going.pop(job_id, None), _ready.pop(job_id, None)
    if getting is not None:
        getting.work.close()
    if ready is not None:
        ready.drop()


def tick_baking() -> float | None:
    """Go on with the oldest; seconds until the next piece, None for no more."""
    if is_tool_active():
        return _LATER_S
    # One whose scene no window shows waits until one does.
    ready = [(job_id, getting) for job_id, getting in _going.items() if not hidden_scene(getting.job)]
    if ready and _stepped(*ready[0]):
        ready[0][1].then()
    if not _going:
        return None
    return _PAUSE_S if ready else _LATER_S


def _stepped(job_id: str, getting: _Getting) -> bool:
    """Do a piece; True at the end."""
    try:
        with job_context(getting.job):
            if not getting.work.step():
                return False
        ready = getting.work.result
    except keying.RigChanged:
        if getting.tries < _TRIES:
            getting.work, getting.tries = _task(getting.job), getting.tries + 1
            return False
        ready = None
    except SinewError:
        ready = None  # baking finds it too, and tells it where it belongs
    except Exception:  # noqa: BLE001 - the same
        _log.debug("'%s' could not be got ready", job_id, exc_info=True)
        ready = None
    del _going[job_id]
    _ready[job_id] = ready
    return True


def sweep() -> None:
    """Take away what an undo has brought back half made."""
    takes = [ready for ready in _ready.values() if isinstance(ready, PreparedTakes)]
    known = {keyed.action_uid for ready in takes for keyed in ready.keyed.values()}
    if not _going:
        keying.remove_unfinished(known)


@persistent
def _on_undo(_scene: bpy.types.Scene) -> None:
    if not bpy.app.timers.is_registered(sweep):
        bpy.app.timers.register(sweep, first_interval=0.0)


@persistent
def _on_load(_path: str) -> None:
    for job_id in (*_going, *_ready):
        drop(job_id)


_HANDLERS = (("load_pre", _on_load), ("undo_post", _on_undo), ("redo_post", _on_undo))


def register() -> None:
    """Follow files as they are opened, and what is undone in them."""
    for name, handler in _HANDLERS:
        getattr(bpy.app.handlers, name).append(handler)


def unregister() -> None:
    """Stop the timers and leave nothing."""
    for timer in (tick_baking, sweep):
        if bpy.app.timers.is_registered(timer):
            bpy.app.timers.unregister(timer)
    for name, handler in _HANDLERS:
        getattr(bpy.app.handlers, name).remove(handler)
    _on_load("")
