# SPDX-License-Identifier: GPL-3.0-or-later
"""Style tags of an Action, kept as its pose markers: they show in the Dope Sheet, move with it, and travel with it."""

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass

import bpy

from ...core.errors import RigError
from ...core.limits import MARKERS
from ...core.motion.clip import Tag
from ...core.motion.marker_tags import MarkedRange, name_markers, parse_markers
from ..rig import actions
from ..scene.chosen_armature import why_no_armature


@dataclass(frozen=True)
class ActionTag:
    """A style tag as the panel shows it: frames ``first`` to ``last`` of the Action. is_open: no marker ends it."""

    name: str
    first: int
    last: int
    is_proposal: bool
    is_open: bool


def tagged_action(obj: bpy.types.Object) -> bpy.types.Action | None:
    """The Action whose tags are shown: the one that moves the armature, as in the Dope Sheet."""
    return obj.animation_data.action if obj.animation_data else None


def why_no_action(scene: bpy.types.Scene) -> str:
    """Why there is no Action to tag, with the fix; '' if there is."""
    if reason := why_no_armature(scene):
        return reason
    obj = scene.sinew.armature
    action = tagged_action(obj)
    if action is None:
        return f"'{obj.name}' has no Action: give it one in the Action Editor"
    if action.library is not None and action.override_library is None:
        return f"Action '{action.name}' is linked: make it local to tag it"
    return ""


def why_no_tags(scene: bpy.types.Scene, *, proposed: bool = False) -> str:
    """Why there is no tag, or none that is only proposed, with the fix."""
    if reason := why_no_action(scene):
        return reason
    tags = read_action_tags(scene.sinew.armature)
    if proposed and not any(tag.is_proposal for tag in tags):
        return "No style is proposed: Propose Styles finds some"
    return "" if tags else "The Action has no style tags: add one, or have some proposed"


def read_action_tags(obj: bpy.types.Object) -> list[ActionTag]:
    """The tags of the armature's Action, in the order of their first frames; of its first ``MARKERS`` markers."""
    action = tagged_action(obj)
    if action is None:
        return []
    found = _first_ranges(action)
    last = _last_frame(obj, action) if any(one.stop is None for one in found) else 0
    return [
        ActionTag(
            one.name,
            math.ceil(one.first),
            last if one.stop is None else math.ceil(one.stop) - 1,
            one.is_proposal,
            len(one.markers) < 2,
        )
        for one in found
    ]


def why_not_all_tags(obj: bpy.types.Object) -> str:
    """Why the list of tags is not whole, with the fix; '' if it is."""
    action = tagged_action(obj)
    count = len(action.pose_markers) if action is not None else 0
    return f"Only {MARKERS} of {count} pose markers are read: remove some in the Dope Sheet" if count > MARKERS else ""


def place_action_tags(obj: bpy.types.Object, action: bpy.types.Action, styles: Iterable[str] = ()) -> tuple[Tag, ...]:
    """What the markers of an Action say, in frames from its first one; without any, ``styles`` for all of it."""
    begin, end = actions.frame_range(action, actions.slot_for(action, obj)) or (0, 0)
    count = end - begin + 1
    found = []
    for one in _ranges(action):
        start = max(math.ceil(one.first) - begin, 0)
        stop = count if one.stop is None else min(math.ceil(one.stop) - begin, count)
        if start < stop:
            found.append(Tag(one.name, start, stop, one.is_proposal))
    return tuple(found) if found else tuple(Tag(style, 0, count) for style in styles)


def suggest_frames(scene: bpy.types.Scene) -> tuple[int, int]:
    """The frames that a new tag is first offered for: from the current one to the end of the Action."""
    obj = scene.sinew.armature
    action = _action(obj)
    begin, end = actions.frame_range(action, actions.slot_for(action, obj)) or (1, 1)
    return min(max(scene.frame_current, begin), end), end


