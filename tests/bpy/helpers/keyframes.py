# SPDX-License-Identifier: GPL-3.0-or-later
"""Keyframes on any property of an object."""

from sinew.bridge.bounds import painting


def key(obj, path, *keys, index=-1):
    """Key a property of the armature with straight lines between (frame, value) keys."""
    owner, _, name = path.rpartition(".")
    group = obj.path_resolve(owner)
    for frame, value in keys:
        if index < 0:
            setattr(group, name, value)
        else:
            getattr(group, name)[index] = value
        obj.keyframe_insert(path, index=index, frame=frame)
    for point in painting.curve_of(obj, path, index).keyframe_points:
        point.interpolation = "LINEAR"
