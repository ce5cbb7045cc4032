# SPDX-License-Identifier: GPL-3.0-or-later
"""Cues on the timeline: a marker at each one's frame, as long as the list has it."""

import bpy

_OWNER = "sinew_cue_of"


def show_cues(obj: bpy.types.Object) -> None:
    """Put a character's cues on the timeline of every scene that it is in; markers of cues that are gone go as well."""
    wanted = [(_name(obj, cue), cue.frame) for cue in obj.sinew_cues if cue.deed.strip()]
    for scene in obj.users_scene:
        missing = list(wanted)
        for marker in list(scene.timeline_markers):
            if marker.get(_OWNER) != obj.name:
                continue
            if (marker.name, marker.frame) in missing:
                missing.remove((marker.name, marker.frame))
            else:
                scene.timeline_markers.remove(marker)
        for name, frame in missing:
            scene.timeline_markers.new(name, frame=frame)[_OWNER] = obj.name


def _name(obj: bpy.types.Object, cue: bpy.types.PropertyGroup) -> str:
    return f"{cue.deed.strip()} ({obj.name})"
