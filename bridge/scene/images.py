# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures that Sinew draws, as images of the file."""

import bpy
import numpy as np


def image_of_pixels(name: str, pixels: np.ndarray) -> bpy.types.Image:
    """(H, W, 3) bytes, top row first, as an image of the file; one of that name is drawn over."""
    height, width, _ = pixels.shape
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


def give_preview(image: bpy.types.Image, pixels: np.ndarray) -> None:
    """Let a panel show the image as sharp as it is, (H, W, 3) bytes: Blender's own previews are small."""
    height, width, _ = pixels.shape
    rgba = np.full((height, width, 4), 255, dtype=np.uint8)
    rgba[..., :3] = pixels[::-1]
    preview = image.preview_ensure()
    preview.image_size = (width, height)
    preview.image_pixels.foreach_set(rgba.reshape(-1).view(np.int32))


def show_image(context: bpy.types.Context, image: bpy.types.Image) -> bool:
    """Show the image in an Image Editor, if one is open."""
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "IMAGE_EDITOR" and area.ui_type == "IMAGE_EDITOR":
                area.spaces.active.image = image
                area.tag_redraw()
                return True
    return False
