# SPDX-License-Identifier: GPL-3.0-or-later
"""What a take knows besides its keys, kept with its Action: what touched something when, and which frame of the source
each frame stands for. It outlives the job's folder, undo, and being appended to another file.
"""

import functools
import json
from collections.abc import Mapping
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.motion import Take
from ..rig.rig_reader import RigMotion

_CONTACTS, _TIMES = "sinew_contacts", "sinew_source_frames"


def store_take_data(action: bpy.types.Action, take: Take, rig: RigMotion) -> None:
    """Keep with a take's new Action what the overlay shows of it."""
    frames = int(np.ceil(take.motion.duration_s * rig.scene_fps - 1e-6)) + 1
    times_s = np.arange(frames) / rig.scene_fps
    if take.contacts is not None:
        at = np.clip(np.rint(times_s * take.motion.fps).astype(int), 0, len(take.contacts) - 1)
        spans = _spans(take.contacts[at], take.motion.skeleton.names)
        action[_CONTACTS] = json.dumps({"first": rig.frame_start, "spans": spans}, separators=(",", ":"))
    if take.own_clock:
        action[_TIMES] = json.dumps([])
    elif take.source_times_s is not None or take.period_s is not None or rig.time_stretch != 1.0:
        source = rig.frame_start + take.source_time(times_s) * rig.scene_fps / rig.time_stretch
        action[_TIMES] = json.dumps([round(float(frame), 2) for frame in source], separators=(",", ":"))


def bones_in_contact(action: bpy.types.Action, frame: float) -> tuple[str, ...] | None:
    """The bones that touch something at a frame of the take; None if nobody knows."""
    known = _parsed(action.get(_CONTACTS, ""))
    if not known:
        return None
    at = round(frame) - known["first"]
    return tuple(
        bone
        for bone, edges in known["spans"].items()
        if any(start <= at < stop for start, stop in zip(edges[::2], edges[1::2], strict=True))
    )


def source_frame(action: bpy.types.Action, frame: float) -> float | None:
    """The frame of the source that a frame of the take stands for; None if it stands for none."""
    text = action.get(_TIMES)
    if text is None:
        return frame
    times = _times(text)
    if not len(times):
        return None
    return float(np.interp(frame - action.frame_range[0], np.arange(len(times)), times))


def _spans(contacts: NDArray[np.bool_], names: tuple[str, ...]) -> dict[str, list[int]]:
    """By bone where its contacts begin and end, in turns."""
    padded = np.pad(contacts.astype(np.int8), ((1, 1), (0, 0)))
    changes = np.diff(padded, axis=0)
    found = {name: np.flatnonzero(changes[:, bone]).tolist() for bone, name in enumerate(names)}
    return {name: edges for name, edges in found.items() if edges}


@functools.lru_cache(maxsize=64)
def _parsed(text: str) -> Mapping[str, Any]:
    try:
        found = json.loads(text) if text else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


@functools.lru_cache(maxsize=64)
def _times(text: str) -> NDArray[np.float64]:
    return np.array(json.loads(text), dtype=float)
