# SPDX-License-Identifier: GPL-3.0-or-later
"""The preview range follows what shows, so that playing it plays a take from its beginning to its end.

A range that the animator has set stays; the one that was set here is known by its frames.
"""

import bpy

from ..rig import actions


def follow_action(obj: bpy.types.Object, action: bpy.types.Action | None) -> None:
    """Set the scene's preview range to the Action that the object shows now, None for no Action.

    Without effect where the animator does not want it, or has a preview range of their own. A motion of the scene's
    own range needs none.
    """
    scene = bpy.context.scene
    view = scene.sinew_takes_view
    if not view.follow_range or (scene.use_preview_range and _current(scene) != tuple(view.followed)):
        return
    frames = actions.frame_range(action, actions.slot_for(action, obj)) if action is not None else None
    if frames is None or frames == (scene.frame_start, scene.frame_end) or frames[0] == frames[1]:
        scene.use_preview_range = False
        return
    scene.use_preview_range = True
    # A start beyond the end would drag the end along, and the other way round.
    scene.frame_preview_end = max(frames[1], scene.frame_preview_start)
    scene.frame_preview_start, scene.frame_preview_end = frames
    view.followed = _current(scene)


def _current(scene: bpy.types.Scene) -> tuple[int, int]:
    return scene.frame_preview_start, scene.frame_preview_end
