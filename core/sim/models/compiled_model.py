# SPDX-License-Identifier: GPL-3.0-or-later
"""A model as a compiler understood it: links, joints, masses and shapes in the world, where all joints read zero."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...geometry.quaternions import Array


@dataclass(eq=False)
class CompiledGeom:
    """A shape in the world, where all joints read zero.

    kind: sphere, capsule, cylinder, ellipsoid, box or mesh. size: (3,) as MuJoCo has it; of a mesh half of its box,
    whose middle is ``centre``. pos: (3,), turn: (3, 3). vertices: (V, 3), faces: (F, 3), of a mesh, in its own frame.
    """

    kind: str
    size: Array
    pos: Array
    turn: Array
    collides: bool
    colour: Array
    centre: Array = field(default_factory=lambda: np.zeros(3))
    vertices: Array = field(default_factory=lambda: np.zeros((0, 3)))
    faces: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 3), dtype=np.int64))


@dataclass(eq=False)
class CompiledJoint:
    """kind: free, ball or hinge. anchor, axis: (3,) in the world. lower, upper: radians from how the model is built.

    effort: N·m, 0 where the model has none.
    """

    kind: str
    name: str
    anchor: Array
    axis: Array
    lower: float
    upper: float
    effort: float


@dataclass(eq=False)
class CompiledLink:
    """parent: index, -1 for the root. com: (3,), inertia: (3, 3) about it; in the world. joints: in their order."""

    name: str
    parent: int
    joints: list[CompiledJoint]
    mass: float
    com: Array
    inertia: Array
    geoms: list[CompiledGeom]
