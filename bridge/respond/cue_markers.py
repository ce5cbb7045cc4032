# SPDX-License-Identifier: GPL-3.0-or-later
"""Cues on the timeline: a marker at each one's frame, as long as the list has it."""

import json

import bpy

_Marker = tuple[str, int]


def show_cues(obj: bpy.types.Object) -> None:
    """Put a character's cues on the timeline of every scene that it is in; markers of cues that are gone go as well.

    Which ones are the cues' stands with the character, for Blender's markers keep nothing of anybody's: one that
    somebody has moved or renamed is theirs from then on.
    """
    wanted = [(_name(obj, cue), cue.frame) for cue in obj.sinew_cues if cue.deed.strip()]
    before = _read_known(obj)
    for scene in obj.users_scene:
        missing, gone = list(wanted), list(before)
        for marker in list(scene.timeline_markers):
            mark = (marker.name, marker.frame)
            if mark not in gone:
                continue
            gone.remove(mark)
            if mark in missing:
                missing.remove(mark)
            else:
                scene.timeline_markers.remove(marker)
        for name, frame in missing:
            scene.timeline_markers.new(name, frame=frame)
    obj.sinew_respond.markers = json.dumps(wanted)


def _read_known(obj: bpy.types.Object) -> list[_Marker]:
    """The names and frames of the markers that were put there; none where the file holds something else."""
    try:
        found = json.loads(obj.sinew_respond.markers or "[]")
        return [(str(name), int(frame)) for name, frame in found]
    except (ValueError, TypeError, RecursionError):
        return []


def _name(obj: bpy.types.Object, cue: bpy.types.PropertyGroup) -> str:
    return f"{cue.deed.strip()} ({obj.name})"
