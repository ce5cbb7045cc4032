# SPDX-License-Identifier: GPL-3.0-or-later
"""A contact sheet: frames of a motion side by side in one picture, each with its number."""

import math
from collections.abc import Sequence
from pathlib import Path

import bpy
import numpy as np

from ...core.errors import CannotWrite
from ...core.files import write_whole
from ...core.paths import is_plain_file
from .studio import Studio, require_place, studio

_GAP = 3  # pixels between tiles
_PAPER = (0.05, 0.05, 0.055, 1.0)
_INK = (0.92, 0.92, 0.90, 1.0)
_GLYPHS = {  # three by five dots each, from the top
    "0": ("111", "101", "101", "101", "111"),
    "1": ("010", "110", "010", "010", "111"),
    "2": ("111", "001", "111", "100", "111"),
    "3": ("111", "001", "011", "001", "111"),
    "4": ("101", "101", "111", "001", "001"),
    "5": ("111", "100", "111", "001", "111"),
    "6": ("111", "100", "111", "101", "111"),
    "7": ("111", "001", "010", "010", "010"),
    "8": ("111", "101", "111", "101", "111"),
    "9": ("111", "101", "111", "001", "111"),
    "-": ("000", "000", "111", "000", "000"),
}


def contact_sheet(
    scene: bpy.types.Scene,
    path: Path,
    frames: Sequence[int],
    subjects: Sequence[bpy.types.Object],
    *,
    height: int = 240,
    columns: int | None = None,
    view: str = "AUTO",
) -> None:
    """Render the frames and write them as one .png, row by row; ``height`` is a tile's, in pixels."""
    if path.suffix.lower() != ".png":
        raise CannotWrite(f"A contact sheet cannot be called '{path.name}'", "End its name in .png")
    require_place(path)
    frames = [int(frame) for frame in frames]
    with studio(scene, subjects, frames, height=height, view=view) as made:
        settings = made.scene.render.image_settings
        if hasattr(settings, "media_type"):  # 5.0
            settings.media_type = "IMAGE"
        settings.file_format, settings.color_mode, settings.color_depth = "PNG", "RGBA", "8"
        tiles = [_label(_shot(made, frame), frame) for frame in frames]
        data = _encoded(_laid_out(tiles, columns or _columns(len(tiles))), made.folder / "sheet.png")
    write_whole(path, data)


def stack(path: Path, sheets: Sequence[Path]) -> None:
    """Write sheets of the same width as one, the first on top."""
    found = [_pixels(sheet) for sheet in sheets]
    width = max(pixels.shape[1] for pixels in found)
    wide = [np.pad(pixels, ((0, 0), (0, width - pixels.shape[1]), (0, 0)), mode="edge") for pixels in found]
    write_whole(path, _encoded(np.concatenate(wide), sheets[0].with_suffix(".stack.png")))


def _shot(made: Studio, frame: int) -> np.ndarray:
    """(H, W, 4) the rendered frame, top row first."""
    file = made.folder / f"{frame}.png"
    made.show(frame)
    made.scene.render.filepath = str(file)
    made.shoot(animation=False)
    if not is_plain_file(file):
        raise CannotWrite(f"Blender could not write '{file}'", "Free some space for temporary files")
    return _pixels(file)


def _pixels(file: Path) -> np.ndarray:
    """(H, W, 4) a picture of a file, top row first."""
    image = bpy.data.images.load(str(file), check_existing=False)
    width, height = image.size
    pixels = np.empty(width * height * 4, dtype=np.float32)
    image.pixels.foreach_get(pixels)
    bpy.data.images.remove(image)
    return pixels.reshape(height, width, 4)[::-1]


def _label(tile: np.ndarray, frame: int) -> np.ndarray:
    """The tile with its frame number in the lower left corner."""
    dot = max(tile.shape[0] // 120, 1)
    columns = [np.zeros((5, 1))]
    for letter in str(frame):
        columns += [np.array([[float(bit) for bit in row] for row in _GLYPHS[letter]]), np.zeros((5, 1))]
    text = np.pad(np.concatenate(columns, axis=1), ((1, 1), (0, 0))).repeat(dot, axis=0).repeat(dot, axis=1)
    made = tile.copy()
    height, width = text.shape
    corner = made[-height:, :width]
    corner[:] = 0.4 * corner + 0.6 * np.array(_PAPER, dtype=np.float32)
    corner[text > 0.5] = _INK
    return made


def _columns(count: int) -> int:
    """As many columns as make the sheet about as wide as a screen."""
    return max(min(count, math.ceil(math.sqrt(count * 4.0 / 3.0))), 1)


def _laid_out(tiles: Sequence[np.ndarray], columns: int) -> np.ndarray:
    """(H, W, 4) all tiles on one sheet, top row first."""
    height, width = tiles[0].shape[:2]
    rows = math.ceil(len(tiles) / columns)
    sheet = np.empty((rows * (height + _GAP) + _GAP, columns * (width + _GAP) + _GAP, 4), dtype=np.float32)
    sheet[:] = _PAPER
    for index, tile in enumerate(tiles):
        row, column = divmod(index, columns)
        top, left = _GAP + row * (height + _GAP), _GAP + column * (width + _GAP)
        sheet[top : top + height, left : left + width] = tile
    return sheet


def _encoded(sheet: np.ndarray, file: Path) -> bytes:
    """The sheet as the bytes of a PNG file, which is written to ``file`` on the way."""
    height, width = sheet.shape[:2]
    image = bpy.data.images.new("Sinew preview", width, height, alpha=True)
    image.pixels.foreach_set(np.ascontiguousarray(sheet[::-1]).ravel())
    image.filepath_raw = str(file)
    image.file_format = "PNG"
    image.save()
    bpy.data.images.remove(image)
    return file.read_bytes()