def add_action_tag(obj: bpy.types.Object, name: str, first: int, last: int) -> None:
    """Tag frames of the armature's Action; refuses what is beyond it."""
    action = _action(obj)
    begin, end = actions.frame_range(action, actions.slot_for(action, obj)) or (first, last)
    if last < first:
        raise RigError(f"Style tag '{name}' ends at frame {last}, before it begins", "Let it end after it begins")
    if first < begin or last > end:
        raise RigError(
            f"Style tag '{name}' goes from frame {first} to {last}, beyond Action '{action.name}'",
            f"The Action goes from {begin} to {end}",
        )
    _mark(action, name, first, last, is_proposal=False)


def remove_action_tag(obj: bpy.types.Object, index: int) -> str:
    """Take a tag off, by its place in the list; gives its name."""
    action = _action(obj)
    found = _nth(action, index)
    _remove_markers(action, found.markers)
    return found.name


def accept_action_tags(obj: bpy.types.Object, index: int) -> int:
    """Make a proposal the animator's own, or all of them for an index below 0; gives how many."""
    action = _action(obj)
    chosen = [_nth(action, index)] if index >= 0 else [one for one in _ranges(action) if one.is_proposal]
    if index >= 0 and not chosen[0].is_proposal:
        raise RigError(f"Style tag '{chosen[0].name}' is no proposal", "It counts already")
    for one in chosen:
        for place, name in zip(one.markers, name_markers(one.name, False), strict=False):
            action.pose_markers[place].name = name
    return len(chosen)


def propose_action_tags(obj: bpy.types.Object, tags: Iterable[Tag], frame_start: int, step: float) -> int:
    """Mark Sinew's proposals in place of those that were there; what the animator has tagged stays.

    tags: in samples, of which the first is at ``frame_start`` and each next ``step`` frames later.
    """
    action = _action(obj)
    old = [place for one in _ranges(action) if one.is_proposal for place in one.markers]
    _remove_markers(action, old)
    given = {one.name for one in _ranges(action)}
    new = [tag for tag in tags if tag.name not in given]
    last = _last_frame(obj, action)
    for tag in new:
        first, stop = (frame_start + round(edge * step) for edge in (tag.start, tag.stop))
        to_end = stop >= last  # another rate may lack the last frame
        _mark(action, tag.name, first, last if to_end else max(stop - 1, first), is_proposal=True)
    return len(new)


def _mark(action: bpy.types.Action, name: str, first: int, last: int, *, is_proposal: bool) -> None:
    for text, frame in zip(name_markers(name, is_proposal), (first, last), strict=True):
        action.pose_markers.new(text).frame = frame


def _ranges(action: bpy.types.Action) -> tuple[MarkedRange, ...]:
    """What the markers of an Action say; refuses one with more of them than are read."""
    if (count := len(action.pose_markers)) > MARKERS:
        raise RigError(
            f"Action '{action.name}' has {count} pose markers, and at most {MARKERS} are read",
            "Remove some in the Dope Sheet",
        )
    return _first_ranges(action)


def _first_ranges(action: bpy.types.Action) -> tuple[MarkedRange, ...]:
    return parse_markers([(marker.name, marker.frame) for marker in itertools.islice(action.pose_markers, MARKERS)])


def _nth(action: bpy.types.Action, index: int) -> MarkedRange:
    found = _ranges(action)
    if not 0 <= index < len(found):
        raise RigError(f"Action '{action.name}' has no style tag {index + 1}", f"It has {len(found)}")
    return found[index]


def _remove_markers(action: bpy.types.Action, places: Iterable[int]) -> None:
    for place in sorted(places, reverse=True):
        action.pose_markers.remove(action.pose_markers[place])


def _last_frame(obj: bpy.types.Object, action: bpy.types.Action) -> int:
    found = actions.frame_range(action, actions.slot_for(action, obj))
    return found[1] if found else int(action.frame_range[1])


def _action(obj: bpy.types.Object) -> bpy.types.Action:
    action = tagged_action(obj)
    if action is None:
        raise RigError(f"'{obj.name}' has no Action", "Give it one in the Action Editor")
    return action
