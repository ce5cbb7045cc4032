# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies of one bone, and motions of them by height and turn."""

import numpy as np

from sinew.core.body.clearance import link_clearances
from sinew.core.body.model import BodyModel, Joint, Link, Shape
from sinew.core.geometry.quaternions import from_rotation_vector
from sinew.core.motion import Clip, Skeleton

FPS = 60.0


def one_bone(*shapes: Shape, role: str = "pelvis") -> BodyModel:
    bones = Skeleton(("bone",), np.array([-1]), np.zeros((1, 3)), np.array([[1.0, 0.0, 0.0, 0.0]]), np.array([0.2]))
    link = Link("bone", role, "", -1, Joint("free", np.zeros(3)), shapes, 1.0, np.zeros(3), np.eye(3))
    return BodyModel(bones, (link,))


def clip_of(body: BodyModel, heights, turns=None) -> Clip:
    """The bone at those heights (T,), turned by rotation vectors (T, 3)."""
    pos = np.zeros((len(heights), 1, 3))
    pos[:, 0, 2] = heights
    turns = np.zeros((len(heights), 3)) if turns is None else turns
    return Clip(body.skeleton, FPS, pos, from_rotation_vector(np.asarray(turns, dtype=float))[:, None], "test")


def lowest_of(body: BodyModel, clip: Clip) -> np.ndarray:
    return link_clearances(body, clip).min(1)


SHAPES = {
    "sphere": Shape("sphere", np.array([0.1, 0.0, 0.0]), np.array([0.2, 0.0, 0.0])),
    "capsule": Shape("capsule", np.array([0.05, 0.3, 0.0]), np.array([0.0, 0.1, 0.0])),
    "box": Shape("box", np.array([0.1, 0.2, 0.3]), np.array([0.0, 0.0, -0.1])),
}
