# SPDX-License-Identifier: GPL-3.0-or-later
"""Deeds of an Action, kept as its pose markers beside its style tags: 'frontkick!' is on a key moment."""

import itertools
import math
from collections.abc import Iterable

import bpy

from ...core.errors import BadMotion, RigError
from ...core.limits import MARKERS
from ...core.motion.deed_markers import HALF_S, MarkedDeed, name_deed_markers, parse_deed_markers
from ...core.motion.deeds import Deed
from ..rig import actions


def place_action_deeds(obj: bpy.types.Object, action: bpy.types.Action, fps: float) -> tuple[Deed, ...]:
    """What the markers of an Action say of deeds, in frames from its first one; a deed without a key moment is refused.

    fps: the scene's frames a second.
    """
    begin, end = actions.frame_range(action, actions.slot_for(action, obj)) or (0, 0)
    found, half = [], HALF_S * fps
    for one in _marked(action):
        key = round(one.key) - begin
        if not 0 <= key <= end - begin:
            continue  # it is beyond what the Action moves
        start = max(math.ceil(one.key - half if one.first is None else one.first) - begin, 0)
        stop = min(math.floor(one.key + half if one.last is None else one.last) - begin, end - begin) + 1
        found.append(Deed(one.name, min(start, key), key, max(stop, key + 1), one.is_proposal))
    return tuple(found)


def propose_action_deeds(
    action: bpy.types.Action, deeds: Iterable[Deed], frame_start: int, step: float
) -> tuple[str, ...]:
    """Mark Sinew's proposals in place of those that were there; gives the names of what was marked.

    deeds: in samples, of which the first is at ``frame_start`` and each next ``step`` frames later.
    """
    marked = _marked(action)
    for place in sorted((place for one in marked if one.is_proposal for place in one.markers), reverse=True):
        action.pose_markers.remove(action.pose_markers[place])
    given = {one.name for one in marked if not one.is_proposal}
    new = [deed for deed in deeds if deed.name not in given]
    for deed in new:
        for name, sample in zip(name_deed_markers(deed.name, True), (deed.start, deed.key, deed.stop - 1), strict=True):
            action.pose_markers.new(name).frame = frame_start + round(sample * step)
    return tuple(deed.name for deed in new)


def _marked(action: bpy.types.Action) -> tuple[MarkedDeed, ...]:
    markers = [(marker.name, marker.frame) for marker in itertools.islice(action.pose_markers, MARKERS)]
    try:
        return parse_deed_markers(markers)
    except BadMotion as error:
        raise RigError(f"Action '{action.name}': {error.message}", error.hint) from error
