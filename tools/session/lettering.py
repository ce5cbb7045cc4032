# SPDX-License-Identifier: GPL-3.0-or-later
"""Inside Blender with a window: what a text looks like in its interface, so that it can be found on the screen."""

from __future__ import annotations

import blf
import bpy
import gpu
import numpy as np
from mathutils import Matrix


def lettering(text: str) -> list[list[int]]:
    """Rows of grey values from 0 to 255, the upper one first: the text in the size of buttons and panels' titles."""
    scale = bpy.context.preferences.system.ui_scale
    blf.size(0, bpy.context.preferences.ui_styles[0].widget.points * scale)
    blf.color(0, 1.0, 1.0, 1.0, 1.0)
    width, _ = blf.dimensions(0, text)
    size = (int(width) + 2, int(18 * scale))
    picture = gpu.types.GPUOffScreen(*size)
    try:
        with picture.bind():
            pixels = gpu.state.active_framebuffer_get()
            pixels.clear(color=(0.0, 0.0, 0.0, 1.0))
            with gpu.matrix.push_pop(), gpu.matrix.push_pop_projection():
                gpu.matrix.load_matrix(Matrix.Identity(4))
                gpu.matrix.load_projection_matrix(_pixels(*size))
                blf.position(0, 0.0, 5.0 * scale, 0.0)
                gpu.state.blend_set("ALPHA")
                blf.draw(0, text)
            read = pixels.read_color(0, 0, *size, 4, 0, "UBYTE")
    finally:
        picture.free()
    read.dimensions = size[0] * size[1] * 4
    grey = np.array(read, dtype=np.uint8).reshape(size[1], size[0], 4)[::-1, :, 0]
    rows = np.flatnonzero(grey.max(axis=1) > 40)
    columns = np.flatnonzero(grey.max(axis=0) > 40)
    return grey[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1].tolist()


def _pixels(width: int, height: int) -> Matrix:
    return Matrix(((2 / width, 0, 0, -1), (0, 2 / height, 0, -1), (0, 0, -1, 0), (0, 0, 0, 1)))
