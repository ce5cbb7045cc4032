# SPDX-License-Identifier: GPL-3.0-or-later
"""Servo stiffness, damping and torque limits, which grow with what a joint has to carry.

A joint's load is carried mass times lever, in kg·m. A leg's joint carries everything that is not below it, on a lever
as long as the thigh, the shin, or the foot to its tip; any other joint carries what hangs on it, at its distance along
the links. Each of four legs carries more than the whole body: a gallop lands on one of them, with its joints bent. A
preset gives stiffness, damping and limit for each role at a reference load, and all three are scaled by load over
reference load.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..geometry.quaternions import rotate
from .model import Joint, Link, Shape
from .presets import GainPreset

LEG = ("thigh", "shin", "foot", "toe")
"""Roles of the joints that carry everything above them."""
# How many times as much one of four legs is made for as one of two. Tried on a zebra: slow walks are nearer to their
# source than with 1, and of gallops some are kept that were lost, not all.
CROUCHED = 1.7
_FORE_LEG = {"upper_arm": "thigh", "forearm": "shin", "hand": "foot"}


@dataclass(frozen=True)
class Servo:
    """kp: N·m/rad, kd: N·m·s/rad, torque_limit: N·m, load: kg·m that they are for."""

    kp: float
    kd: float
    torque_limit: float
    load: float


def scale_servos(links: Sequence[Link], preset: GainPreset, four_legged: bool) -> list[Servo]:
    """The servo of every link's joint (the root's is all zero)."""
    loads = _joint_loads(links, four_legged)
    found = [Servo(0.0, 0.0, 0.0, 0.0)]
    for link, load in zip(links[1:], loads[1:], strict=True):
        found.append(scale_servo(preset, leg_role(link.role, four_legged), load))
    return found


def scale_servo(preset: GainPreset, role: str, load: float) -> Servo:
    """The servo of a joint with that role that carries ``load`` kg·m."""
    gain = preset.joints[role]
    scale = load / gain.load
    return Servo(gain.kp * scale, gain.kd * scale, gain.torque_limit * scale, load)


def _joint_loads(links: Sequence[Link], four_legged: bool) -> list[float]:
    """kg·m that each link's joint carries; the root's is zero."""
    mass = [link.mass for link in links]
    moment = [link.mass * float(np.linalg.norm(link.com)) for link in links]  # kg·m about the link's own joint
    for index in range(len(links) - 1, 0, -1):
        parent = links[index].parent
        mass[parent] += mass[index]
        moment[parent] += moment[index] + mass[index] * float(np.linalg.norm(links[index].joint.pos))
    loads = [0.0]
    for index, link in enumerate(links[1:], start=1):
        if leg_role(link.role, four_legged) in LEG:
            carried = (mass[0] - mass[index]) * (CROUCHED if four_legged else 1.0)
            loads.append(carried * _lever(links, index))
        else:
            loads.append(moment[index])
    return loads


def _lever(links: Sequence[Link], index: int) -> float:
    """Metres from a leg's joint to the next one down, or to the tip of the foot."""
    below = next((i for i in range(index + 1, len(links)) if links[i].parent == index), -1)
    if below < 0:
        return max(shape_reach(shape) for shape in links[index].shapes)
    next_joint = float(np.linalg.norm(links[below].joint.pos))
    return next_joint + _lever(links, below) if links[below].role == "toe" else next_joint


def shape_reach(shape: Shape) -> float:
    """Metres from the link's origin to the far end of a shape, along the shape's longest axis."""
    longest = int(np.argmax(shape.size)) if shape.kind == "box" else 2
    axis = rotate(shape.quat_wxyz, np.eye(3)[longest])
    half = float(shape.size.max()) if shape.kind == "box" else float(shape.size[0] + shape.size[1])
    return abs(float(axis @ shape.pos)) + half


def with_servo(joint: Joint, servo: Servo) -> Joint:
    """The joint held by the servo."""
    return Joint(
        joint.kind,
        joint.pos,
        joint.zero_quat_wxyz,
        joint.axis,
        joint.lower,
        joint.upper,
        joint.max_angle,
        servo.kp,
        servo.kd,
        servo.torque_limit,
    )


def leg_role(role: str, four_legged: bool) -> str:
    """The role whose gains a joint has: front legs have those of hind legs."""
    return _FORE_LEG.get(role, role) if four_legged else role
