# SPDX-License-Identifier: GPL-3.0-or-later
"""Points on surfaces whose shape is known."""

import numpy as np

from sinew.core.body.model import Shape
from sinew.core.geometry.quaternions import rotate


def surface(shape: Shape, count: int = 300, seed: int = 0, ends: bool = True) -> np.ndarray:
    """(N, 3) points spread evenly over a shape's surface, in the frame that it is placed in.

    ends: without, a capsule is a tube that is open at both ends and a box lacks the face at its own -X.
    """
    rng = np.random.default_rng(seed)
    if shape.kind == "box":
        points = _on_box(shape.size, count, rng, ends)
    else:
        points = _on_capsule(shape.size[0], shape.size[1], count, rng, ends)
    return rotate(shape.quat_wxyz, points) + shape.pos


def _on_capsule(radius: float, half: float, count: int, rng: np.random.Generator, ends: bool) -> np.ndarray:
    # A sphere's slices of equal height have equal area, and as much as the tube's around them (Archimedes).
    reach = half + (radius if ends else 0.0)
    height = rng.uniform(-reach, reach, count)
    beyond = np.maximum(np.abs(height) - half, 0.0)
    out = np.sqrt(np.maximum(radius**2 - beyond**2, 0.0))
    around = rng.uniform(0.0, 2.0 * np.pi, count)
    return np.stack([out * np.cos(around), out * np.sin(around), height], axis=-1)


def _on_box(half: np.ndarray, count: int, rng: np.random.Generator, ends: bool) -> np.ndarray:
    area = half.prod() / half
    axis = rng.choice(3, size=count, p=area / area.sum())
    points = rng.uniform(-1.0, 1.0, size=(count, 3))
    points[np.arange(count), axis] = rng.choice([-1.0, 1.0], size=count)
    if not ends:
        points = points[points[:, 0] > -1.0]
    return points * half
