# SPDX-License-Identifier: GPL-3.0-or-later
"""How far joints go: what people reach, widened to contain the clip.

Ranges after the American Academy of Orthopaedic Surgeons (1965), Joint Motion: Method of Measuring and Recording:
hip flexion 120, extension 30, abduction 45, rotation 45; knee flexion 135 (150 when sat upon); ankle flexion 20 up and
50 down, inversion 35; great toe 70 up and 45 down; shoulder flexion and abduction 180, extension 60; elbow flexion
150; wrist 80 and 70; neck 45 each way and rotation 60; thoracolumbar spine flexion 80, extension 25, bending 35.
"""

import numpy as np

from ..geometry.quaternions import Array

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


def hinge_range(role: str, angles: Array | None) -> tuple[float, float]:
    """Radians, lower and upper; angles: (T,) those of the clip, which lie inside with a margin."""
    low, high = (float(np.radians(value)) for value in _HINGES[role])
    if angles is not None:
        low, high = min(low, float(angles.min()) - MARGIN), max(high, float(angles.max()) + MARGIN)
    return low, high


def ball_range(role: str, angles: Array | None, spine_joints: int) -> float:
    """Radians from zero in any direction; angles: (T,) those of the clip, which lie inside with a margin."""
    share = max(_SPINE / max(spine_joints, 1), _ONE_SPINE_JOINT)
    reach = float(np.radians(_BALLS.get(role, share)))
    if angles is not None:
        reach = max(reach, float(angles.max()) + MARGIN)
    return min(reach, np.pi)
