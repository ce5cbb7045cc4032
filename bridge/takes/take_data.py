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

from ...core.files import parse_json
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
    known = _contacts(_text_of(action, _CONTACTS))
    if known is None:
        return None
    first, spans = known
    at = round(frame) - first
    return tuple(
        bone
        for bone, edges in spans.items()
        if any(start <= at < stop for start, stop in zip(edges[::2], edges[1::2], strict=False))
    )


def source_frame(action: bpy.types.Action, frame: float) -> float | None:
    """The frame of the source that a frame of the take stands for; None if it stands for none."""
    text = _text_of(action, _TIMES)
    times = _times(text) if text else None
    if times is None:
        return frame
    if not len(times):
        return None
    return float(np.interp(frame - action.frame_range[0], np.arange(len(times)), times))


def _spans(contacts: NDArray[np.bool_], names: tuple[str, ...]) -> dict[str, list[int]]:
    """By bone where its contacts begin and end, in turns."""
    padded = np.pad(contacts.astype(np.int8), ((1, 1), (0, 0)))
    changes = np.diff(padded, axis=0)
    found = {name: np.flatnonzero(changes[:, bone]).tolist() for bone, name in enumerate(names)}
    return {name: edges for name, edges in found.items() if edges}


def _text_of(action: bpy.types.Action, name: str) -> str:
    """What is kept under a name; '' for nothing, and for what anybody else has put there."""
    text = action.get(name, "")
    return text if isinstance(text, str) else ""


@functools.lru_cache(maxsize=64)
def _contacts(text: str) -> tuple[int, Mapping[str, list[int]]] | None:
    """The first frame, and by bone where contacts begin and end in turns; None for a text that does not say so."""
    found = _parsed(text)
    if not isinstance(found, dict) or not isinstance(found.get("spans"), dict):
        return None
    first, spans = found.get("first"), found["spans"]
    whole = all(isinstance(edges, list) and all(isinstance(edge, int) for edge in edges) for edges in spans.values())
    return (first, spans) if whole and isinstance(first, int) else None


@functools.lru_cache(maxsize=64)
def _times(text: str) -> NDArray[np.float64] | None:
    """The source's frames; None for a text that has none."""
    found = _parsed(text)
    whole = isinstance(found, list) and all(isinstance(frame, int | float) for frame in found)
    return np.array(found, dtype=float) if whole else None


def _parsed(text: str) -> Any:
    try:
        return parse_json(text) if text else None
    except ValueError:
        return None
