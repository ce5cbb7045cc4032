# SPDX-License-Identifier: GPL-3.0-or-later
"""The picture of how far the skills' moments are from each other, as a Blender image."""

import bpy
import numpy as np

from ...core.body import BodyModel
from ...core.control.graph.transitions.distance_image import draw_distance_image
from ...core.control.graph.transitions.motion_graph import MotionGraph
from ..scene.images import image_of_pixels


def draw_pixels(body: BodyModel, graph: MotionGraph) -> np.ndarray:
    """(H, W, 3) the picture as bytes; transitions that are in use are marked. For any thread."""
    return draw_distance_image(body, graph.skills, graph.transitions)


def image_of(obj: bpy.types.Object, pixels: np.ndarray) -> bpy.types.Image:
    """The picture as an image of the file, made anew if it is there."""
    return image_of_pixels(f"{obj.name} distances", pixels)
