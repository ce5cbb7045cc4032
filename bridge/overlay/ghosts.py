# SPDX-License-Identifier: GPL-3.0-or-later
"""Motions that takes were made from, and takes themselves, read once, in slices, and then played without Blender."""

from collections.abc import Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ...core.errors import SinewError
from ...core.geometry.quaternions import Array, slerp, to_matrix
from ...core.motion import Clip
from ..body.fit_inputs import SLICE_S
from ..rig import actions, sources
from ..rig.rig_reader import read_rig_in_slices
from ..scene.preserved_state import find_by_uid
from ..scene.time_slicing import Slices, TimeSlicedTask, is_user_interacting
from ..scene.viewport import redraw_viewports
from ..takes import take_data
from .frame_state import FrameState, ShownCharacter

_MOST_FRAMES = 480
"""Of a longer source every second frame is read, every third …, so that it is there soon."""
_SOON_S, _PAUSE_S, _LATER_S = 0.1, 0.01, 0.5

Key = tuple[int, int, object]


@dataclass(frozen=True, eq=False)
class Ghost:
    """A source's links over T readings from scene frame ``first`` on, ``step`` frames apart.

    pos: (T, L, 3) metres, quat_wxyz: (T, L, 4); None if it could not be read.
    """

    first: float = 0.0
    step: float = 1.0
    pos: Array | None = None
    quat_wxyz: Array | None = None


Place = tuple[int, bool]
"""An armature, and whether it is its take that is read rather than what that was made from."""

_known: dict[Place, tuple[Key, Ghost]] = {}  # of which Action and bones
_wanted: dict[Place, tuple[Key, tuple[str, ...]]] = {}
_going: dict[Place, tuple[Key, TimeSlicedTask]] = {}  # what is being read, one at a time


def ghost_pose(state: FrameState, shown: ShownCharacter) -> tuple[Array, Array, Array] | None:
    """Where the source of a shown take has the links: (L, 3) Blender units, (L, 3, 3) axes, and (3,) its left.

    None where no take is shown, or its source is not read yet: that is done soon.
    """
    data = shown.obj.animation_data
    take = data.action if data else None
    source = sources.source_action(take) if take is not None and sources.is_take(take) else None
    if take is None or source is None:
        return None
    frame = take_data.source_frame(take, state.frame)
    if frame is None:
        return None
    ghost = _find(shown, source, is_take=False)
    if ghost is None:
        return None
    pos, axes = _pose_at(ghost, frame, shown.metres)
    return pos, axes, shown.parts.left


def take_poses(shown: ShownCharacter, frames: Sequence[float]) -> list[tuple[Array, Array]] | None:
    """Where a take has the links at some of its own frames: (L, 3) Blender units, and (L, 3, 3) axes.

    None where no take is shown, or it is not read yet: that is done soon.
    """
    data = shown.obj.animation_data
    take = data.action if data else None
    if take is None or not sources.is_take(take):
        return None
    ghost = _find(shown, take, is_take=True)
    return None if ghost is None else [_pose_at(ghost, frame, shown.metres) for frame in frames]


def _find(shown: ShownCharacter, action: bpy.types.Action, *, is_take: bool) -> Ghost | None:
    """An Action as it was read; None where it could not be, or is not yet."""
    place = shown.obj.session_uid, is_take
    key = action.session_uid, hash(shown.parts.bones), round(shown.metres, 9)
    known = _known.get(place)
    if known is None or known[0] != key:
        if place not in _going or _going[place][0] != key:
            _wanted[place] = key, shown.parts.bones
        if not bpy.app.timers.is_registered(_work):
            bpy.app.timers.register(_work, first_interval=_SOON_S)
        return None
    return known[1] if known[1].pos is not None else None


def _pose_at(ghost: Ghost, frame: float, metres: float) -> tuple[Array, Array]:
    assert ghost.pos is not None and ghost.quat_wxyz is not None
    place = float(np.clip((frame - ghost.first) / ghost.step, 0.0, len(ghost.pos) - 1.0))
    low = min(int(place), max(len(ghost.pos) - 2, 0))
    high, part = min(low + 1, len(ghost.pos) - 1), place - low
    pos = ghost.pos[low] * (1.0 - part) + ghost.pos[high] * part
    quat = slerp(ghost.quat_wxyz[low], ghost.quat_wxyz[high], np.array(part))
    return pos / metres, to_matrix(quat)


def forget_ghosts() -> None:
    """Forget everything."""
    _known.clear()
    _wanted.clear()
    while _going:
        _going.popitem()[1][1].close()
    if bpy.app.timers.is_registered(_work):
        bpy.app.timers.unregister(_work)


def _work() -> float | None:
    """Go on with what is being read, or begin with what is wanted; seconds until the next slice, None for no more."""
    if is_user_interacting():
        return _LATER_S
    if not _going and _wanted:
        place, (key, bones) = _wanted.popitem()
        _going[place] = key, TimeSlicedTask(_steps(place[0], key, bones))
    for place, (key, work) in list(_going.items()):
        try:
            if not work.step():
                continue
            _known[place] = key, work.result
        except BaseException:  # a bug, which would come again
            _known[place] = key, Ghost()
            del _going[place]
            raise
        del _going[place]
        redraw_viewports()
    return _PAUSE_S if _going or _wanted else None


def _steps(uid: int, key: Key, bones: tuple[str, ...], slice_s: float = SLICE_S) -> Slices[Ghost]:
    scene, obj, source = bpy.context.scene, find_by_uid(bpy.data.objects, uid), find_by_uid(bpy.data.actions, key[0])
    if obj is None or source is None:
        return Ghost()
    frames = actions.frame_range(source, actions.slot_for(source, obj))
    if frames is None or frames[1] <= frames[0]:
        return Ghost()
    step = float(max(1, -(-(frames[1] - frames[0]) // _MOST_FRAMES)))
    fps = scene.render.fps / scene.render.fps_base / step
    try:
        rig = yield from read_rig_in_slices(obj, source, frames, fps, scene.sinew.scale, slice_s=slice_s)
        ghost: Ghost = yield lambda: _ghost(rig.clip, frames[0], step, bones)
    except SinewError:
        return Ghost()  # whoever simulates is told why
    return ghost


def _ghost(clip: Clip, first: float, step: float, bones: tuple[str, ...]) -> Ghost:
    pos, quat = clip.world()
    links = [clip.skeleton.index(bone) for bone in bones]
    return Ghost(first, step, pos[:, links], quat[:, links])
