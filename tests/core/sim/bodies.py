# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies made by hand, whose physics can be worked out on paper, and a humanoid of 34 degrees of freedom."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sinew.core.body import BodyModel, Joint, Link, Shape
from sinew.core.motion import Skeleton
from sinew.core.motion.io import stock

DENSITY = 985.0  # kg/m³
FREE = Joint("free", np.zeros(3))
_ALONG_Y = np.array([np.sqrt(0.5), -np.sqrt(0.5), 0.0, 0.0])  # turns a capsule's own Z into the bone's Y


def sphere(radius: float, pos: Sequence[float] = (0.0, 0.0, 0.0)) -> Shape:
    return Shape("sphere", np.array([radius, 0.0, 0.0]), np.array(pos))


def box(half: Sequence[float], pos: Sequence[float] = (0.0, 0.0, 0.0)) -> Shape:
    return Shape("box", np.array(half), np.array(pos))


def capsule_y(radius: float, start: float, end: float) -> Shape:
    """A capsule along the bone: its straight part runs from ``start`` to ``end`` on the bone's own Y."""
    size, middle = (radius, 0.5 * (end - start), 0.0), (0.0, 0.5 * (start + end), 0.0)
    return Shape("capsule", np.array(size), np.array(middle), _ALONG_Y)


def inertia_of(shape: Shape, mass: float) -> np.ndarray:
    """(3, 3) of a solid about its own centre in its own axes."""
    if shape.kind == "sphere":
        return np.eye(3) * 0.4 * mass * shape.size[0] ** 2
    if shape.kind == "box":
        x, y, z = shape.size**2
        return np.diag([y + z, x + z, x + y]) * mass / 3.0
    radius, half = shape.size[:2]
    cylinder, ball = 2.0 * half * np.pi * radius**2, 4.0 / 3.0 * np.pi * radius**3
    middle, ends = mass * cylinder / (cylinder + ball), mass * ball / (cylinder + ball)
    across = middle * (half**2 / 3.0 + radius**2 / 4.0) + ends * (0.4 * radius**2 + half**2 + 0.75 * half * radius)
    return np.diag([across, across, 0.5 * middle * radius**2 + 0.4 * ends * radius**2])


def link(bone: str, parent: int, joint: Joint, shape: Shape, mass: float, role: str = "part", side: str = "") -> Link:
    """A link that is one solid shape: its mass, centre and inertia are the shape's."""
    # Rotation matrix of the shape in the link, for the inertia.
    w, x, y, z = shape.quat_wxyz
    turn = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    return Link(bone, role, side, parent, joint, (shape,), mass, shape.pos, turn @ inertia_of(shape, mass) @ turn.T)


def body(links: Sequence[Link]) -> BodyModel:
    """Links as a body, on a skeleton with one bone a link."""
    skeleton = Skeleton(
        tuple(part.bone for part in links),
        np.array([part.parent for part in links]),
        np.array([part.joint.pos for part in links]),
        np.array([part.joint.zero_quat_wxyz for part in links]),
        np.full(len(links), 0.2),
    )
    return BodyModel(skeleton, tuple(links))


def ball(radius: float = 0.1, mass: float = 2.0) -> BodyModel:
    return body([link("ball", -1, FREE, sphere(radius), mass)])


def brick(half: Sequence[float] = (0.15, 0.1, 0.05), mass: float = 3.0) -> BodyModel:
    return body([link("brick", -1, FREE, box(half), mass)])


def pendulum(length: float = 0.8, mass: float = 1.0, joint: Joint | None = None) -> BodyModel:
    """A small ball hanging at -Z from a hinge about X on top of a base of 10 t, whose bottom is 0.5 m below its origin.

    The hinge is 0.9 m above the base's origin. It has no servo (all gains zero) unless ``joint`` says otherwise.
    """
    hinge = joint or Joint("hinge", np.array([0.0, 0.0, 0.9]), lower=-np.pi, upper=np.pi)
    return body([
        link("base", -1, FREE, box((0.5, 0.5, 0.5)), 10_000.0),
        link("bob", 0, hinge, sphere(0.05, (0.0, 0.0, -length)), mass),
    ])  # fmt: skip


def chain(count: int = 4, kp: float = 0.0, kd: float = 0.0, torque_limit: float = 0.0) -> BodyModel:
    """Capsules of 0.3 m along +Y, end to end; ball joints and hinges (about X) take turns, a ball first."""
    links = [link("link0", -1, FREE, capsule_y(0.04, 0.0, 0.3), 2.0)]
    for index in range(1, count):
        joint = Joint(
            "ball" if index % 2 else "hinge", np.array([0.0, 0.3, 0.0]), kp=kp, kd=kd, torque_limit=torque_limit
        )
        links.append(link(f"link{index}", index - 1, joint, capsule_y(0.04, 0.0, 0.3), 1.0))
    return body(links)


# kp, torque limit; kd = kp / 10. The humanoid of DeepMimic.
_GAINS = {
    "chest": (1000, 200), "head": (100, 50), "thigh": (500, 200), "shin": (500, 150), "foot": (400, 90),
    "upper_arm": (400, 100), "forearm": (300, 60),
}  # fmt: skip
_SOLIDS = {
    "pelvis": (sphere(0.09, (0.0, 0.07, 0.0)), 6.0),
    "chest": (sphere(0.11, (0.0, 0.12, 0.0)), 14.0),
    "head": (sphere(0.1025, (0.0, 0.175, 0.0)), 2.0),
    "thigh": (capsule_y(0.055, 0.06, 0.36), 4.5),
    "shin": (capsule_y(0.05, 0.045, 0.355), 3.0),
    "foot": (box((0.045, 0.0885, 0.0275), (0.0, 0.045, -0.0225)), 1.0),
    "upper_arm": (capsule_y(0.045, 0.05, 0.23), 1.5),
    "forearm": (capsule_y(0.04, 0.0525, 0.2189), 1.5),
}
_HINGES = {"shin": (-0.1, 2.8), "forearm": (-0.1, 2.8)}


def humanoid() -> BodyModel:
    """The stock clips' skeleton as a body: 13 links, 34 degrees of freedom, 45 kg, standing at rest on z = 0.

    Every joint reads zero in the rest pose; the rest pose is ``rest_pose``.
    """
    skeleton = stock.stock_skeleton()
    links = []
    for index, name in enumerate(skeleton.names):
        role, _, side = name.partition(".")
        shape, mass = _SOLIDS[role]
        parent = int(skeleton.parents[index])
        joint = FREE
        if parent >= 0:
            kp, limit = _GAINS[role]
            joint = Joint(
                "hinge" if role in _HINGES else "ball", skeleton.rest_pos[index], skeleton.rest_quat_wxyz[index],
                kp=kp, kd=kp / 10.0, torque_limit=limit,
            )  # fmt: skip
            if role in _HINGES:
                joint = replace(joint, lower=_HINGES[role][0], upper=_HINGES[role][1])
        links.append(link(name, parent, joint, shape, mass, role, side))
    return BodyModel(skeleton, tuple(links))


def rest_pose(model: BodyModel, pos: Sequence[float] | None = None) -> np.ndarray:
    """(nq,) every joint at zero, the root at ``pos`` or where the skeleton has it at rest, turned as at rest."""
    qpos = np.zeros(model.nq)
    qpos[:3] = model.skeleton.rest_pos[0] if pos is None else pos
    qpos[3:7] = model.skeleton.rest_quat_wxyz[0]
    for part, start in zip(model.links[1:], model.qpos_starts[1:], strict=False):
        if part.joint.kind == "ball":
            qpos[start] = 1.0
    return qpos
