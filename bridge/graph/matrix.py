# SPDX-License-Identifier: GPL-3.0-or-later
"""The picture of how far the skills' moments are from each other, as a Blender image."""

import bpy
import numpy as np

from ...core.body import BodyModel
from ...core.control.graph.transitions.distance_image import draw_distance_image
from ...core.control.graph.transitions.motion_graph import MotionGraph


def draw_pixels(body: BodyModel, graph: MotionGraph) -> np.ndarray:
    """(H, W, 3) the picture as bytes; transitions that are in use are marked. For any thread."""
    return draw_distance_image(body, graph.skills, graph.transitions)


def image_of(obj: bpy.types.Object, pixels: np.ndarray) -> bpy.types.Image:
    """The picture as an image of the file, made anew if it is there."""
    height, width, _ = pixels.shape
    name = f"{obj.name} distances"
    image = bpy.data.images.get(name)
    if image is None:
        image = bpy.data.images.new(name, width, height)
    elif tuple(image.size) != (width, height):
        image.scale(width, height)
    rgba = np.ones((height, width, 4), dtype=np.float32)
    rgba[..., :3] = pixels[::-1] / np.float32(255.0)  # Blender's lowest row is the first
    image.pixels.foreach_set(rgba.ravel())
    image.update()
    image.pack()  # or saving the file would lose it
    return image


def show_image(context: bpy.types.Context, image: bpy.types.Image) -> bool:
    """Show the image in an Image Editor, if one is open."""
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "IMAGE_EDITOR" and area.ui_type == "IMAGE_EDITOR":
                area.spaces.active.image = image
                area.tag_redraw()
                return True
    return False
