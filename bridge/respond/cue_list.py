# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of cues on an armature."""

import bpy

from .cue_markers import show_cues


def add_cue(obj: bpy.types.Object, frame: int) -> bpy.types.PropertyGroup:
    """A cue at a frame, for the deed of the last one; it is chosen in the list."""
    deed = obj.sinew_cues[-1].deed if obj.sinew_cues else ""
    cue = obj.sinew_cues.add()
    cue.deed, cue.frame = deed, frame
    obj.sinew_cue_index = len(obj.sinew_cues) - 1
    show_cues(obj)
    return cue
