# SPDX-License-Identifier: GPL-3.0-or-later
"""How far joints go: what people reach, widened to contain the clip.

Ranges after the American Academy of Orthopaedic Surgeons (1965), Joint Motion: Method of Measuring and Recording:
hip flexion 120, extension 30, abduction 45, rotation 45; knee flexion 135 (150 when sat upon); ankle flexion 20 up and
50 down, inversion 35; great toe 70 up and 45 down; shoulder flexion and abduction 180, extension 60; elbow flexion
150; wrist 80 and 70; neck 45 each way and rotation 60; thoracolumbar spine flexion 80, extension 25, bending 35.
"""

from dataclasses import replace

import numpy as np

from ..geometry.quaternions import Array, to_rotation_vector
from .model import BodyModel

MARGIN = np.radians(10.0)

# Degrees of flexion from straight (knee, elbow) or from flat (toe).
_HINGES = {"shin": (-10.0, 150.0), "forearm": (-10.0, 150.0), "toe": (-45.0, 70.0)}

# Degrees in any direction from the joint's zero, which for hip and shoulder is the middle of their range: the thigh
# 45 degrees to the front, the upper arm raised 70 degrees half way between front and side.
_BALLS = {
    "thigh": 90.0,
    "foot": 55.0,
    "upper_arm": 120.0,
    "hand": 80.0,
    "head": 70.0,
    "neck": 50.0,
    "clavicle": 40.0,
    "tail": 60.0,
    "shin": 150.0,
    "forearm": 150.0,
    "toe": 70.0,
}
_SPINE = 80.0  # shared by the joints of the spine
_ONE_SPINE_JOINT = 30.0  # but none has less


def hinge_range(role: str) -> tuple[float, float]:
    """Radians, lower and upper, that people reach."""
    low, high = _HINGES[role]
    return float(np.radians(low)), float(np.radians(high))


def ball_range(role: str, spine_joints: int) -> float:
    """Radians from zero in any direction that people reach, with so many joints to share the spine's range."""
    return float(np.radians(_BALLS.get(role, max(_SPINE / max(spine_joints, 1), _ONE_SPINE_JOINT))))


def widen_limits(body: BodyModel, qpos: Array, margin: float = MARGIN) -> BodyModel:
    """The body with joint limits that contain the poses (T, nq) with a margin in radians."""
    links = [body.links[0]]
    for index, link in enumerate(body.links[1:], start=1):
        own = qpos[:, body.qpos_starts[index] : body.qpos_starts[index + 1]]
        joint = link.joint
        if joint.kind == "hinge":
            low, high = min(joint.lower, float(own.min()) - margin), max(joint.upper, float(own.max()) + margin)
            joint = replace(joint, lower=low, upper=high)
        else:
            angle = float(np.linalg.norm(to_rotation_vector(own), axis=-1).max())
            joint = replace(joint, max_angle=min(max(joint.max_angle, angle + margin), np.pi))
        links.append(replace(link, joint=joint))
    return replace(body, links=tuple(links))
