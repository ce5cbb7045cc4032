# SPDX-License-Identifier: GPL-3.0-or-later
"""What policies in training do by now, and what a simulation has found so far, as their workers show it: read on a
timer, and played over and over.

They are drawn beside the characters and touch nothing in the file.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass

import bpy
import numpy as np

from ...core.errors import SinewError
from ...core.geometry.quaternions import Array, to_matrix
from ..jobs import monitor
from ..jobs.job_views import JobView
from ..methods.adapters import get_adapter
from ..scene import change_counter
from ..scene.viewport import redraw_viewports
from .frame_state import ShownCharacter

_TRAINED = ("bounds", "direct")  # families whose workers show what their policies do
_STREAMED = "sampling"  # the method whose workers show the take that they are at
_PLAYING_S, _WAITING_S = 1.0 / 15.0, 0.1
_LOOK_S = 0.5  # between two looks at a file
_UNSEEN_S = 3.0  # after which it is no longer drawn by anybody


@dataclass(frozen=True, eq=False)
class PreviewMotion:
    """Links of one worker's policy over K frames: pos (K, L, 3) metres, axes (K, L, 3, 3); bones as the worker has
    them. stamp: of the file that it was read from. began: when it was first to be seen, by the clock.
    in_place: whether it is where the character is to be, rather than beside it.
    """

    stamp: int
    bones: tuple[str, ...]
    fps: float
    pos: Array
    axes: Array
    began: float
    in_place: bool = False

    def at(self, now: float) -> int:
        """Index of the frame that is shown now; after the last comes the first."""
        return int((now - self.began) * self.fps) % len(self.pos)


_known: dict[str, PreviewMotion] = {}  # by job
_wanted: dict[str, tuple[float, float]] = {}  # by job: when it was last drawn, and its file last looked at


def preview_pose(shown: ShownCharacter, now: float | None = None) -> tuple[Array, Array] | None:
    """Where the policy that is trained for a character has its links: (L, 3) Blender units and (L, 3, 3) axes.

    Or where the take has them that is being made for it. None where there is neither, or nothing was shown of it yet:
    that is looked for soon.
    """
    view = _find_view(shown.obj)
    now = time.monotonic() if now is None else now
    found = None if view is None else _look(view, now)
    if found is None or found.bones != shown.parts.bones:
        return None
    at = found.at(now)
    return found.pos[at] / shown.metres, found.axes[at]


def streamed_sticks(obj: bpy.types.Object, metres: float, now: float | None = None) -> Array | None:
    """(2K, 3) from head to tail of each bone of the take that is being made for an armature; None where there is none.

    That needs no body of the character, which takes seconds to fit. metres: of a Blender unit.
    """
    view = next((one for one in _streamed_views() if one.is_for(obj.name, obj.sinew_mark)), None)
    now = time.monotonic() if now is None else now
    found = None if view is None else _look(view, now)
    if found is None:
        return None
    bones, at = obj.data.bones, found.at(now)
    lengths = np.array([bones[name].length if name in bones else 0.0 for name in found.bones])
    heads = found.pos[at] / metres
    tails = heads + found.axes[at][:, :, 1] * (lengths * abs(obj.matrix_world.median_scale))[:, None]
    return np.stack([heads, tails], axis=1).reshape(-1, 3)


def is_streaming() -> bool:
    """Whether a take is being made that could be seen already."""
    return any(True for _ in _streamed_views())


def _streamed_views() -> Iterator[JobView]:
    return (view for view in monitor.watched_jobs() if view.alive and view.method_name == _STREAMED)


def _look(view: JobView, now: float) -> PreviewMotion | None:
    """What a job shows, which is looked for from now on."""
    _wanted[view.id] = now, _wanted.get(view.id, (0.0, -_LOOK_S))[1]
    if not bpy.app.timers.is_registered(_work):
        bpy.app.timers.register(_work, first_interval=_PLAYING_S)
    return _known.get(view.id)


def is_in_place(shown: ShownCharacter) -> bool:
    """Whether what is shown is where the character is to be, rather than beside it."""
    view = _find_view(shown.obj)
    found = None if view is None else _known.get(view.id)
    return found is not None and found.in_place


def _find_view(obj: bpy.types.Object) -> JobView | None:
    """The living job that shows something of a character."""
    views = [get_adapter(family).learning_view(obj) for family in _TRAINED]
    views += [
        one for one in monitor.watched_jobs() if one.method_name == _STREAMED and one.is_for(obj.name, obj.sinew_mark)
    ]
    return next((view for view in views if view is not None and view.alive), None)


def forget_previews() -> None:
    """Forget everything."""
    _known.clear()
    _wanted.clear()
    if bpy.app.timers.is_registered(_work):
        bpy.app.timers.unregister(_work)


def read_previews(now: float) -> None:
    """Read what workers have shown since, and forget those whose training is over or that nobody draws any more."""
    alive = {view.id: view.method_name for view in monitor.watched_jobs() if view.alive}
    for job_id, (drawn, looked) in list(_wanted.items()):
        if job_id not in alive or (job_id in _known and now - drawn > _UNSEEN_S):
            _wanted.pop(job_id)
            _known.pop(job_id, None)
        elif now - looked >= (_LOOK_S if job_id in _known else _WAITING_S):
            _wanted[job_id] = drawn, now
            _read(job_id, now, alive[job_id] == _STREAMED)


def _work() -> float | None:
    read_previews(time.monotonic())
    if not _wanted:
        redraw_viewports()  # so that nobody is left standing there
        return None
    if _known:
        redraw_viewports()
    return _PLAYING_S if len(_known) == len(_wanted) else _WAITING_S


def _read(job_id: str, now: float, in_place: bool) -> None:
    before = _known.get(job_id)
    try:
        job = monitor.job_of(job_id)
        stamp = job.shown_file.stat().st_mtime_ns
        if before is not None and before.stamp == stamp:
            return
        found = job.shown()
    except (SinewError, OSError):
        return
    if found is None:
        return
    arrays, about = found
    try:
        pos, quat = (np.asarray(arrays[name], dtype=float) for name in ("link_pos", "link_quat_wxyz"))
        bones, fps = tuple(map(str, about["bones"])), float(about["fps"])
    except (KeyError, TypeError, ValueError):  # of another Sinew
        return
    if len(pos) and pos.shape[1:] == (len(bones), 3) and quat.shape == (*pos.shape[:2], 4) and fps > 0.0:
        # What has grown goes on to be played; what is another motion begins anew.
        began = before.began if before is not None and in_place else now
        _known[job_id] = PreviewMotion(stamp, bones, fps, pos, to_matrix(quat), began, in_place)
        change_counter.count_change()
