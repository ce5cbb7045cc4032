# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact sheets for the pages that show what simulation and learned graphs are worth."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import bpy
import numpy as np

from ..bridge import mannequin, preview
from ..bridge.importing.importers import show_clip
from ..bridge.mannequin.framing import THREE_QUARTER, spread_frames
from ..bridge.mannequin.materials import plain_material
from ..bridge.preview.palette import shrink
from ..bridge.preview.sheet import stack
from ..bridge.rig.actions import slot_for
from ..bridge.scene.muted_output import mute_output
from ..core.motion import Clip

SOURCE_COLOUR = (0.10, 0.22, 0.42)  # linear RGB; the take has the mannequin's own
_BESIDE_M = 1.2
_TILES, _COLUMNS, _HEIGHT = 10, 5, 140
_MOST_BYTES = 150_000
_TAKE_COLOUR = (0.62, 0.60, 0.56)
_CHARACTER_TILES, _CHARACTER_HEIGHT, _CHARACTER_BYTES = 6, 160, 200_000
_MEETING_TILES, _MEETING_COLUMNS, _MEETING_HEIGHT, _MEETING_BYTES = 15, 5, 200, 300_000


def take_sheet(path: Path, source: Clip, motion: Clip) -> None:
    """Ten moments of a take on the mannequin, its source in blue to the right of it; in place of the open scene."""
    scene = _empty_scene()
    wanted = mannequin.build(scene, source.skeleton, "Source", body_colour=SOURCE_COLOUR)
    made = mannequin.build(scene, motion.skeleton, "Take")
    show_clip(source, wanted)
    last = int(show_clip(motion, made).frame_range[1])
    side = THREE_QUARTER[0]
    wanted.location = _BESIDE_M * np.array([np.cos(side), np.sin(side), 0.0])
    path.parent.mkdir(parents=True, exist_ok=True)
    frames = spread_frames(1, last, _TILES)
    preview.contact_sheet(scene, path, frames, [made, wanted], height=_HEIGHT, columns=_COLUMNS, view="FOLLOW")
    shrink(path, _MOST_BYTES)


def meeting_sheet(path: Path, motions: Sequence[Clip], start_s: float, stop_s: float) -> None:
    """Characters together, from ``start_s`` to ``stop_s``, the second in blue; in place of the open scene."""
    scene = _empty_scene()
    made, fps = [], motions[0].fps
    for index, motion in enumerate(motions):
        colours = {"body_colour": SOURCE_COLOUR} if index else {}
        made.append(mannequin.build(scene, motion.skeleton, f"Character {index + 1}", **colours))
        show_clip(motion, made[-1])
    path.parent.mkdir(parents=True, exist_ok=True)
    frames = spread_frames(1 + round(start_s * fps), 1 + round(stop_s * fps), _MEETING_TILES)
    preview.contact_sheet(scene, path, frames, made, height=_MEETING_HEIGHT, columns=_MEETING_COLUMNS, view="FOLLOW")
    shrink(path, _MEETING_BYTES)


def character_sheet(path: Path, armature: bpy.types.Object, source: bpy.types.Action, take: bpy.types.Action) -> None:
    """Moments of a character's own Action in blue, and below them the same of its take.

    Its materials are replaced by plain ones: textures are others' work, and may be trademarks.
    """
    scene = bpy.context.scene
    scene.render.dither_intensity = 0.0
    worn = [obj for obj in scene.objects if obj.type == "MESH" and _moves_with(obj, armature)]
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="sinew-", ignore_cleanup_errors=True) as folder:
        rows = []
        for name, action, colour in (("source", source, SOURCE_COLOUR), ("take", take, _TAKE_COLOUR)):
            _move_by(armature, action)
            material = plain_material(f"Sinew {name}", colour, 0.6)
            for obj in worn:
                obj.data.materials.clear()
                obj.data.materials.append(material)
            rows.append(Path(folder) / f"{name}.png")
            first, last = (round(frame) for frame in action.frame_range)
            frames = spread_frames(first, last, _CHARACTER_TILES)
            sizes = {"height": _CHARACTER_HEIGHT, "columns": _CHARACTER_TILES}
            preview.contact_sheet(scene, rows[-1], frames, [armature], view="FOLLOW", **sizes)
        stack(path, rows)
    shrink(path, _CHARACTER_BYTES)


def _moves_with(obj: bpy.types.Object, armature: bpy.types.Object) -> bool:
    """Whether a mesh is deformed by the armature or hangs on it."""
    above = obj.parent
    while above is not None and above != armature:
        above = above.parent
    return above == armature or obj.find_armature() == armature


def _move_by(obj: bpy.types.Object, action: bpy.types.Action) -> None:
    """Let the Action alone move the armature."""
    obj.animation_data.action = action
    obj.animation_data.action_slot = slot_for(action, obj)


def _empty_scene() -> bpy.types.Scene:
    with mute_output():
        bpy.ops.wm.read_homefile(use_empty=True)
    scene = bpy.context.scene
    scene.render.dither_intensity = 0.0  # noise that only makes the file larger
    return scene
