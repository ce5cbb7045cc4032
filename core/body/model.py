# SPDX-License-Identifier: GPL-3.0-or-later
"""What a body is: rigid links on bones, joined by servos. Every engine is given this and nothing else."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..errors import BadMotion
from ..geometry.quaternions import IDENTITY, Array
from ..motion import Skeleton
from ..motion.skeleton import freeze_array

_X_AXIS: Array = np.array([1.0, 0.0, 0.0])
_X_AXIS.setflags(write=False)


@dataclass(frozen=True, eq=False)
class Shape:
    """A solid fixed in its link's frame.

    pos: (3,) metres and quat_wxyz: (4,) place the shape's own frame in the link's.
    size: (3,) metres. Sphere: (radius, 0, 0). Capsule, along its own Z: (radius, half length of the straight
        part, 0). Box: half extents.
    """

    kind: Literal["sphere", "capsule", "box"]
    size: Array
    pos: Array
    quat_wxyz: Array = field(default_factory=lambda: IDENTITY)

    def __post_init__(self) -> None:
        for name, count in (("size", 3), ("pos", 3), ("quat_wxyz", 4)):
            object.__setattr__(self, name, _vector(getattr(self, name), count, f"shape {name}"))


@dataclass(frozen=True, eq=False)
class Joint:
    """How a link hangs on its parent, and the servo that holds it.

    kind: 'free' (the root: no servo), 'ball' or 'hinge'.
    pos: (3,) metres, the link's origin in the parent link's frame.
    zero_quat_wxyz: (4,) the link's rotation in the parent link's frame where the joint reads zero. The joint's own
        rotation q is what is left: link in parent = zero * q. Limits are about zero, targets are log(q).
    axis: (3,) unit, the hinge's axis in the link's own frame.
    lower, upper: radians, the hinge's range. max_angle: radians, how far a ball may turn from zero in any direction.
    kp: N·m/rad, kd: N·m·s/rad, torque_limit: N·m for each degree of freedom.
    """

    kind: Literal["free", "ball", "hinge"]
    pos: Array
    zero_quat_wxyz: Array = field(default_factory=lambda: IDENTITY)
    axis: Array = field(default_factory=lambda: _X_AXIS)
    lower: float = -np.pi
    upper: float = np.pi
    max_angle: float = np.pi
    kp: float = 0.0
    kd: float = 0.0
    torque_limit: float = 0.0

    def __post_init__(self) -> None:
        for name, count in (("pos", 3), ("zero_quat_wxyz", 4), ("axis", 3)):
            object.__setattr__(self, name, _vector(getattr(self, name), count, f"joint {name}"))

    @property
    def dofs(self) -> int:
        """Degrees of freedom: 6, 3 or 1."""
        return {"free": 6, "ball": 3, "hinge": 1}[self.kind]

    @property
    def coordinates(self) -> int:
        """Numbers in a pose: 7 (position, wxyz), 4 (wxyz) or 1 (radians)."""
        return {"free": 7, "ball": 4, "hinge": 1}[self.kind]


@dataclass(frozen=True, eq=False)
class Link:
    """A rigid part of the body, whose frame is the frame of its bone.

    bone: the bone that it moves. merged: bones too short or too fine to have a link, which move with it rigidly.
    role: what the part is ('pelvis', 'spine', 'head', 'upper_arm', 'forearm', 'hand', 'thigh', 'shin', 'foot',
        'toe', …); side: 'L', 'R' or ''.
    parent: index of the parent link, -1 for the root.
    mass: kg. com: (3,) metres in the link's frame. inertia: (3, 3) kg·m² about the com in the link's axes.
    """

    bone: str
    role: str
    side: str
    parent: int
    joint: Joint
    shapes: tuple[Shape, ...]
    mass: float
    com: Array
    inertia: Array
    merged: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "com", _vector(self.com, 3, f"com of '{self.bone}'"))
        inertia = np.array(self.inertia, dtype=float)
        if inertia.shape != (3, 3) or not np.all(np.isfinite(inertia)) or np.linalg.eigvalsh(inertia).min() <= 0.0:
            raise BadMotion(f"The inertia of '{self.bone}' is not that of a solid", "Give it a shape with some volume")
        object.__setattr__(self, "inertia", freeze_array(inertia))
        if not (np.isfinite(self.mass) and self.mass > 0.0):
            raise BadMotion(f"The mass of '{self.bone}' is {self.mass} kg", "Give it a mass above zero")


@dataclass(frozen=True, eq=False)
class BodyModel:
    """Links with parents before children; the first is the root and the only free one.

    A pose is ``qpos`` (..., nq): root position (3) in metres, root rotation wxyz (4), then link by link a ball's q
    as wxyz (4) or a hinge's angle (1) in radians. A velocity is ``qvel`` (..., nv): root velocity (3) in m/s in the
    world, root angular velocity (3) in rad/s **in the root's own frame**, then link by link a ball's angular velocity
    in the link's own frame (3) or a hinge's rate (1). Servo targets are (..., nu): link by link log(q) (3) or an
    angle (1).
    """

    skeleton: Skeleton
    links: tuple[Link, ...]

    def __post_init__(self) -> None:
        if not self.links or self.links[0].joint.kind != "free" or self.links[0].parent != -1:
            raise BadMotion("The body has no free root link")
        for index, link in enumerate(self.links[1:], start=1):
            if link.joint.kind == "free" or not 0 <= link.parent < index:
                raise BadMotion(f"Link '{link.bone}' must hang on a link before it")

    @property
    def mass(self) -> float:
        """Total mass in kg."""
        return sum(link.mass for link in self.links)

    @cached_property
    def qpos_starts(self) -> NDArray[np.int64]:
        """(L + 1,) where each link's coordinates begin in ``qpos``; the last entry is nq."""
        return np.cumsum([0] + [link.joint.coordinates for link in self.links])

    @cached_property
    def qvel_starts(self) -> NDArray[np.int64]:
        """(L + 1,) where each link's rates begin in ``qvel``; the last entry is nv."""
        return np.cumsum([0] + [link.joint.dofs for link in self.links])

    @property
    def nq(self) -> int:
        """Numbers in a pose."""
        return int(self.qpos_starts[-1])

    @property
    def nv(self) -> int:
        """Degrees of freedom, the root's six included."""
        return int(self.qvel_starts[-1])

    @property
    def nu(self) -> int:
        """Servo targets: all degrees of freedom but the root's."""
        return self.nv - 6

    @cached_property
    def trunk(self) -> tuple[int, ...]:
        """The links that lean as the body leans: pelvis, spine and chest, or the root alone."""
        return tuple(i for i, link in enumerate(self.links) if i == 0 or link.role in ("pelvis", "spine", "chest"))

    @cached_property
    def hinge_rows(self) -> tuple[tuple[int, ...], ...]:
        """Links that are one joint together: hinges without a role of their own, down to the link that has it."""
        found = []
        for index, link in enumerate(self.links):
            row = [index]
            while (above := self.links[row[0]].parent) > 0 and not self.links[above].role:
                row.insert(0, above)
            if link.role and len(row) > 1 and all(self.links[one].joint.kind == "hinge" for one in row):
                found.append(tuple(row))
        return tuple(found)

    @cached_property
    def joint_roles(self) -> tuple[str, ...]:
        """By link the role of its joint: its own, or that of the row of hinges which it belongs to."""
        ends = {index: row[-1] for row in self.hinge_rows for index in row}
        return tuple(self.links[ends.get(index, index)].role for index in range(len(self.links)))

    def per_dof(self, name: Literal["kp", "kd", "torque_limit"]) -> Array:
        """(nu,) a joint property repeated for each of its degrees of freedom."""
        return np.concatenate([np.full(link.joint.dofs, getattr(link.joint, name)) for link in self.links[1:]])

    def link_of(self, bone: str) -> int:
        """The link that moves ``bone``, by itself or merged into it; -1 if it is not simulated."""
        for index, link in enumerate(self.links):
            if bone == link.bone or bone in link.merged:
                return index
        return -1


def _vector(value: object, count: int, what: str) -> Array:
    array = np.array(value, dtype=float)
    if array.shape != (count,) or not np.all(np.isfinite(array)):
        raise BadMotion(f"The {what} is {value}, not {count} numbers")
    return freeze_array(array)
