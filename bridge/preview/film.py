# SPDX-License-Identifier: GPL-3.0-or-later
"""A film of a motion, as .mp4."""

from collections.abc import Sequence
from pathlib import Path

import bpy

from ...core.errors import CannotWrite
from ...core.files import write_whole
from ...core.paths import size_of
from .studio import Studio, require_place, studio

_FPS = 12.0  # about; whole scene frames are left out to come near it


def film(
    scene: bpy.types.Scene,
    path: Path,
    frame_start: int,
    frame_end: int,
    subjects: Sequence[bpy.types.Object],
    *,
    height: int = 300,
    fps: float = _FPS,
    view: str = "AUTO",
) -> None:
    """Render frames ``frame_start`` to ``frame_end``, both included, to an .mp4 that plays at the true speed.

    height: of the picture, in pixels. fps: films are rendered at about this rate, by leaving out frames.
    """
    if path.suffix.lower() != ".mp4":
        raise CannotWrite(f"A film cannot be called '{path.name}'", "End its name in .mp4")
    if not bpy.app.build_options.codec_ffmpeg:
        raise CannotWrite("This Blender was built without FFmpeg and cannot write films", "Ask for a .png instead")
    require_place(path)
    step = max(round(scene.render.fps / scene.render.fps_base / fps), 1)
    frames = list(range(frame_start, frame_end + 1, step))
    with studio(scene, subjects, frames, height=height, view=view, samples=3) as made:
        copy = made.scene
        copy.frame_start, copy.frame_end, copy.frame_step = frames[0], frames[-1], step
        copy.render.fps_base *= step  # fewer frames, the same seconds
        _set_format(copy.render)
        _key_camera(made)
        file = made.folder / "film.mp4"
        copy.render.filepath = str(file)
        made.shoot(animation=True)
        if not size_of(file):
            raise CannotWrite(f"Blender could not write '{file}'", "Free some space for temporary files")
        data = file.read_bytes()
    write_whole(path, data)


def _set_format(render: bpy.types.RenderSettings) -> None:
    if hasattr(render.image_settings, "media_type"):  # 5.0; films are no longer among the image formats
        render.image_settings.media_type = "VIDEO"
    render.image_settings.file_format = "FFMPEG"
    render.image_settings.color_mode = "RGB"
    ffmpeg = render.ffmpeg
    ffmpeg.format, ffmpeg.codec, ffmpeg.audio_codec = "MPEG4", "H264", "NONE"
    ffmpeg.constant_rate_factor, ffmpeg.ffmpeg_preset = "HIGH", "GOOD"
    ffmpeg.gopsize = 15
    ffmpeg.use_autosplit = False


def _key_camera(made: Studio) -> None:
    """Let a following camera be where it belongs at each frame that is rendered."""
    for frame, place in made.places.items():
        made.scene.camera.location = place
        made.scene.camera.keyframe_insert("location", frame=frame)
